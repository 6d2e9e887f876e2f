"""When a record holds in the world, said anew: closed, never overwritten, so what was known before stays known."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from memory.domain.validity import Interval
from memory.models import FormerValidity, MemoryRecord


def correct(record: MemoryRecord, holds: Interval) -> None:
    """Say from now on that `record` holds in `holds`, and keep what was said until now."""
    if holds == record.holds:
        return
    FormerValidity.objects.create(
        record=record, valid_from=record.valid_from, valid_to=record.valid_to, until=timezone.now()
    )
    record.valid_from, record.valid_to = holds.start, holds.end
    record.save(update_fields=["valid_from", "valid_to"])


def close(record: MemoryRecord, at: datetime) -> None:
    """Say from now on that `record` holds no longer than until just before `at`, where it held for a while."""
    if record.holds.contains(at) and record.valid_from != at:
        correct(record, Interval(record.valid_from, at))
