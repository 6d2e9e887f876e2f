"""The states of a proposal and every step between them that is not a vote.

Each step takes the state of the row as it is in the transaction and returns the next one, or refuses. Time
only ever denies: whether a sweeper ran or not, what has run out is over.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from review.domain.refusals import (
    AlreadyDecided,
    AlreadyReported,
    Expired,
    NotRunning,
    StaleRevision,
)

REPORT_WITHIN = timedelta(minutes=15)
"""How long after its permit was taken a call may be without a report; then its outcome is `unknown`."""


class Status(StrEnum):
    PENDING = "pending"
    QUARANTINED = "quarantined"
    CHANGES_REQUESTED = "changes_requested"
    APPROVED = "approved"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    EXECUTED = "executed"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


EXPIRING = (Status.PENDING, Status.CHANGES_REQUESTED, Status.APPROVED)
OPEN = (*EXPIRING, Status.QUARANTINED)
REVISABLE = (Status.PENDING, Status.CHANGES_REQUESTED)
REDEEMED = (Status.RUNNING, Status.SUCCEEDED, Status.FAILED, Status.UNKNOWN)


def current(status: str, expires_at: datetime | None, now: datetime) -> Status:
    """Return the state that counts at `now`: half-open, so at `expires_at` itself it is over."""
    known = Status(str(status))
    over = known in EXPIRING and expires_at is not None and now >= expires_at
    return Status.EXPIRED if over else known


def withdraw(status: str, *, expires_at: datetime | None, now: datetime) -> Status:
    """Return the state once the proposing agent, or stopping it, takes the proposal back.

    Raises: Expired, AlreadyDecided.
    """
    _refuse_ended(current(status, expires_at, now))
    return Status.WITHDRAWN


def revise(
    status: str, *, revision: int, replaces: int, expires_at: datetime | None, now: datetime
) -> Status:
    """Return the state in which a new revision meets the gate, if it `replaces` the current `revision`.

    What is held leaves quarantine by people only (I14), so it cannot be revised.
    Raises: Expired, AlreadyDecided, StaleRevision.
    """
    known = current(status, expires_at, now)
    _refuse_ended(known)
    if known is Status.QUARANTINED:
        raise AlreadyDecided(
            "It is held, and only people can end that. Withdraw it and propose anew.", proposal_status=known
        )
    if known is Status.APPROVED:
        raise AlreadyDecided(
            "It is approved as it is. Withdraw it and propose anew to change it.", proposal_status=known
        )
    if replaces != revision:
        raise StaleRevision(revision=revision)
    return Status.PENDING


def report(status: str, result: str, *, reported: bool) -> Status:
    """Return the state once the executor says how it went; `reported` says whether one did before.

    `unknown` that came from silence still takes one late report.
    Raises: AlreadyReported, NotRunning.
    """
    known = Status(str(status))
    if known not in REDEEMED:
        raise NotRunning(proposal_status=known)
    if reported or known not in (Status.RUNNING, Status.UNKNOWN):
        raise AlreadyReported(proposal_status=known)
    return Status(result)


def rule(status: str, result: str) -> Status:
    """Return the state once a person has ruled how something of unknown outcome went.

    Raises: AlreadyReported, NotRunning.
    """
    known = Status(str(status))
    if known in (Status.SUCCEEDED, Status.FAILED):
        raise AlreadyReported(proposal_status=known)
    if known is not Status.UNKNOWN:
        raise NotRunning(
            "A ruling is for an unknown outcome only; this one is not unknown.", proposal_status=known
        )
    return Status(result)


def is_silent(status: str, redeemed_at: datetime, now: datetime) -> bool:
    """Whether a running call has been without a report for so long that its outcome is `unknown`."""
    return Status(str(status)) is Status.RUNNING and now >= redeemed_at + REPORT_WITHIN


def _refuse_ended(status: Status) -> None:
    if status is Status.EXPIRED:
        raise Expired(proposal_status=status)
    if status not in OPEN:
        raise AlreadyDecided(proposal_status=status)
