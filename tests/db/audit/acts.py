"""Small acts that the tests of the log are told in: somebody did something, somebody tampered with it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import connection

from review.audit.actions import Action
from review.audit.actors import AuditActor
from review.audit.log import record
from review.audit.models import Entry
from review.audit.transaction import write
from tests.support.tampering import guards_down

ACME = UUID("0190a1b2-0000-7000-8000-000000000001")
GLOBEX = UUID("0190a1b2-0000-7000-8000-000000000002")
ALICE = AuditActor(
    kind="person",
    person=UUID("0190a1b2-0000-7000-8000-0000000000c1"),
    account="alice",
    issuer="local",
    subject="1",
    session="s-alice",
    methods=("pwd",),
)
MALLORY = AuditActor(
    kind="person", person=UUID("0190a1b2-0000-7000-8000-0000000000c9"), account="mallory", session="s-mallory"
)
SCOUT = AuditActor(kind="agent", account="scout", subject="0190a1b2-0000-7000-8000-0000000000b1")
MAIL = UUID("0190a1b2-0000-7000-8000-0000000000aa")


def did(action: Action = Action.PROPOSAL_PROPOSED, **members: Any) -> Entry:
    """Let alice do `action` in acme, in a transaction of its own."""
    with write():
        return record(action, **{"actor": ALICE, "workspace": ACME, **members})


def did_several(count: int) -> None:
    """Let alice do a few things, each its own commit."""
    for _ in range(count):
        did()


def sql(statement: str, *values: Any) -> None:
    """Run a statement as somebody with a shell on the database would."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def tamper(statement: str, *values: Any) -> None:
    """Run a statement that the guards would refuse."""
    with guards_down():
        sql(statement, *values)
