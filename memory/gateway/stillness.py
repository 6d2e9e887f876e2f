"""One writer at a time in each workspace's memory, so that what a rule has read is still so when it writes."""

from __future__ import annotations

from uuid import UUID

from django.db.models import F

from memory.models import RecallEpoch
from review.audit import transaction


def stand_still(scope: UUID) -> None:
    """Let nobody else change the memory of this workspace until the open write() ends.

    Comes after the lock on a proposal and before the first audit entry. Raises: RuntimeError outside write().
    """
    if transaction.current() is None:
        raise RuntimeError("Memory is changed inside write(), together with its audit entry.")
    if not RecallEpoch.objects.select_for_update().filter(workspace_id=scope).exists():
        RecallEpoch.objects.get_or_create(workspace_id=scope)
        RecallEpoch.objects.select_for_update().get(workspace_id=scope)


def rebuild_indexes(scope: UUID) -> None:
    """Tell every server that its index of this workspace no longer holds: a record left, or an old one came in."""
    RecallEpoch.objects.filter(workspace_id=scope).update(epoch=F("epoch") + 1)
