"""The set with which recall is measured means what it says, and the measures count as they should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.quality import SET, interval, ndcg, ours, recall, split
from tests.support import tracked

READ = json.loads(Path(SET).read_text(encoding="utf-8"))


def test_every_question_is_answered_by_records_of_the_set() -> None:
    ids = [record["id"] for record in READ["records"]]
    assert len(ids) == len(set(ids)) == 60
    assert len(READ["queries"]) >= 40
    for asked in READ["queries"]:
        assert asked["relevant"] and set(asked["relevant"]) <= set(ids), asked
        assert set(asked["relevant"].values()) <= {1, 2}
    assert {record["lang"] for record in READ["records"]} == {"en", "tr"}


def test_the_set_is_shipped() -> None:
    assert SET in tracked.files()


@pytest.mark.parametrize(
    ("ranking", "found", "gained"),
    [
        (["a", "b"], 1, 1),
        (["b", "a"], 1, 0.797),
        (["x", "a"], 0.5, 0.521),
        (["x"] * 10 + ["a"], 0, 0),
        ([], 0, 0),
    ],
)
def test_the_measures_count_what_stands_among_the_first_ten(
    ranking: list[str], found: float, gained: float
) -> None:
    grades = {"a": 2, "b": 1}
    assert recall(ranking, grades) == found
    assert ndcg(ranking, grades) == pytest.approx(gained, abs=1e-3)


def test_an_interval_is_about_the_mean_and_the_same_each_time() -> None:
    values = [0.0, 1.0] * 50
    low, high = interval(values)
    assert 0.35 < low < 0.5 < high < 0.65
    assert interval(values) == (low, high)
    assert interval([1.0] * 9) == (1.0, 1.0)


def test_our_terms_find_more_than_split_words() -> None:
    """Not how good it is, which the bench says: only that nothing has taken the stems or the folding away."""
    relevant = [asked["relevant"] for asked in READ["queries"]]
    mine, theirs = (sum(map(recall, rankings, relevant)) / len(relevant) for rankings in (ours(), split()))
    assert mine > theirs + 0.2
