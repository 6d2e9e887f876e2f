"""When it holds: in the world (`valid_from`, `valid_to`), in the system (`recorded_at`, `retired_at`).

Every interval is half-open, [start, end): it holds at its start and no longer at its end, so that
neighbours share no moment. None leaves a side open. All times are aware, in UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]"
    r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)


class BadValidity(ValueError):
    """Times that mean no moment or no interval. `detail` says what to send instead."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(detail)


class BadTime(BadValidity):
    """A text that does not name one moment exactly."""


class BadInterval(BadValidity):
    """An interval that would hold at no moment."""


def parse_time(text: str) -> datetime:
    """The moment that an RFC 3339 text names, as an aware datetime in UTC.

    Nothing is guessed and nothing is cut: an offset is required, a fraction has at most the six
    digits that are kept, and there is no leap second. Raises: BadTime.
    """
    if RFC_3339.fullmatch(text) is None:
        raise BadTime("Give a time as RFC 3339 with an offset, such as 2026-12-07T10:00:00Z.")
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadTime("This time is not on the calendar. Check the date and the offset.") from None


_TYPED = re.compile(r"([0-9-]{10}T[0-9]{2}:[0-9]{2})(:[0-9]{2}(\.[0-9]+)?)?")


def typed_time(text: str) -> str:
    """The RFC 3339 text for what a field of date and time sends, read as UTC; any other text as it is."""
    typed = _TYPED.fullmatch(text)
    return f"{typed[1]}{typed[2] or ':00'}Z" if typed else text


@dataclass(frozen=True)
class Interval:
    """[start, end); None is open on that side. Raises BadInterval where it would be empty."""

    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        if not _before(self.start, self.end):
            raise BadInterval("The end must be later than the start.")

    def contains(self, moment: datetime) -> bool:
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)

    def overlaps(self, other: Interval) -> bool:
        """Whether some moment lies in both."""
        return _before(self.start, other.end) and _before(other.start, self.end)


def _before(start: datetime | None, end: datetime | None) -> bool:
    return start is None or end is None or start < end


def lifecycle_at(
    known_at: datetime, *, lifecycle: str, recorded_at: datetime, retired_at: datetime | None
) -> str | None:
    """The lifecycle of a record for whoever looked at `known_at`; None: it was not there yet.

    `lifecycle` and `retired_at` are as they stand now. What was erased since is erased in every
    past too, because its text must never return.
    """
    if known_at < recorded_at:
        return None
    if lifecycle == "erased" or retired_at is None or retired_at <= known_at:
        return lifecycle
    return "active"
