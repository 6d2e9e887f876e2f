"""What the address of a manager's page asks for, and for which days."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from django.http import HttpRequest

DAY = timedelta(days=1)


def typed(request: HttpRequest, *names: str) -> dict[str, str]:
    """Return what the address says under each of `names`; nothing is the empty text."""
    return {name: request.GET.get(name, "").replace("\0", "").strip() for name in names}


def moment(text: str, after: timedelta = timedelta(0)) -> datetime | None:
    """Return the start of a day, UTC, or a moment with its zone; `after` makes the whole last day count.

    Raises: ValueError, OverflowError.
    """
    if not text:
        return None
    if len(text) > len("2026-11-30"):
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    return datetime.combine(datetime.fromisoformat(text).date(), time(), UTC) + after


def moment_in(text: str) -> datetime | None:
    """Return the moment with its zone that `text` is, UTC; None for whatever else it is."""
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else None
    except (ValueError, OverflowError):
        return None
