"""Whoever proposed it takes it back, while it is open: the agent, or the person who started it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.access.actors import Actor, AgentActor, PersonActor
from review.access.models import Agent
from review.audit import log
from review.audit.actions import Action
from review.domain import status
from review.domain.refusals import NotEligible
from review.domain.status import OPEN, Status
from review.effects import effect_of
from review.models import Proposal
from review.queries.visible import must_be_visible, started_by
from review.services.expire import meet
from review.services.settle import settle
from review.services.transitions import lock, move, record
from review.services.void_permits import unspent, void
from review.services.weigh import RELEASE

STAYS_HELD = (
    "You put this into quarantine, and one person does not let it out. Others release it; you can discard it."
)
NOT_YOURS = "Only whoever proposed this takes it back. You can reject it where your role lets you decide."


def withdraw(proposal_id: UUID, *, by: AgentActor, reason: str = "") -> Proposal:
    """Return the proposal, withdrawn; what was held for it is discarded without a tombstone.

    Raises: NotFound, AlreadyDecided, Expired.
    """
    now = timezone.now()

    def refused(refusal: Refusal) -> None:
        for proposal in Proposal.objects.select_related("workspace", "agent").filter(
            pk=proposal_id, agent=by.agent
        ):
            meet(proposal, now)

    return settle(lambda: _withdraw(proposal_id, by, reason, now), refused=refused)


def withdraw_own(proposal_id: UUID, *, by: PersonActor, reason: str = "") -> Proposal:
    """Return the proposal that `by` started himself, withdrawn.

    Raises: NotFound, NotEligible for what somebody else started and for what he put into quarantine,
    AlreadyDecided, Expired.
    """
    now = timezone.now()

    def refused(refusal: Refusal) -> None:
        for proposal in Proposal.objects.select_related("workspace", "agent").filter(pk=proposal_id):
            meet(proposal, now)

    return settle(lambda: _withdraw_own(proposal_id, by, reason), refused=refused)


def _withdraw_own(proposal_id: UUID, by: PersonActor, reason: str) -> Proposal:
    proposal = lock(proposal_id)
    now = log.take_turn()  # a role that is lost is so before this or after it
    must_be_visible(proposal, by.person.id, now)
    if not started_by(proposal, by.person.id):
        raise NotEligible(NOT_YOURS)
    if proposal.tool == RELEASE and proposal.status == Status.QUARANTINED:
        raise NotEligible(STAYS_HELD)
    return _take_back(proposal, by, reason, now)


def withdraw_open(agent: Agent, by: Actor, now: datetime) -> None:
    """Within the transaction that stops `agent`: take back everything of it that is open or not spent.

    All rows are locked before the first is recorded, since the log's head is locked last (I21).
    """
    open_ones = Proposal.objects.filter(agent=agent, status__in=OPEN).order_by("pk")
    proposals = [lock(proposal_id) for proposal_id in open_ones.values_list("pk", flat=True)]
    its_own = Q(proposal__agent=agent) | Q(redeemed_by=agent)
    void(unspent(now, its_own), by, now)
    for proposal in proposals:
        meet(proposal, now)
        if proposal.status in OPEN:
            _take_back(proposal, by, "Its agent was stopped.", now)


def _withdraw(proposal_id: UUID, by: AgentActor, reason: str, now: datetime) -> Proposal:
    return _take_back(lock(proposal_id, agent_id=by.agent.id), by, reason, now)


def _take_back(proposal: Proposal, by: Actor, reason: str, now: datetime) -> Proposal:
    before = proposal.status
    withdrawn = status.withdraw(before, expires_at=proposal.expires_at, now=now)
    move(proposal, withdrawn, reason=reason or None, decided_at=now)
    effect = effect_of(proposal.tool)
    if effect is not None and before == Status.QUARANTINED:
        effect.let_go(proposal, by)
    private = {"reason": reason} if reason else None
    record(proposal, Action.PROPOSAL_WITHDRAWN, by, before=before, private=private)
    return proposal
