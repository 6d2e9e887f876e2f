"""A new revision: it passes the gate again, outdates every vote, and moves expiry by policy only (I5)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.problems import Refusal
from review.access.actors import AgentActor
from review.audit.actions import Action
from review.domain import status
from review.domain.gate import Outcome
from review.domain.status import Status
from review.domain.summary import summarise
from review.effects import told
from review.models import Proposal
from review.queries.cases import submitted_by
from review.services import take_effect
from review.services.expire import meet
from review.services.propose import require_deciders
from review.services.refuse import record_refused
from review.services.revisions import Words, bind, digest_of, ends, lay
from review.services.settle import settle
from review.services.transitions import agent_at_work, hold, lock, move, record
from review.services.weigh import Weighed, weigh


def revise(
    proposal_id: UUID, *, by: AgentActor, replaces: int, arguments: Mapping[str, Any], rationale: str = ""
) -> Proposal:
    """Return the proposal with a new current revision in place of number `replaces`.

    Raises: NotFound, AlreadyDecided, Expired, StaleRevision, AgentStopped, and the gate's as for a proposal.
    """
    now = timezone.now()
    text = canonical(dict(arguments))

    def refused(refusal: Refusal) -> None:
        proposal = (
            Proposal.objects.select_related("workspace", "agent")
            .filter(pk=proposal_id, agent=by.agent)
            .first()
        )
        if proposal is not None:
            meet(proposal, now)
            record_refused(refusal, tool=proposal.tool, text=text, by=by, proposal=proposal.id)

    return settle(
        lambda: _revise(proposal_id, by, replaces, arguments, text, rationale, now), refused=refused
    )


def _revise(
    proposal_id: UUID,
    by: AgentActor,
    replaces: int,
    arguments: Mapping[str, Any],
    text: str,
    rationale: str,
    now: datetime,
) -> Proposal:
    hold(by.agent.id)
    proposal = lock(proposal_id, agent_id=by.agent.id)
    status.revise(
        proposal.status,
        revision=proposal.revision,
        replaces=replaces,
        expires_at=proposal.expires_at,
        now=now,
    )
    agent = agent_at_work(by.agent.id, now)
    weighed = weigh(proposal.tool, arguments, agent=agent, now=now, proposal=proposal.id)
    before = proposal.status
    _advance(proposal, arguments, text, rationale, weighed, by, now)
    record(
        proposal,
        Action.PROPOSAL_REVISED,
        by,
        before=before,
        after={"arguments": digest_of(text), "gate": str(weighed.outcome)},
        policy=weighed.rule.digest,
        private={"rationale": rationale} if rationale else None,
    )
    take_effect.after_gate(proposal, arguments, weighed, by, now)
    return proposal


def _advance(
    proposal: Proposal,
    arguments: Mapping[str, Any],
    text: str,
    rationale: str,
    weighed: Weighed,
    by: AgentActor,
    now: datetime,
) -> None:
    """Put the new revision in place with one conditional statement, then lay it down."""
    expires_at = ends(proposal, weighed, now)
    binding = bind(proposal, proposal.revision + 1, text, weighed, expires_at)
    proposal.submitted_at = now
    conflicts = submitted_by(proposal, by.token, now)
    if weighed.outcome is not Outcome.ALLOW:
        require_deciders(proposal, weighed, conflicts, now)
    words = Words(rationale, proposal.revisions.get(number=proposal.revision).evidence)
    move(
        proposal,
        Status.QUARANTINED if weighed.held else Status.PENDING,
        revision=binding.revision,
        binding=binding.digest(),
        summary=summarise(proposal.tool, told(proposal.tool, arguments)),
        risk=str(weighed.rule.risk),
        risk_rank=weighed.deciding.risk.rank,
        approvals_required=weighed.deciding.people,
        approvals_given=0,
        submitted_at=now,
        expires_at=expires_at,
        reason=None,
        fields=[],
    )
    lay(proposal, binding, weighed, words=words, conflicts=conflicts, token=by.token, now=now)
