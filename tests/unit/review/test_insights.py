"""The figures of a period, worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest

from review.domain.decision import Verdict
from review.domain.insights import (
    TOO_FEW,
    Asked,
    Period,
    Vote,
    by_rate,
    counts,
    loads,
    paces,
    spread,
    stretches,
    verdicts,
)

START = datetime(2026, 10, 26, tzinfo=UTC)
DAY = timedelta(days=1)
FIVE_WEEKS = Period(START, START + 35 * DAY)
ALICE, CAROL = UUID(int=1), UUID(int=2)


def minutes(*numbers: float) -> list[timedelta]:
    return [timedelta(minutes=number) for number in numbers]


def vote(
    person: UUID = ALICE,
    verdict: Verdict = Verdict.APPROVE,
    *,
    took: float = 60,
    read: float | None = 600,
    after: timedelta = DAY,
) -> Vote:
    """A verdict `after` the start, so many minutes after the revision came and so many seconds after it was opened."""
    at = START + after
    seen = None if read is None else at - timedelta(seconds=read)
    return Vote(person, verdict, at - timedelta(minutes=took), seen, at)


@pytest.mark.parametrize(
    ("lengths", "median", "p90"),
    [
        ([5], 5, 5),
        ([1, 3], 2, 3),
        ([3, 1, 2], 2, 3),
        ([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 5.5, 9),
        ([*range(1, 21)], 10.5, 18),
    ],
)
def test_half_come_within_the_median_and_nine_of_ten_within_the_90th_percentile(
    lengths: list[float], median: float, p90: float
) -> None:
    assert spread(minutes(*lengths)) == (len(lengths), *minutes(median, p90))


def test_of_nothing_there_is_no_figure() -> None:
    assert spread([]) == (0, None, None)


@pytest.mark.parametrize(
    ("days", "number", "step"), [(1, 1, 1), (13, 13, 1), (14, 2, 7), (35, 5, 7), (91, 13, 7), (365, 11, 35)]
)
def test_a_period_of_any_length_is_cut_into_few_stretches(days: int, number: int, step: int) -> None:
    cut = stretches(Period(START, START + days * DAY))
    assert len(cut) == number
    assert cut[0].until - cut[0].since == min(step, days) * DAY
    assert (cut[0].since, cut[-1].until) == (START, START + days * DAY)
    assert all(one.until == following.since for one, following in pairwise(cut))


def test_a_vote_counts_in_the_stretch_that_holds_its_moment() -> None:
    cut = stretches(FIVE_WEEKS)
    votes = [vote(after=timedelta(0)), vote(after=7 * DAY - timedelta(seconds=1)), vote(after=7 * DAY)]
    assert [pace.n for pace in paces(votes, cut)] == [2, 1, 0, 0, 0]
    assert counts([one.at for one in votes], cut) == [2, 1, 0, 0, 0]
    assert counts([FIVE_WEEKS.until, START - DAY], cut) == [0] * 5
    assert verdicts(votes, cut)[0] == {
        Verdict.APPROVE: 2,
        Verdict.REJECT: 0,
        Verdict.REQUEST_CHANGES: 0,
    }


def test_each_reviewers_load_carries_its_sample_size() -> None:
    votes = [vote(took=10), vote(took=20, verdict=Verdict.REJECT), vote(CAROL, took=30)]
    alice, carol = loads(votes)
    assert (alice.person, alice.spread, alice.not_approved) == (ALICE, (2, *minutes(15, 20)), 1)
    assert (carol.person, carol.spread.n, carol.not_approved) == (CAROL, 1, 0)


@pytest.mark.parametrize(("number", "comparable"), [(TOO_FEW - 1, False), (TOO_FEW, True)])
def test_too_few_are_not_compared(number: int, comparable: bool) -> None:
    [load] = loads([vote()] * number)
    assert load.is_comparable is comparable
    assert Asked(CAROL, number, 0, 0).is_comparable is comparable


@pytest.mark.parametrize(
    ("cast", "fast", "opened"),
    [
        (vote(read=9.9), 1, 1),
        (vote(read=10), 0, 1),
        (vote(read=None), 0, 0),
        (vote(read=1, verdict=Verdict.REJECT), 0, 0),
    ],
)
def test_only_an_approval_right_after_the_page_was_opened_is_very_fast(
    cast: Vote, fast: int, opened: int
) -> None:
    [load] = loads([cast])
    assert (load.fast, load.opened) == (fast, opened)


def test_agents_stand_by_refusal_rate_and_those_with_too_few_submissions_last() -> None:
    calm, wild, new = Asked(UUID(int=3), 40, 1, 1), Asked(UUID(int=4), 20, 5, 5), Asked(UUID(int=5), 2, 2, 0)
    assert by_rate([new, calm, wild]) == [wild, calm, new]
    assert [one.rate for one in (wild, calm, new)] == [0.5, 0.05, 1.0]
    assert Asked(CAROL, 0, 0, 0).rate == 0
