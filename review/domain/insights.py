"""Whether reviewing works, in figures: what a period of decisions adds up to.

A figure is a question, not a verdict: it carries its sample size, and under TOO_FEW nothing is compared.
Lengths are timedeltas, moments are aware datetimes; a period and each of its stretches is half-open.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from statistics import median
from typing import NamedTuple, TypeVar
from uuid import UUID

from review.domain.decision import Verdict

Item = TypeVar("Item")

TOO_FEW = 20  # under so many decisions or submissions a share or a median is not compared
FAST = timedelta(seconds=10)  # an approval so soon after the page was opened was hardly read
MOST_STRETCHES = 13
DAY, WEEK = timedelta(days=1), timedelta(weeks=1)


class Age(StrEnum):
    """How long something has been open: the last one that it is not younger than."""

    UNDER_HOUR = "under_hour"
    HOURS = "hours"
    DAY = "day"
    OVER_DAY = "over_day"


#: From which age on each holds.
AGES: Mapping[Age, timedelta] = {
    Age.UNDER_HOUR: timedelta(0),
    Age.HOURS: timedelta(hours=1),
    Age.DAY: timedelta(hours=4),
    Age.OVER_DAY: DAY,
}


class Period(NamedTuple):
    """What is looked at: from `since` until just before `until`."""

    since: datetime
    until: datetime


class Vote(NamedTuple):
    """One person's verdict: when the revision was sent, and when he first opened it, None where nobody noted it."""

    person: UUID
    verdict: Verdict
    sent_at: datetime
    seen_at: datetime | None
    at: datetime

    @property
    def took(self) -> timedelta:
        """The time to decision: from the revision's arrival to the verdict on it."""
        return max(self.at - self.sent_at, timedelta(0))

    @property
    def is_fast(self) -> bool:
        return self.verdict is Verdict.APPROVE and self.seen_at is not None and self.at - self.seen_at < FAST


class Spread(NamedTuple):
    """How a number of lengths spread; both figures are None where there is none."""

    n: int
    median: timedelta | None
    p90: timedelta | None


class Load(NamedTuple):
    """What one reviewer decided. `opened` counts the approvals of which it is known when the page was opened."""

    person: UUID
    spread: Spread
    not_approved: int
    fast: int
    opened: int

    @property
    def is_comparable(self) -> bool:
        return self.spread.n >= TOO_FEW


class Asked(NamedTuple):
    """What one agent submitted, and how much of it the gate refused or people rejected."""

    agent: UUID
    submissions: int
    refused: int
    rejected: int

    @property
    def is_comparable(self) -> bool:
        return self.submissions >= TOO_FEW

    @property
    def rate(self) -> float:
        """The share that was not let through, 0 to 1."""
        return min((self.refused + self.rejected) / max(self.submissions, 1), 1.0)


def stretches(period: Period) -> list[Period]:
    """Cut `period` into at most 13 equal stretches of whole days, of whole weeks where it is longer than that.

    The last one ends with the period.
    """
    days = max(ceil((period.until - period.since) / DAY), 1)
    step = DAY if days <= MOST_STRETCHES else WEEK * ceil(days / 7 / MOST_STRETCHES)
    starts = [period.since + step * number for number in range(ceil(days * DAY / step))]
    return [Period(start, until) for start, until in zip(starts, [*starts[1:], period.until], strict=True)]


def spread(lengths: Iterable[timedelta]) -> Spread:
    """Return median and 90th percentile of `lengths`; the latter is one of them, by the nearest-rank method."""
    ordered = sorted(lengths)
    if not ordered:
        return Spread(0, None, None)
    return Spread(len(ordered), median(ordered), ordered[ceil(len(ordered) * 0.9) - 1])  # type: ignore[type-var]


def paces(votes: Iterable[Vote], cut: Sequence[Period]) -> list[Spread]:
    """Return the time to decision in each stretch of `cut`."""
    return [spread(vote.took for vote in some) for some in _by_stretch(votes, cut)]


def verdicts(votes: Iterable[Vote], cut: Sequence[Period]) -> list[Mapping[Verdict, int]]:
    """Return in each stretch of `cut` how many verdicts of each kind were given."""
    return [
        {verdict: sum(vote.verdict is verdict for vote in some) for verdict in Verdict}
        for some in _by_stretch(votes, cut)
    ]


def counts(moments: Iterable[datetime], cut: Sequence[Period]) -> list[int]:
    """Return how many of `moments` lie in each stretch of `cut`."""
    return [len(some) for some in _sorted_into(cut, ((moment, moment) for moment in moments))]


def loads(votes: Iterable[Vote]) -> list[Load]:
    """Return what each person decided, in no order that means anything."""
    by_person: dict[UUID, list[Vote]] = defaultdict(list)
    for vote in votes:
        by_person[vote.person].append(vote)
    return [_load(person, cast) for person, cast in by_person.items()]


def by_rate(asked: Iterable[Asked]) -> list[Asked]:
    """Return agents by refusal rate, the highest first; those with too few submissions stand last, uncompared."""
    return sorted(asked, key=lambda one: (not one.is_comparable, -one.rate if one.is_comparable else 0))


def _load(person: UUID, cast: Sequence[Vote]) -> Load:
    approvals = [vote for vote in cast if vote.verdict is Verdict.APPROVE]
    return Load(
        person=person,
        spread=spread(vote.took for vote in cast),
        not_approved=len(cast) - len(approvals),
        fast=sum(vote.is_fast for vote in approvals),
        opened=sum(vote.seen_at is not None for vote in approvals),
    )


def _by_stretch(votes: Iterable[Vote], cut: Sequence[Period]) -> list[list[Vote]]:
    return _sorted_into(cut, ((vote.at, vote) for vote in votes))


def _sorted_into(cut: Sequence[Period], dated: Iterable[tuple[datetime, Item]]) -> list[list[Item]]:
    """Put each item into the stretch that holds its moment; the stretches follow each other without a gap."""
    starts = [stretch.since for stretch in cut]
    found: list[list[Item]] = [[] for _ in cut]
    for moment, item in dated:
        if cut[0].since <= moment < cut[-1].until:
            found[bisect_right(starts, moment) - 1].append(item)
    return found
