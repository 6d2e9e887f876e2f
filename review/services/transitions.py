"""Moving a proposal from one state to the next: one conditional statement, and its entry (I3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from review.access.actors import Actor, PersonActor, SystemActor
from review.access.models import Agent
from review.access.queries import has_active_owner
from review.access.refusals import AgentStopped
from review.audit import log
from review.audit.actions import Action
from review.audit.log import ObjectRef
from review.audit.statements import first, prepared
from review.domain.refusals import AlreadyDecided, NotFound
from review.domain.status import Status
from review.models import Proposal
from review.queries.cases import electorate_of
from review.queries.identity import identities
from review.webhooks.outbox import announce

CONSOLE = SystemActor()

#: What the webhooks of its agent are told when a proposal gets into a state. Nothing in it can decide anything.
ANNOUNCED: Mapping[Status, str] = {
    Status.APPROVED: "proposal.decided",
    Status.EXECUTED: "proposal.decided",
    Status.REJECTED: "proposal.decided",
    Status.CHANGES_REQUESTED: "proposal.decided",
    Status.EXPIRED: "proposal.expired",
    Status.SUCCEEDED: "proposal.outcome",
    Status.FAILED: "proposal.outcome",
    Status.UNKNOWN: "proposal.outcome",
}


def lock(proposal_id: UUID, **scope: Any) -> Proposal:
    """Return the proposal, re-read and locked until the transaction ends.

    Raises: NotFound, also when it stands outside `scope`.
    """
    proposal = first(_locked(proposal_id))
    if proposal is None or any(getattr(proposal, name) != value for name, value in scope.items()):
        raise NotFound
    return proposal


@prepared
def _locked(id: UUID) -> QuerySet[Proposal]:
    rows = Proposal.objects.select_for_update(of=("self",)).select_related("workspace", "agent")
    return rows.filter(pk=id)


def agent_at_work(agent_id: UUID) -> Agent:
    """Return the agent, re-read, if it may change anything; it is not stopped before the transaction ends.

    Raises: AgentStopped, also when nobody active answers for it.
    """
    hold(agent_id)
    return _at_work(agent_id)


def agent_alone_at_work(agent_id: UUID) -> Agent:
    """The same, where what else the agent proposes meanwhile would change the answer: it waits.

    Raises: AgentStopped.
    """
    _lock_agent(agent_id, "FOR NO KEY UPDATE")
    return _at_work(agent_id)


def _at_work(agent_id: UUID) -> Agent:
    [agent] = _agent(agent_id)
    # A moment read before the lock would find an owner whose right ended while it was waited for.
    if agent.stopped_at is not None or not has_active_owner(agent_id, timezone.now()):
        raise AgentStopped
    return agent


@prepared
def _agent(agent_id: UUID) -> QuerySet[Agent]:
    return Agent.objects.select_related("workspace").filter(pk=agent_id)


def hold(agent_id: UUID) -> None:
    """Let nobody stop the agent until the transaction ends; what else it proposes meanwhile is not kept waiting.

    Who stops it locks its row and then its proposals, so this comes before the lock on a proposal.
    """
    _lock_agent(agent_id, "FOR SHARE")


def _lock_agent(agent_id: UUID, strength: str) -> None:
    if connection.features.has_select_for_update:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT 1 FROM access_agent WHERE id = %s {strength}", [agent_id])


def must_hold_deciding_role(proposal: Proposal, by: PersonActor, now: datetime) -> None:
    """Refuse whoever could not even reject the proposal; he need not be independent of it.

    Raises: NotEligible.
    """
    electorate = electorate_of(proposal, now)
    if electorate.membership(identities().one(by.person.id), now) is None:
        raise electorate.not_eligible()


def move(proposal: Proposal, to: Status, **changes: Any) -> None:
    """Take `proposal` to the state `to`, if nobody has moved it since it was read.

    Raises: AlreadyDecided when somebody has: the loser of a race.
    """
    as_read = {"status": proposal.status, "revision": proposal.revision, "binding": proposal.binding}
    changes["status"] = to
    if not Proposal.objects.filter(pk=proposal.pk, **as_read).update(**changes):
        raise AlreadyDecided
    for name, value in changes.items():
        setattr(proposal, name, value)
    _announce(proposal, to)


def _announce(proposal: Proposal, to: Status) -> None:
    """Put it into the outbox, in the transaction of the step itself: what is undone is not told."""
    if to in ANNOUNCED and proposal.agent_id is not None:
        announce(
            proposal.agent_id,
            ANNOUNCED[to],
            {"proposal": str(proposal.id), "status": str(to), "revision": proposal.revision},
            timezone.now(),
        )


def record(
    proposal: Proposal, action: Action, actor: Actor, *, before: str | None = None, **members: Any
) -> None:
    """Append an entry about `proposal`; its state stands in `before` and `after`."""
    after: Mapping[str, Any] = {"status": str(proposal.status), **members.pop("after", {})}
    log.record(
        action,
        actor=actor.audit(),
        workspace=proposal.workspace_id,
        object=ObjectRef("proposal", str(proposal.id), proposal.revision),
        proposal=proposal.id,
        agent=proposal.agent_id,
        tool=proposal.tool,
        binding=proposal.binding,
        risk=proposal.risk,
        before={"status": before} if before else None,
        after=after,
        **members,
    )
