"""When somebody who wants to be told is told again: at once with a breath between, or at his hour of the day."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

BREATH = timedelta(minutes=5)
"""What comes within it after a notice is told in the next one, so that many at once are one notice."""


def digest_before(now: datetime, *, hour: int, zone: str) -> datetime:
    """Return the last moment until `now` at which it was `hour` o'clock in `zone`."""
    local = now.astimezone(ZoneInfo(zone))
    at = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    return at if at <= local else at - timedelta(days=1)


def is_due(now: datetime, *, told_until: datetime, digest: tuple[int, str] | None) -> bool:
    """Whether to look for what is new: `digest` is the hour and zone of one, None for whoever is told at once."""
    if digest is None:
        return now - told_until >= BREATH
    hour, zone = digest
    return told_until < digest_before(now, hour=hour, zone=zone)
