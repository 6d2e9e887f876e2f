"""Charts stay inside their frame and show whatever is there."""

from __future__ import annotations

from datetime import timedelta

import pytest

from review.views import charts

HOURS = [timedelta(hours=number) for number in range(1, 14)]


def test_a_bar_has_its_parts_side_by_side_and_a_small_one_is_still_seen() -> None:
    [row] = charts.bars([("Under 1 h", [("high", 1), ("medium", 0), ("low", 999)])])["rows"]
    high, low = row["parts"]
    assert (high["style"], low["style"], row["total"]) == ("high", "low", 1000)
    assert high["width"] >= 2
    assert low["x"] == high["x"] + high["width"] + 1
    assert row["end"] < charts.WIDTH


def test_a_column_stands_on_the_axis_and_leaves_room_for_its_number() -> None:
    column, empty = charts.columns(["1", "2"], [[("approved", 3), ("expired", 7)], []])["columns"]
    approved, expired = column["parts"]
    assert approved["y"] + approved["height"] == charts.BOTTOM - 1
    assert expired["y"] + expired["height"] == approved["y"] - 1
    assert 8 <= column["top"] < expired["y"]
    assert (empty["parts"], empty["total"]) == ([], 0)


def test_a_line_is_broken_where_nothing_was_decided() -> None:
    values = [HOURS[0], HOURS[1], None, HOURS[2]]
    [line] = charts.lines(list("abcd"), [("median", "median", values)], write=str)["lines"]
    assert [path.count(",") for path in line["paths"]] == [2, 1]
    assert len(line["marks"]) == 3
    assert all(charts.TOP <= mark["y"] <= charts.BOTTOM for mark in line["marks"])


def test_the_names_of_two_lines_do_not_stand_on_each_other() -> None:
    same = [HOURS[3], HOURS[3]]
    drawn = charts.lines(["a", "b"], [("median", "median", same), ("most", "90%", same)], write=str)["lines"]
    assert abs(drawn[0]["end"]["y"] - drawn[1]["end"]["y"]) >= charts.APART


def test_without_a_figure_there_is_an_empty_frame() -> None:
    assert charts.lines(["a"], [("median", "median", [None])], write=str)["lines"][0]["paths"] == []
    assert charts.bars([])["height"] == 0


@pytest.mark.parametrize("number", [1, 7, 13])
def test_labels_of_time_do_not_crowd(number: int) -> None:
    labels = charts.columns([str(one) for one in range(number)], [[("approved", 1)]] * number)["labels"]
    assert labels[0]["text"] == "0"
    assert len(labels) <= 7
    assert all(label["x"] < charts.WIDTH for label in labels)


@pytest.mark.parametrize("longest", [timedelta(seconds=1), timedelta(hours=13), timedelta(days=900)])
def test_the_scale_holds_the_longest(longest: timedelta) -> None:
    drawn = charts.lines(["a"], [("most", "90%", [longest])], write=str)
    assert drawn["lines"][0]["marks"][0]["y"] >= charts.TOP
    assert [line["y"] for line in drawn["grid"]] == [128, 70, 12]
