"""Nothing is written without its entry: a look at every statement that the product sends, in whatever test.

What a test writes by its own hand is its own affair; a statement counts as the product's where the nearest frame of
this repository is. Each table that may be written without an entry is named here, with why.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from review.audit import transaction
from tests.support.tracked import ROOT

CHANGES = re.compile(
    r'\s*(?:INSERT (?:OR \w+ )?INTO|REPLACE INTO|UPDATE|DELETE FROM)\s+"?(\w+)', re.IGNORECASE
)

_INDEX = "an index over memories: it is computed from them"
#: Written without an entry of its own, and why that is right.
UNRECORDED = {
    "access_requestcount": "a count of requests",
    "access_setuplink": "a link changes nothing until it is used, and that is recorded",
    "access_resetrequest": "somebody says that he forgot a password: nothing has changed yet",
    "auth_permission": "Django's own list, made by migrate: nobody here is permitted anything by it",
    "audit_checkpoint": "it signs the entries",
    "audit_entry": "it is the entry",
    "audit_head": "it counts the entries",
    "audit_private_text": "it is the entry's",
    "django_content_type": "Django's own list of tables, made by migrate",
    "django_session": "who is signed in; signing in and out are recorded",
    "huqan_cache": "counters and what can be computed again",
    "memory_fts": _INDEX,
    "memory_indexed": _INDEX,
    "memory_recallepoch": _INDEX,
    "memory_recallterm": _INDEX,
    "review_claim": "who is looking at what just now; it decides nothing and ends by itself",
    "review_comment": "what people say to each other: it decides nothing, and no listed action is true of it",
    "review_look": "when somebody first saw a revision",
    "review_savedview": "an address that somebody named for himself",
    "webhooks_message": "what is sent is recorded where it comes from",
    "webhooks_told": "who was told of what, so that he is not told again",
    "webhooks_wish": "how somebody wants to be told: it changes nothing that is proved",
}
#: Which of these PostgreSQL does without.
ONLY_ON_SQLITE = {"memory_fts", "memory_indexed"}
#: The same for some statements on tables that are watched.
UNRECORDED_STATEMENTS = {
    'UPDATE "access_user" SET "last_login"': "the sign-in is recorded",
    'UPDATE "access_user" SET "language"': "how somebody's own pages are: nothing may be done or is proved by it",
    'UPDATE "access_user" SET "keys"': "likewise",
    'UPDATE "memory_memoryrecord" SET "tokens"': "the words of a text, as they are computed again",
    'UPDATE "mfa_authenticator"': "a code was used, for something that is recorded",
}
_THROUGH = ("review/audit/statements.py", "models.py", "querysets.py")  # say how, not who


class Watcher:
    """What the product wrote and did not record, in words."""

    def __init__(self) -> None:
        self.unrecorded: list[str] = []

    def look(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Note a change that the product makes, then let it be made."""
        found = None if sql.startswith(tuple(UNRECORDED_STATEMENTS)) else CHANGES.match(sql)
        if found and found[1] not in UNRECORDED and (who := _product_frame(sys._getframe(1))):
            self._note(found[1], who)
        return execute(sql, params, many, context)

    def _note(self, table: str, who: str) -> None:
        here = transaction.current()
        if here is None:
            self.unrecorded.append(f"{who} writes {table} outside write()")
        else:
            here.__dict__.setdefault("touched", []).append(f"{who} writes {table}")

    def end(self, here: transaction.Write) -> None:
        """Hold what a write() changed against whether it recorded anything."""
        if not here.grew:
            self.unrecorded += [f"{touched} without an entry" for touched in here.__dict__.get("touched", ())]


def _product_frame(frame: FrameType | None) -> str | None:
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(str(ROOT)) and "/.venv/" not in name and not name.endswith(_THROUGH):
            here = name.removeprefix(f"{ROOT}/")
            return None if here.startswith("tests/") or "/migrations/" in here else f"{here}:{frame.f_lineno}"
        frame = frame.f_back
    return None


@contextmanager
def watching() -> Iterator[Watcher]:
    """Watch every connection for the block."""
    watcher = Watcher()
    sign = transaction._sign

    def signed(here: transaction.Write) -> bool:
        watcher.end(here)
        return sign(here)

    def attach(connection: BaseDatabaseWrapper, **_: Any) -> None:
        if watcher.look not in connection.execute_wrappers:
            connection.execute_wrappers.append(watcher.look)

    connection_created.connect(attach)
    for connection in connections.all():
        attach(connection)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(transaction, "_sign", signed)
            yield watcher
    finally:
        connection_created.disconnect(attach)
        for connection in connections.all():
            connection.execute_wrappers[:] = [
                one for one in connection.execute_wrappers if one != watcher.look
            ]
