"""Two clocks: when a thing holds in the world, and when the system knew it."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.validity import BadInterval, BadTime, Interval, lifecycle_at, parse_time

MAY, JUNE, JULY, AUGUST = (datetime(2026, month, 1, tzinfo=UTC) for month in (5, 6, 7, 8))
TICK = timedelta(microseconds=1)
MOMENTS = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-12-07T10:00:00Z", datetime(2026, 12, 7, 10, tzinfo=UTC)),
        ("2026-12-07t10:00:00z", datetime(2026, 12, 7, 10, tzinfo=UTC)),
        ("2026-12-07T10:00:00+03:00", datetime(2026, 12, 7, 7, tzinfo=UTC)),
        ("2026-12-07T23:30:00.25-01:00", datetime(2026, 12, 8, 0, 30, 0, 250000, tzinfo=UTC)),
        ("2026-12-07T10:00:00.123456Z", datetime(2026, 12, 7, 10, 0, 0, 123456, tzinfo=UTC)),
        ("2028-02-29T00:00:00Z", datetime(2028, 2, 29, tzinfo=UTC)),
    ],
)
def test_a_time_with_an_offset_is_one_moment_in_utc(text, moment):
    assert parse_time(text) == moment
    assert parse_time(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-12-07",
        "2026-12-07T10:00:00",
        "2026-12-07 10:00:00Z",
        "2026-12-07T10:00Z",
        "20261207T100000Z",
        "2026-W50-1T10:00:00Z",
        "2026-12-07T10:00:00Z ",
        "2026-12-07T10:00:00Z\n",
        "2026-12-07T10:00:00+0300",
        "2026-12-07T10:00:00+03:60",
        "2026-12-07T10:00:00+24:00",
        "2026-12-07T10:00:00,5Z",
        "2026-12-07T10:00:00.Z",
        "2026-12-07T10:00:00.1234567Z",
        "2026-12-07T24:00:00Z",
        "2026-12-07T23:59:60Z",
        "2026-02-30T10:00:00Z",
        "2026-13-01T10:00:00Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "٢٠٢٦-12-07T10:00:00Z",
        "1765101600",
    ],
)
def test_a_time_that_is_not_one_exact_moment_is_refused_with_what_to_send(text):
    with pytest.raises(BadTime) as refused:
        parse_time(text)
    assert refused.value.detail.endswith(".")


@settings(deadline=None)
@given(MOMENTS)
def test_every_moment_survives_being_written_and_read(moment):
    assert parse_time(moment.isoformat()) == moment


@settings(deadline=None)
@given(st.text())
def test_any_text_is_a_time_or_is_refused(text):
    with suppress(BadTime):
        assert parse_time(text).tzinfo is UTC


def test_an_interval_holds_at_its_start_and_not_at_its_end():
    june = Interval(JUNE, JULY)
    assert [june.contains(at) for at in (JUNE - TICK, JUNE, JULY - TICK, JULY)] == [False, True, True, False]


def test_an_open_side_has_no_limit():
    assert Interval().contains(MAY)
    assert Interval(start=JUNE).contains(AUGUST)
    assert not Interval(start=JUNE).contains(MAY)
    assert Interval(end=JUNE).contains(MAY)
    assert not Interval(end=JUNE).contains(JUNE)


@pytest.mark.parametrize(
    ("start", "end"), [(JUNE, JUNE), (JULY, JUNE), (JUNE, JUNE.astimezone(timezone(timedelta(hours=3))))]
)
def test_an_interval_without_a_moment_is_refused(start, end):
    with pytest.raises(BadInterval, match="later than the start"):
        Interval(start, end)


def test_neighbours_do_not_overlap():
    assert not Interval(MAY, JUNE).overlaps(Interval(JUNE, JULY))
    assert Interval(MAY, JUNE + TICK).overlaps(Interval(JUNE, JULY))
    assert Interval().overlaps(Interval(JUNE, JULY))
    assert not Interval(end=JUNE).overlaps(Interval(start=JUNE))


BOUNDS = st.none() | st.integers(0, 8).map(lambda day: MAY + timedelta(days=day))
INTERVALS = (
    st.tuples(BOUNDS, BOUNDS)
    .filter(lambda pair: None in pair or pair[0] < pair[1])
    .map(lambda pair: Interval(*pair))
)


@settings(deadline=None)
@given(INTERVALS, INTERVALS)
def test_two_intervals_overlap_when_some_moment_is_in_both(one, other):
    moments = [MAY + timedelta(days=day) for day in range(-1, 10)]
    assert one.overlaps(other) == any(one.contains(at) and other.contains(at) for at in moments)
    assert one.overlaps(other) == other.overlaps(one)


def as_known(
    known_at: datetime, lifecycle: str = "superseded", retired_at: datetime | None = JULY
) -> str | None:
    return lifecycle_at(known_at, lifecycle=lifecycle, recorded_at=JUNE, retired_at=retired_at)


def test_a_record_that_was_retired_later_was_active_when_it_was_known():
    assert [as_known(at) for at in (JUNE - TICK, JUNE, JULY - TICK, JULY)] == [
        None,
        "active",
        "active",
        "superseded",
    ]


def test_a_record_that_was_never_retired_is_what_it_is_now():
    assert as_known(AUGUST, "active", None) == "active"
    assert as_known(MAY, "active", None) is None


def test_an_erased_record_is_erased_in_every_past():
    assert as_known(JUNE, "erased") == "erased"
    assert as_known(MAY, "erased") is None
