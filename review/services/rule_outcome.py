"""Nobody knows how a call ended, and one person says it: he has looked where it would show."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.audit import log
from review.audit.actions import Action
from review.domain import status
from review.domain.decision import says_something
from review.domain.refusals import BadVerdict, ReasonRequired
from review.domain.status import Status
from review.models import Proposal
from review.queries.visible import must_be_visible
from review.services.fall_silent import meet_silence
from review.services.settle import settle
from review.services.transitions import lock, move, must_hold_deciding_role, record

RULINGS = (Status.SUCCEEDED, Status.FAILED)
NO_RULING = "A ruling says succeeded or failed. Choose one of the two."


def rule_outcome(proposal_id: UUID, *, by: PersonActor, result: str, reason: str) -> Proposal:
    """Take a proposal of unknown outcome to `succeeded` or `failed`, once and for good.

    It takes the deciding role and no independence: what ran was decided by others, and its own agent may say too
    how it ended.

    Raises: NotFound, BadVerdict, NotRunning, AlreadyReported, NotEligible, ReasonRequired.
    """

    def refused(refusal: Refusal) -> None:
        _record_refusal(proposal_id, refusal, by)

    return settle(lambda: _rule(proposal_id, by, result, reason), refused=refused)


def _rule(proposal_id: UUID, by: PersonActor, result: str, reason: str) -> Proposal:
    proposal = lock(proposal_id)
    now = log.take_turn()
    must_be_visible(proposal, by.person.id, now)
    if result not in RULINGS:
        raise BadVerdict(NO_RULING)
    meet_silence(proposal, now)
    before = proposal.status
    ruled = status.rule(before, result)
    must_hold_deciding_role(proposal, by, now)
    if not says_something(reason):
        raise ReasonRequired
    outcome = {"result": str(ruled), "detail": reason, "ruled": True}
    move(proposal, ruled, outcome=outcome, decided_at=now)
    record(proposal, Action.OUTCOME_RULED, by, before=before, private={"reason": reason})
    return proposal


def _record_refusal(proposal_id: UUID, refusal: Refusal, by: PersonActor) -> None:
    proposal = Proposal.objects.select_related("workspace", "agent").filter(pk=proposal_id).first()
    if proposal is not None:
        meet_silence(proposal, timezone.now())
        record(proposal, Action.DECISION_REFUSED, by, after={"code": refusal.code})
