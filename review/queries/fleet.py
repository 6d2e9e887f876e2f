"""What managers see of agents beyond their set-up: what they have open, and whether people can decide it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count

from review.access.roster import AgentRow
from review.domain.binding import Kind
from review.domain.decision import refuse_unsatisfiable
from review.domain.independence import Electorate, conflict_set
from review.domain.policy import Route, Rule
from review.domain.refusals import Unsatisfiable
from review.domain.status import OPEN
from review.models import Proposal, ProposalQuerySet
from review.queries.cases import electorate_with
from review.queries.policies import in_force, resolved

SHOWN = 10
_ANY_OTHER = "any.other-tool"  # a name that a rule for one tool does not have


class Deciders(NamedTuple):
    """How many people could approve what an agent proposes, and the tools for which that is too few."""

    people: int
    short: list[tuple[str, int]]


def open_counts(agents: Iterable[UUID], now: datetime) -> dict[UUID, int]:
    """Return how many proposals of each of `agents` are open; those with none are missing."""
    counted = _open(now).filter(agent__in=list(agents)).values("agent").annotate(number=Count("pk"))
    return dict(counted.values_list("agent", "number"))


def open_of(agent: UUID, now: datetime) -> list[Proposal]:
    """Return the newest open proposals of `agent`."""
    return list(_open(now).filter(agent=agent).order_by("-id")[:SHOWN])


def deciders(row: AgentRow, now: datetime) -> Deciders:
    """Return who is left to approve once its owners, and whoever minted a token that is good, do not count.

    It is the rule of a submission, asked before there is one: a tool that is short of people is refused then.
    """
    electorate = _electorate(row, now)
    short = [
        (words, rule.people)
        for words, rule in _reviewed(row.agent.workspace_id)
        if _lacks(rule, electorate, now)
    ]
    return Deciders(len(electorate.eligible(now)), short)


def _open(now: datetime) -> ProposalQuerySet:
    return Proposal.objects.filter(status__in=OPEN).live(now)


def _electorate(row: AgentRow, now: datetime) -> Electorate:
    agent = row.agent
    submitted = Proposal(
        workspace_id=agent.workspace_id, agent=agent, kind=str(Kind.TOOL_CALL), submitted_at=now
    )
    conflicts = conflict_set(
        owners_now={owner.id for owner in row.owners},
        minters={token.token.minted_by_id for token in row.active},
    )
    return electorate_with(submitted, conflicts)


def _reviewed(workspace: UUID) -> Iterator[tuple[str, Rule]]:
    """Yield what people review by the policy in force: each rule by its tools, and "" for all else."""
    for own in in_force(workspace).document.get("rules", []):
        yield own["tool"], resolved(workspace, own["tool"].replace("*", "any"))
    yield "", resolved(workspace, _ANY_OTHER)


def _lacks(rule: Rule, electorate: Electorate, now: datetime) -> bool:
    if rule.route is not Route.REVIEW:
        return False
    try:
        refuse_unsatisfiable(rule, electorate, now)
    except Unsatisfiable:
        return True
    return False
