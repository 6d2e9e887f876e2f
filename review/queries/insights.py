"""The figures of `/insights/`: what waits, and what the decisions and the log of a period add up to.

Each asks once, and of a long period for the newest LOOKED_AT rows only, which the page then says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case, CharField, Count, OuterRef, Subquery, Value, When

from review.access.models import Agent, Person
from review.audit import tallies
from review.audit.actions import Action
from review.audit.tallies import Range
from review.domain.decision import Verdict
from review.domain.insights import AGES, Asked, Period, Vote
from review.domain.status import Status
from review.models import Decision, Look, Proposal, Revision
from review.queries.identity import identities

LOOKED_AT = 10_000
WAITING = (Status.PENDING, Status.QUARANTINED)
REFUSED = (Action.PROPOSAL_REFUSED, Action.DECISION_REFUSED, Action.PERMIT_REFUSED)
SUBMITTED = (Action.PROPOSAL_PROPOSED, Action.PROPOSAL_REVISED, Action.PROPOSAL_REFUSED)


class Part(NamedTuple):
    """What the figures are of: workspaces that the reader manages, and one tool where it is named."""

    workspaces: Sequence[UUID]
    tool: str = ""


class Expired(NamedTuple):
    """A proposal that nobody decided in time: of which tool, and when that was noted."""

    tool: str
    at: datetime


def open_now(of: Part, now: datetime) -> Mapping[tuple[str, str], int]:
    """Return how many proposals wait for people, by age and risk."""
    older_first = sorted(AGES.items(), key=lambda age: -age[1])
    age = Case(
        *(When(submitted_at__lte=now - least, then=Value(name.value)) for name, least in older_first),
        default=Value(older_first[-1][0].value),
        output_field=CharField(),
    )
    rows = Proposal.objects.within(list(of.workspaces)).filter(status__in=WAITING).live(now)
    if of.tool:
        rows = rows.filter(tool=of.tool)
    counted = rows.order_by().annotate(age=age).values_list("age", "risk").annotate(Count("pk"))
    return {(found_age, risk): number for found_age, risk, number in counted}


def names_of(workspaces: Sequence[UUID]) -> dict[UUID, str]:
    """Return the name of everyone who ever had a role in `workspaces`."""
    return dict(Person.objects.filter(memberships__workspace__in=workspaces).values_list("id", "name"))


def votes(of: Part, period: Period, people: Sequence[UUID]) -> list[Vote]:
    """Return what `people` decided in `period`, the newest first. Two accounts of one person are one."""
    of_proposal = {"proposal": OuterRef("proposal")}
    sent = Revision.objects.filter(**of_proposal, number=OuterRef("revision")).values("created_at")
    seen = Look.objects.filter(**of_proposal, revision=OuterRef("revision"), person=OuterRef("person"))
    rows = Decision.objects.filter(
        **({"proposal__tool": of.tool} if of.tool else {}),
        person__in=people,
        proposal__workspace__in=of.workspaces,
        created_at__gte=period.since,
        created_at__lt=period.until,
    ).annotate(sent_at=Subquery(sent[:1]), seen_at=Subquery(seen.values("at")[:1]))
    newest = rows.order_by("-created_at").values_list("person", "verdict", "sent_at", "seen_at", "created_at")
    known = identities()
    return [
        Vote(known.one(person), Verdict(verdict), sent_at or at, seen_at, at)
        for person, verdict, sent_at, seen_at, at in newest[:LOOKED_AT]
    ]


def refusals(of: Part, within: Range) -> Counter[str]:
    """Return how often each code was answered to an agent, a person or an executor."""
    rows = _newest(of, REFUSED, within, "canonical")
    return Counter(tallies.code_of(text) for (text,) in rows)


def expiries(of: Part, within: Range) -> list[Expired]:
    """Return what expired, the newest first."""
    rows = _newest(of, [Action.PROPOSAL_EXPIRED], within, "tool", "stamp")
    return [Expired(tool or "", datetime.fromisoformat(stamp)) for tool, stamp in rows]


def agents_of(workspaces: Sequence[UUID]) -> dict[UUID, str]:
    """Return the agents of `workspaces` and their names, by name."""
    rows = Agent.objects.filter(workspace__in=workspaces).order_by("name", "id")
    return dict(rows.values_list("id", "name"))


def asked(of: Part, within: Range, agents: Iterable[UUID]) -> list[Asked]:
    """Return what each of `agents` submitted, and how much of it was refused or rejected."""
    own = _newest(of, SUBMITTED, within, "agent", "action", "person")
    submitted = Counter((agent, action) for agent, action, person in own if agent and person is None)
    ended = _newest(of, [Action.PROPOSAL_REJECTED], within, "agent")
    rejected = Counter(agent for (agent,) in ended)
    return [_asked(agent, submitted, rejected) for agent in agents]


def _newest(of: Part, actions: Sequence[Action], within: Range, *fields: str) -> list[tuple[Any, ...]]:
    return tallies.newest(of.workspaces, actions, within, *fields, limit=LOOKED_AT, tool=of.tool)


def _asked(agent: UUID, submitted: Counter[tuple[str, str]], rejected: Counter[str | None]) -> Asked:
    name = str(agent)
    refused = submitted[name, Action.PROPOSAL_REFUSED.value]
    return Asked(agent, sum(submitted[name, action.value] for action in SUBMITTED), refused, rejected[name])
