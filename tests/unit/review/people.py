"""The people of every story here, and a proposal of scout's for them to decide.

alice and carol review, bob reviews too and owns scout, dana and erin manage, mallory is of another workspace.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from review.domain import decision
from review.domain.binding import Kind
from review.domain.decision import Case, Ruling, Vote
from review.domain.independence import Electorate, Membership, Reason, Role
from review.domain.policy import Risk, Route, Rule
from review.domain.status import Status

ALICE, BOB, CAROL, DANA, ERIN, MALLORY = (UUID(int=number) for number in range(1, 7))
NAMES = {ALICE: "alice", BOB: "bob", CAROL: "carol", DANA: "dana", ERIN: "erin"}

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
LONG_AGO = NOON - timedelta(days=90)
SUBMITTED = NOON - timedelta(hours=1)
SHOWN, CHANGED = "a" * 64, "b" * 64

RULE = Rule(Route.REVIEW, Risk.LOW, approvals=1, ttl_seconds=604_800)


def member(person: UUID, role: Role = Role.REVIEWER, **changes: Any) -> Membership:
    return replace(Membership(person, role, since=LONG_AGO), **changes)


ACME = (
    member(ALICE),
    member(BOB),
    member(CAROL),
    member(DANA, Role.MANAGER),
    member(ERIN, Role.MANAGER),
)


def electorate(*, members: tuple[Membership, ...] = ACME, **changes: Any) -> Electorate:
    scouts = Electorate(Kind.MEMORY_WRITE, "scout", SUBMITTED, {BOB: Reason.OWNER_NOW}, members)
    return replace(scouts, **changes)


def case(*, rule: Rule = RULE, votes: tuple[Vote, ...] = (), **changes: Any) -> Case:
    """scout's pending memory write; a change names a field of the case or of its electorate."""
    people = {
        name: changes.pop(name)
        for name in ("kind", "agent", "submitted_at", "conflicts", "members")
        if name in changes
    }
    pending = Case(
        status=Status.PENDING,
        revision=1,
        binding=SHOWN,
        recomputed=SHOWN,
        policy_bound=RULE.digest,
        policy_now=RULE.digest,
        expires_at=NOON + timedelta(hours=1),
        rule=rule,
        arguments={"content": "The staging port is 7443."},
        electorate=electorate(**people),
        votes=votes,
    )
    return replace(pending, **changes)


def approval(person: UUID, binding: str = SHOWN) -> Vote:
    return Vote(person, binding, "approve")


def decide(subject: Case, person: UUID, verdict: str = "approve", **changes: Any) -> Ruling:
    """`person` decides on what the page shows him now, with nothing typed that is not asked for."""
    form: dict[str, Any] = {
        "binding": subject.binding,
        "revision": subject.revision,
        "reason": "" if verdict == "approve" else "The source is not named.",
        "confirm": "",
        "factor_at": None,
        "now": NOON,
    }
    return decision.decide(subject, approver=person, verdict=verdict, **(form | changes))
