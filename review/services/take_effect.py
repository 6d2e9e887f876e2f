"""What follows once the gate or a quorum has spoken: held, carried out, or ready to be redeemed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from huqan_site.lib.problems import Refusal
from review.access.actors import Actor
from review.audit.actions import Action
from review.domain.gate import Outcome
from review.domain.status import Status
from review.effects import effect_of
from review.models import Proposal
from review.services.transitions import CONSOLE, move, record
from review.services.weigh import Weighed


def after_gate(
    proposal: Proposal, arguments: Mapping[str, Any], weighed: Weighed, by: Actor, now: datetime
) -> None:
    """Hold what is doubtful, let a low-risk call that the policy allows through; the rest waits for people."""
    if weighed.held:
        hold(proposal, arguments, weighed, by)
    elif weighed.outcome is Outcome.ALLOW:
        record(proposal, Action.PROPOSAL_AUTO_APPROVED, CONSOLE)
        approve(proposal, arguments, CONSOLE, released=False, now=now)


def hold(proposal: Proposal, arguments: Mapping[str, Any], weighed: Weighed, by: Actor) -> None:
    """Store the content out of every agent's reach. Only inner tools have anything to hold."""
    effect = effect_of(proposal.tool)
    assert effect is not None, "only an effect's own signals lead to quarantine"
    effect.hold(proposal, arguments, weighed.signals, by)
    codes = sorted({signal.code for signal in weighed.signals if signal.outcome is Outcome.QUARANTINE})
    record(proposal, Action.PROPOSAL_QUARANTINED, by, after={"reasons": codes})


def end(proposal: Proposal, refusal: Refusal, now: datetime) -> None:
    """What was open is refused by now: what votes there are stand, what is held goes, and nothing takes effect."""
    before = proposal.status
    effect = effect_of(proposal.tool)
    if effect is not None and before == Status.QUARANTINED:
        effect.let_go(proposal, CONSOLE)
    fields = [error.pointer.removeprefix("/arguments") for error in refusal.errors]
    move(proposal, Status.REJECTED, reason=f"{refusal.code}: {refusal.detail}", fields=fields, decided_at=now)
    record(proposal, Action.PROPOSAL_REJECTED, CONSOLE, before=before, after={"code": refusal.code})


def approve(
    proposal: Proposal, arguments: Mapping[str, Any], by: Actor, *, released: bool, now: datetime
) -> None:
    """Carry out an inner tool in this transaction; an outside one becomes `approved`, for one redemption."""
    before = proposal.status
    effect = effect_of(proposal.tool)
    if effect is None:
        move(proposal, Status.APPROVED, approvals_given=proposal.approvals_given, decided_at=now)
        record(proposal, Action.PROPOSAL_APPROVED, by, before=before)
        return
    outcome = effect.apply(proposal, arguments, by, released=released)
    given = proposal.approvals_given
    move(proposal, Status.EXECUTED, approvals_given=given, outcome=outcome, decided_at=now)
    record(proposal, Action.PROPOSAL_EXECUTED, by, before=before, after={"outcome": outcome})
