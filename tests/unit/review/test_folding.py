"""A long text around a change: what stands far from it is folded and counted, and nothing is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review.queries.bases import Base
from review.views.differences import FAR, LONG, NEAR, comparison

WORDS = "A line that the customer wrote. "


def new_side(old: str, new: str) -> dict[str, Any]:
    base = Base("1", json.dumps({"note": old}))
    [row] = comparison(base, json.dumps({"note": new}))["items_in_order"]
    return dict(row["new"])


def text_of(parts: list[dict[str, Any]]) -> str:
    return "".join(text for part in parts for _, text in part["runs"])


@pytest.mark.parametrize("place", [0, 2_000, 3_999])
def test_what_is_far_from_the_change_is_folded_with_its_count(place: int) -> None:
    old = (WORDS * 200)[:4_000]
    new = f"{old[:place]}X{old[place + 1 :]}"
    parts = new_side(old, new)["parts"]
    assert text_of(parts) == new
    assert all(part["folded"] == len(text_of([part])) for part in parts if part["folded"])
    assert sum(len(text_of([part])) for part in parts if not part["folded"]) < 4 * NEAR + len(WORDS)


def test_a_text_of_a_few_lines_is_not_folded() -> None:
    old = (WORDS * 200)[: NEAR + FAR]
    side = new_side(old, old + "X")
    assert side["parts"] is None and text_of([side]) == old + "X"


def test_a_long_value_shows_its_changes_first_and_stays_whole_below() -> None:
    old = WORDS * 300
    side = new_side(old, old + "X")
    assert side["long"] and len(old) > LONG
    assert text_of([side]) == old + "X"
    folded, near = side["lead"][-2:]
    assert folded["folded"] and text_of([near]).endswith("X")


def test_of_many_changes_in_a_long_value_the_first_are_shown_and_the_rest_is_counted() -> None:
    old = WORDS * 300
    side = new_side(old, old.replace("customer", "CUSTOMER"))
    *first, left_out = side["lead"]
    assert "CUSTOMER" in text_of(first)
    assert len(text_of(first)) + left_out["rest"] == len(old)
