"""One proposal, for a person who has a role where it stands, or for the agent that made it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from review.access import queries as access
from review.access.models import Agent, Membership, Person
from review.audit.statements import first, prepared
from review.domain.binding import Kind
from review.domain.refusals import NotFound
from review.domain.status import REVISABLE, current
from review.models import Proposal
from review.queries.identity import identities


def visible(person: Person, proposal_id: UUID, now: datetime) -> Proposal:
    """Return the proposal with its workspace and agent.

    Raises: NotFound, the same for one that is not there and one in a workspace where `person` has no role.
    """
    return _one(first(among(person, [proposal_id], now)))


def among(person: Person, ids: Sequence[UUID], now: datetime) -> list[Proposal]:
    """Return those of `ids` that exist for `person`, with workspace and agent, in that order."""
    found = {row.id: row for row in _among(person.id, tuple(ids), now)}
    return [found[id_] for id_ in ids if id_ in found]


@prepared
def _among(person: UUID, ids: tuple[UUID, ...], now: datetime) -> QuerySet[Proposal]:
    roles = Membership.objects.active(now).held_by(person)
    rows = Proposal.objects.filter(workspace__in=roles.values("workspace"), pk__in=ids)
    return rows.select_related("workspace", "agent")


def must_be_visible(proposal: Proposal, person: UUID, now: datetime) -> None:
    """Raises: NotFound, where `person` has no role in the workspace of `proposal`: it does not exist for him."""
    if not access.is_member(person, proposal.workspace_id, now):
        raise NotFound


def started_by(proposal: Proposal, person: UUID) -> bool:
    """Whether `person` proposed it himself, under whatever account: one of what only people start."""
    if proposal.agent_id is not None:
        return False
    known = identities()
    return known.one(proposal.principal) == known.one(person)


def revisable_by(proposal: Proposal, person: UUID, now: datetime) -> bool:
    """Whether it is a change of the policy that `person` proposed, and can still be written otherwise."""
    open_now = current(proposal.status, proposal.expires_at, now) in REVISABLE
    return open_now and proposal.kind == Kind.POLICY_CHANGE and started_by(proposal, person)


def of_agent(agent: Agent, proposal_id: UUID) -> Proposal:
    """Return a proposal of `agent`.

    Raises: NotFound, the same for one that is not there and one of another agent.
    """
    rows = Proposal.objects.filter(agent=agent).select_related("workspace", "agent")
    return _one(rows.filter(pk=proposal_id).first())


def _one(proposal: Proposal | None) -> Proposal:
    if proposal is None:
        raise NotFound
    return proposal
