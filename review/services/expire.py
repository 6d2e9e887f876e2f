"""Time runs out. The row is judged wherever it is met; the entry is written by whoever meets it first (I4)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from review.audit.actions import Action
from review.audit.transaction import write
from review.domain.refusals import NotFound
from review.domain.status import Status, current
from review.models import Proposal
from review.services.transitions import CONSOLE, lock, move, record


def expire(proposal_id: UUID) -> None:
    """Take the proposal to `expired` if its time is over; do nothing otherwise."""
    with write():
        try:
            meet(lock(proposal_id), timezone.now())
        except NotFound:
            return


def expire_overdue(limit: int = 500) -> int:
    """Take up to `limit` overdue proposals to `expired`, each in its own transaction; return how many were met."""
    overdue = Proposal.objects.overdue(timezone.now()).order_by("expires_at")
    found = list(overdue.values_list("pk", flat=True)[:limit])
    for proposal_id in found:
        expire(proposal_id)
    return len(found)


def meet(proposal: Proposal, now: datetime) -> None:
    """Within the caller's transaction: expire `proposal` if it is open and over."""
    before = proposal.status
    if before != Status.EXPIRED and current(before, proposal.expires_at, now) is Status.EXPIRED:
        move(proposal, Status.EXPIRED, decided_at=now)
        record(proposal, Action.PROPOSAL_EXPIRED, CONSOLE, before=before)
