"""Small acts that the tests of the log are told in: somebody did something, somebody tampered with it."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.db import connection

from review.audit import chain
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


def cut_to(size: int, *, checkpoints_too: bool = True) -> None:
    """Take the end off the log and make the rest whole, as a restore of an older copy does."""
    last = Entry.objects.get(seq=size - 1)
    frontier = chain.Frontier()
    for leaf in Entry.objects.filter(seq__lt=size).order_by("seq").values_list("leaf", flat=True):
        frontier = frontier.append(bytes.fromhex(leaf)).frontier
    if checkpoints_too:
        tamper("DELETE FROM audit_checkpoint WHERE size > %s", size)
    tamper("DELETE FROM audit_private_text WHERE seq >= %s", size)
    tamper("DELETE FROM audit_entry WHERE seq >= %s", size)
    tamper(
        "UPDATE audit_head SET size = %s, leaf = %s, frontier = %s, time = %s",
        *(size, last.leaf, frontier.text(), last.stamp),
    )


def rewrite_from(seq: int) -> None:
    """Replace entry `seq` and make everything after it fit, head row included: all but what is signed."""
    entries = list(Entry.objects.order_by("seq"))
    frontier, prev = chain.Frontier(), chain.GENESIS
    with guards_down():
        for entry in entries:
            members = {**json.loads(entry.canonical), "prev": prev}
            if entry.seq == seq:
                members["app_version"] = "6.6.6"
            text = chain.entry_text(members)
            growth = frontier.append(chain.leaf_of(text))
            sql(
                "UPDATE audit_entry SET canonical = %s, prev = %s, leaf = %s, subtrees = %s WHERE seq = %s",
                text,
                prev,
                chain.leaf_of(text).hex(),
                "".join(node.hex() for node in growth.completed),
                entry.seq,
            )
            frontier, prev = growth.frontier, chain.leaf_of(text).hex()
        sql("UPDATE audit_head SET leaf = %s, frontier = %s", prev, frontier.text())
