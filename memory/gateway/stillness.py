"""One writer at a time in memory, so that what a rule has read is still so when it writes."""

from __future__ import annotations

from uuid import UUID

from django.db.models import F

from memory.models import RecallEpoch
from review.audit import log


def stand_still() -> None:
    """Let nobody else change memory until the open write() ends.

    Comes after the lock on a proposal. No lock of its own: each change to memory is recorded, and a second
    lock beside the log's could be waited for in another order.
    Raises: RuntimeError outside write(), Unavailable.
    """
    log.take_turn()


def rebuild_indexes(scope: UUID) -> None:
    """Tell every server that its index of this workspace no longer holds: something left, or an old record came in."""
    if not RecallEpoch.objects.filter(workspace_id=scope).update(epoch=F("epoch") + 1):
        RecallEpoch.objects.create(workspace_id=scope, epoch=1)
