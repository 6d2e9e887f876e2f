"""Saying that one looks at a proposal, so that others begin with another. It keeps nobody from deciding."""

from __future__ import annotations

from datetime import datetime, timedelta

from review.domain.refusals import AlreadyDecided, Expired
from review.domain.status import Status, current

LASTS = timedelta(minutes=30)
CLAIMABLE = (Status.PENDING, Status.QUARANTINED)
"""What waits for people."""


def claim(status: str, *, expires_at: datetime | None, now: datetime) -> datetime:
    """Return when a claim made at `now` ends by itself.

    Raises: Expired, AlreadyDecided.
    """
    known = current(status, expires_at, now)
    if known is Status.EXPIRED:
        raise Expired(proposal_status=known)
    if known not in CLAIMABLE:
        raise AlreadyDecided(proposal_status=known)
    return now + LASTS
