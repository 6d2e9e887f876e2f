"""Whether recall finds what answers, on a small set of our own, and how sure that is.

Each question is asked of all the records, in both languages, as an agent asks without saying which. Intervals are of
the bootstrap: the questions are drawn again with replacement, and 95 % of the means so found lie between the two.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import log2
from pathlib import Path
from statistics import fmean
from typing import Any

from rank_bm25 import BM25Okapi

from tests.bench.rounds import Told, row

K = 10
DRAWS = 5_000
SEED = 20_261_201
SET = Path(__file__).parents[1] / "data/retrieval.json"

Ranking = Sequence[str]
Grades = Mapping[str, int]
Measure = Callable[[Ranking, Grades], float]


def recall(ranking: Ranking, grades: Grades) -> float:
    """Return which share of the records that are relevant at all stands among the first ten."""
    return len(set(ranking[:K]) & set(grades)) / len(grades)


def ndcg(ranking: Ranking, grades: Grades) -> float:
    """Return the discounted gain of the first ten, against that of the best order there is (Järvelin, Kekäläinen)."""
    return _gain([grades.get(id_, 0) for id_ in ranking[:K]]) / _gain(
        sorted(grades.values(), reverse=True)[:K]
    )


def _gain(grades: Sequence[int]) -> float:
    return sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(grades))


@row("recall@10 that is missed, on our own records in two languages", must=0.1)
def retrieval_recall() -> float:
    return _missed(recall, "recall@10")


@row("nDCG@10 that is missed, on the same records", must=0.15)
def retrieval_ndcg() -> float:
    return _missed(ndcg, "nDCG@10")


@row("recall@10 of split() less ours, paired, upper end of 95 %", must=0)
def retrieval_recall_against_split() -> float:
    return _behind(recall)


@row("nDCG@10 of split() less ours, paired, upper end of 95 %", must=0)
def retrieval_ndcg_against_split() -> float:
    return _behind(ndcg)


def _missed(measure: Measure, name: str) -> Told:
    values = _values(measure, ours())
    low, high = interval(values)
    return Told(1 - fmean(values), f"{name} {fmean(values):.3f}, 95 % between {low:.3f} and {high:.3f}")


def _behind(measure: Measure) -> Told:
    mine, theirs = _values(measure, ours()), _values(measure, split())
    gained = [one - other for one, other in zip(mine, theirs, strict=True)]
    low, high = interval(gained)
    words = f"split() {fmean(theirs):.3f}, ours {fmean(mine):.3f}: {fmean(gained):+.3f}"
    return Told(-low, f"{words}, 95 % between {low:+.3f} and {high:+.3f}")


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the bootstrap's 95 % interval of the mean of `values`, the same each time."""
    draw = random.Random(SEED)
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(DRAWS))
    return means[int(DRAWS * 0.025)], means[int(DRAWS * 0.975)]


def _values(measure: Measure, rankings: Sequence[Ranking]) -> list[float]:
    asked = _the_set()["queries"]
    return [measure(found, one["relevant"]) for found, one in zip(rankings, asked, strict=True)]


@cache
def ours() -> list[Ranking]:
    """Return for each question the ids that the search finds, best first. It takes no database, and no settings."""
    from memory.search import EmbeddedEngine, search
    from tests.support.records import ACME, RecordsInMemory, row

    records = _the_set()["records"]
    names = {row(number, "").id: record["id"] for number, record in enumerate(records)}
    corpus = RecordsInMemory(*(row(number, record["content"]) for number, record in enumerate(records)))
    engine = EmbeddedEngine()
    return [
        [names[hit.id] for hit in search(corpus, ACME, one["query"], limit=K, engine=engine).hits]
        for one in _the_set()["queries"]
    ]


@cache
def split() -> list[Ranking]:
    """Return the same from the same ranking over the words as `split()` gives them, in small letters."""
    records = _the_set()["records"]
    words = [record["content"].lower().split() for record in records]
    library = BM25Okapi(words)
    return [
        _best(library, words, records, set(one["query"].lower().split())) for one in _the_set()["queries"]
    ]


def _best(library: BM25Okapi, words: Sequence[list[str]], records: Any, asked: set[str]) -> Ranking:
    scores = library.get_scores(sorted(asked))
    hits = [at for at, its in enumerate(words) if asked & set(its)]
    return [records[at]["id"] for at in sorted(hits, key=lambda at: (-scores[at], at))[:K]]


@cache
def _the_set() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(SET.read_text(encoding="utf-8"))
    return read
