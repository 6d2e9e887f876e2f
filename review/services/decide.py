"""One person decides, on exactly what he was shown. The deciding transaction trusts nothing it was told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, NoReturn
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.access.actors import ISSUER, PersonActor
from review.audit import log
from review.audit.actions import Action
from review.audit.statements import first, insert, prepared
from review.domain import decision as rules
from review.domain.decision import Case, Ruling, Verdict
from review.domain.gate import Outcome, Signal, strictest, unseen
from review.domain.status import Status
from review.effects import Submission, effect_of
from review.models import Decision, Proposal
from review.queries.cases import case_of, current_revisions
from review.queries.identity import identities
from review.queries.visible import must_be_visible
from review.services import nonce, take_effect
from review.services.claim import end as end_claim
from review.services.expire import meet
from review.services.hold_again import hold_again
from review.services.rebind import follow, rebinding
from review.services.settle import settle
from review.services.transitions import lock, move, record
from review.services.weigh import refusal_of

RECORDED = {
    Verdict.APPROVE: Action.DECISION_APPROVED,
    Verdict.REJECT: Action.DECISION_REJECTED,
    Verdict.REQUEST_CHANGES: Action.DECISION_CHANGES_REQUESTED,
}


@dataclass(frozen=True)
class Ballot:
    """What the decision form carried. Who casts it is not in here: that comes from the session alone.

    `factor_at` is when the person last proved who he is; `fields` are JSON pointers for request_changes.
    """

    verdict: str
    revision: int | None
    binding: str
    nonce: str
    reason: str = ""
    confirm: str = ""
    factor_at: datetime | None = None
    tombstone: bool = False
    fields: tuple[str, ...] = ()


class Decided(NamedTuple):
    """`status` is what the decision led to; `replayed` says that this very form was recorded before."""

    proposal: Proposal
    decision: Decision
    replayed: bool


def decide(proposal_id: UUID, *, by: PersonActor, ballot: Ballot) -> Decided:
    """Record the verdict of `by` on one revision, and carry out what it leads to, in one transaction.

    Raises: NotFound, BadVerdict, AlreadyDecided, Expired, NotEligible, RoleTooNew, SelfApproval, PolicyChanged,
    StaleBinding, SamePerson, StepUpRequired, ReasonRequired, ConfirmMismatch. Each refused attempt is recorded.
    """

    def refused(refusal: Refusal) -> None:
        _record_refusal(proposal_id, refusal, ballot, by)

    with rebinding(proposal_id):
        decided = settle(lambda: _decide(proposal_id, by, ballot), refused=refused)
    follow(decided.proposal)
    return decided


def decline(proposal_id: UUID, refusal: Refusal, *, by: PersonActor, ballot: Ballot) -> NoReturn:
    """Record that `by` tried to decide where `refusal` forbids it, and raise it."""

    def refuse() -> NoReturn:
        raise refusal

    settle(refuse, refused=lambda caught: _record_refusal(proposal_id, caught, ballot, by))


def _decide(proposal_id: UUID, by: PersonActor, ballot: Ballot) -> Decided:
    proposal = lock(proposal_id)
    # Whoever gains or loses a right is recorded before this decision, and counts, or after it. What the time is
    # is asked here too: it went on while others had their turn.
    now = log.take_turn()
    must_be_visible(proposal, by.person.id, now)
    if repeated := _repeated(proposal, by, ballot):
        return Decided(proposal, repeated, replayed=True)
    case = case_of(proposal, now)
    shown = _shown(proposal, by, ballot)
    ruling = rules.decide(
        case,
        approver=identities().one(by.person.id),
        verdict=ballot.verdict,
        binding=ballot.binding if shown else None,
        revision=ballot.revision,
        reason=ballot.reason,
        confirm=ballot.confirm,
        factor_at=ballot.factor_at,
        now=now,
    )
    cast = _cast(proposal, by, ballot, ruling, shown.page if shown else "", now)
    _record_vote(proposal, cast, by, case, ballot)
    end_claim(proposal, by.person)
    _carry_out(proposal, case, ruling, by, ballot, now)
    return Decided(proposal, cast, replayed=False)


def _repeated(proposal: Proposal, by: PersonActor, ballot: Ballot) -> Decision | None:
    used = _with_nonce(nonce.fingerprint(ballot.nonce), proposal.id, by.person.id) if ballot.nonce else []
    return first(used)


@prepared
def _with_nonce(fingerprint: str, proposal: UUID, person: UUID) -> QuerySet[Decision]:
    return Decision.objects.filter(nonce=fingerprint, proposal=proposal, person=person)


def _shown(proposal: Proposal, by: PersonActor, ballot: Ballot) -> nonce.Shown | None:
    """Return what the form's nonce states, or None where it is missing, foreign, or of another page.

    An approval counts only for the comparison with what was reviewed: another base may hide a change.
    """
    shown = nonce.read(ballot.nonce)
    if shown is None or (shown.person, shown.proposal, shown.binding) != (
        by.person.id,
        proposal.id,
        ballot.binding,
    ):
        return None
    if ballot.verdict == Verdict.APPROVE and not shown.base.startswith(nonce.REVIEWED):
        return None
    return shown


def _cast(
    proposal: Proposal, by: PersonActor, ballot: Ballot, ruling: Ruling, page: str, now: datetime
) -> Decision:
    cast = Decision(
        proposal=proposal,
        revision=proposal.revision,
        binding=proposal.binding,
        verdict=ruling.verdict.value,
        person=by.person,
        user=by.user,
        issuer=ISSUER,
        session=by.session,
        methods=list(by.methods),
        auth_time=by.auth_time,
        shown=page,
        nonce=nonce.fingerprint(ballot.nonce),
        reason=ballot.reason,
        fields=list(ballot.fields),
        created_at=now,
    )
    insert(cast)
    return cast


def _record_vote(proposal: Proposal, cast: Decision, by: PersonActor, case: Case, ballot: Ballot) -> None:
    record(
        proposal,
        RECORDED[Verdict(cast.verdict)],
        by,
        decision=str(cast.id),
        shown=cast.shown,
        policy=case.policy_bound,
        conflict_set=case.electorate.conflicts,
        private={"reason": ballot.reason} if ballot.reason else None,
    )


def _carry_out(
    proposal: Proposal, case: Case, ruling: Ruling, by: PersonActor, ballot: Ballot, now: datetime
) -> None:
    """Do what the verdict leads to: nothing yet, the effect, the end, or the way back to the agent."""
    arguments = dict(case.arguments) if isinstance(case.arguments, dict) else {}
    if ruling.status is Status.REJECTED:
        _reject(proposal, case, arguments, by, ballot, now)
    elif ruling.status is Status.CHANGES_REQUESTED:
        _return(proposal, ballot)
    elif ruling.tally.is_met:
        _approve(proposal, case, arguments, by, now)
    else:
        move(proposal, Status(proposal.status), approvals_given=ruling.tally.given)


def _approve(
    proposal: Proposal, case: Case, arguments: dict[str, object], by: PersonActor, now: datetime
) -> None:
    """The quorum is met: admission is asked once more, and what is new in its answer wins (I15)."""
    proposal.approvals_given = case.rule.people
    new = _new_signals(proposal, arguments, now)
    outcome = strictest(new)
    if outcome is Outcome.REJECT:
        take_effect.end(proposal, refusal_of(new), now)
    elif outcome is Outcome.QUARANTINE:
        hold_again(proposal, arguments, new, by, now)
    else:
        released = case.status is Status.QUARANTINED
        take_effect.approve(proposal, arguments, by, released=released, now=now)


def _new_signals(proposal: Proposal, arguments: dict[str, object], now: datetime) -> list[Signal]:
    """Return what stands against the effect now and was not shown to the approvers."""
    effect = effect_of(proposal.tool)
    if effect is None:
        return []
    submission = Submission(proposal.workspace, proposal.agent, arguments, proposal.risk, now, proposal.id)
    return unseen(effect.signals(submission), _shown_signals(proposal))


def _shown_signals(proposal: Proposal) -> list[Signal]:
    gate = current_revisions([proposal])[proposal.id].gate
    return [Signal.read(members) for members in gate["signals"]]


def _reject(
    proposal: Proposal,
    case: Case,
    arguments: dict[str, object],
    by: PersonActor,
    ballot: Ballot,
    now: datetime,
) -> None:
    before = proposal.status
    held = case.status is Status.QUARANTINED
    move(proposal, Status.REJECTED, reason=ballot.reason, fields=list(ballot.fields), decided_at=now)
    record(proposal, Action.PROPOSAL_REJECTED, by, before=before)
    if before == Status.APPROVED:
        record(proposal, Action.PERMIT_VOIDED, by)  # the way back: no permit can be taken any more
    effect = effect_of(proposal.tool)
    if effect is not None and (held or ballot.tombstone):
        # Nobody bans a value by having his own agent submit it: a tombstone takes an independent person.
        tombstone = identities().one(by.person.id) not in case.electorate.conflicts
        effect.discard(proposal, arguments, by, ballot.reason, tombstone=tombstone)


def _return(proposal: Proposal, ballot: Ballot) -> None:
    move(
        proposal,
        Status.CHANGES_REQUESTED,
        reason=ballot.reason,
        fields=list(ballot.fields),
        approvals_given=0,
    )


def _record_refusal(proposal_id: UUID, refusal: Refusal, ballot: Ballot, by: PersonActor) -> None:
    """Write down who tried what; where he has no role, of the workspace only that it was not found."""
    rows = Proposal.objects.select_related("workspace", "agent").filter(pk=proposal_id)
    proposal = rows.first()
    if proposal is None:
        return
    meet(proposal, timezone.now())
    private = {"reason": ballot.reason} if ballot.reason else None
    record(proposal, Action.DECISION_REFUSED, by, after={"code": refusal.code}, private=private)
