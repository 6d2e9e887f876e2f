"""Whoever took a permit says nothing: 15 minutes after that, how it ended is `unknown` until somebody says it.

The row is judged wherever it is met; the entry is written by whoever meets it first, or by the worker.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from review.audit.actions import Action
from review.audit.transaction import write
from review.domain.refusals import NotFound
from review.domain.status import REPORT_WITHIN, Status, is_silent
from review.models import Permit, Proposal
from review.services.transitions import CONSOLE, lock, move, record


def fall_silent(proposal_id: UUID) -> None:
    """Take the proposal to `unknown` if nobody reported in time; do nothing otherwise."""
    with write():
        try:
            meet_silence(lock(proposal_id), timezone.now())
        except NotFound:
            return


def note_silent(limit: int = 500) -> int:
    """Take up to `limit` silent proposals to `unknown`, each in its own transaction; return how many were met."""
    silent = Permit.objects.filter(
        proposal__status=Status.RUNNING, issued_at__lte=timezone.now() - REPORT_WITHIN
    )
    found = list(silent.order_by("issued_at").values_list("proposal_id", flat=True)[:limit])
    for proposal_id in found:
        fall_silent(proposal_id)
    return len(found)


def meet_silence(proposal: Proposal, now: datetime) -> None:
    """Within the caller's transaction: note the silence about a running `proposal`, and its permit's end."""
    permit = Permit.objects.filter(proposal=proposal).first()
    if permit is None or not is_silent(proposal.status, permit.issued_at, now):
        return
    before, named = proposal.status, {"jti": str(permit.jti)}
    move(proposal, Status.UNKNOWN, outcome={"result": "unknown", "detail": None}, decided_at=now)
    if permit.spent_at is None and permit.voided_at is None:
        record(proposal, Action.PERMIT_EXPIRED, CONSOLE, after=named)
    record(proposal, Action.OUTCOME_UNKNOWN, CONSOLE, before=before, after=named)
