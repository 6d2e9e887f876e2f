"""What became of a call that was let run: reported once by whoever ran it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.access.actors import AgentActor
from review.audit.actions import Action
from review.domain import status
from review.domain.refusals import NotFound, NotRunning
from review.domain.status import Status
from review.models import Permit, Proposal
from review.services.settle import settle
from review.services.transitions import lock, move, record


def report(
    proposal_id: UUID, *, by: AgentActor, result: str, jti: UUID, detail: str | None = None
) -> Proposal:
    """Take a running proposal to `succeeded`, `failed` or `unknown`; `unknown` takes one late report.

    Raises: NotFound, NotRunning, AlreadyReported.
    """
    now = timezone.now()

    def refused(refusal: Refusal) -> None:
        """Nothing was decided or run here; the refusal is the caller's to mend."""

    return settle(lambda: _report(proposal_id, by, Status(result), jti, detail, now), refused=refused)


def _report(
    proposal_id: UUID, by: AgentActor, result: Status, jti: UUID, detail: str | None, now: datetime
) -> Proposal:
    proposal = lock(proposal_id, workspace_id=by.agent.workspace_id)
    permit = Permit.objects.filter(proposal=proposal).first()
    if by.agent.id != proposal.agent_id and (permit is None or permit.audience != by.agent.name):
        raise NotFound
    if permit is None:
        raise NotRunning
    if permit.jti != jti:
        raise NotRunning(
            "`jti` is not that of this proposal's permit. Send the one that redeem answered with."
        )
    before = proposal.status
    told = status.report(before, result, reported=permit.reported_at is not None)
    Permit.objects.filter(pk=permit.pk).update(reported_at=now)
    move(proposal, told, outcome={"result": str(result), "detail": detail}, decided_at=now)
    private = {"detail": detail} if detail else None
    record(proposal, Action.OUTCOME_REPORTED, by, before=before, after={"jti": str(jti)}, private=private)
    return proposal
