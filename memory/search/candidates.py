"""The engine for many records: the database says which ones hold a term, and only those are looked at.

Nothing is kept between two questions but one number a scope, so the first question after a start or a retraction
costs what every other does. Scores are the embedded engine's, bit for bit: the same formula over the same counts.

A record that holds only common terms cannot overtake `limit` records with rare ones. So the rarest terms are looked
up first, and the rest only while they could still change the answer (MaxScore, Turtle and Flood 1995).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from uuid import UUID

import numpy as np

from memory.search.contract import Candidate, Epoch, Hit, Indexed, Mode, Query, Statistics
from memory.search.index import microseconds, plain
from memory.search.okapi import K1, plain_weight, saturation, weight_floor

MOST_SCOPES = 1024  # of which the one number is kept
FIRST_LOOK = 1_000  # records, about: then whatever is as many again, times GROWTH
GROWTH = 8
CHUNK = 2_000  # records that are scored together
ROUNDING = 1e-9


class CandidateEngine:
    """BM25, substring and recency, asking the index called `name` anew each time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._floors: dict[UUID, tuple[Epoch | None, float]] = {}

    def rank(self, corpus: Indexed, scope: UUID, query: Query, mode: Mode, limit: int | None) -> list[Hit]:
        """See `Engine.rank`. Raises: IndexUnusable."""
        if mode is Mode.BM25:
            return self._best(corpus, scope, query.terms, limit)
        if mode is Mode.SUBSTRING:
            return _newest(_containing(corpus, scope, query.text), limit)
        if query.blank:
            return [Hit(id_, None) for id_ in corpus.newest(scope, limit)]
        return _newest(corpus.sharing(scope, query.terms), limit)

    def _best(self, corpus: Indexed, scope: UUID, terms: Sequence[str], limit: int | None) -> list[Hit]:
        statistics = corpus.statistics(scope, terms)
        weights = self._weights(corpus, scope, statistics)
        best: list[Hit] = []
        seen: set[str] = set()
        for batch in _rarest_first(statistics.found_in, limit):
            for chunk in _chunks(corpus.sharing(scope, batch)):
                best = _first([*best, *_scored(chunk, weights, statistics, seen)], limit)
            seen.update(batch)
            if len(best) == limit and _reach(weights, seen) < (best[-1].score or 0):
                break
        return best

    def _weights(self, corpus: Indexed, scope: UUID, statistics: Statistics) -> dict[str, float]:
        """The weight of each term that is found, in the order in which contributions are added up."""
        plain_weights = {
            term: plain_weight(statistics.records, found_in)
            for term, found_in in sorted(statistics.found_in.items())
        }
        return {
            term: weight if weight >= 0 else self._floor(corpus, scope, statistics.records)
            for term, weight in plain_weights.items()
        }

    def _floor(self, corpus: Indexed, scope: UUID, records: int) -> float:
        """The one number that takes all terms of a scope to know; kept for as long as its epoch is."""
        epoch = corpus.epoch(scope)
        kept_at, floor = self._floors.get(scope, (None, 0.0))
        if kept_at != epoch:
            floor = weight_floor(records, corpus.spread(scope))
            if len(self._floors) >= MOST_SCOPES:
                self._floors.clear()
            self._floors[scope] = epoch, floor
        return floor


def _rarest_first(found_in: Mapping[str, int], limit: int | None) -> Iterator[list[str]]:
    """Yield the terms in batches, each found in some times as many records as the one before; at once without limit."""
    size, room, batch = 0, FIRST_LOOK, list[str]()
    for term in sorted(found_in, key=lambda term: (found_in[term], term)):
        if batch and limit is not None and size + found_in[term] > room:
            yield batch
            size, room, batch = 0, room * GROWTH, []
        batch.append(term)
        size += found_in[term]
    if batch:
        yield batch


def _reach(weights: Mapping[str, float], seen: set[str]) -> float:
    """More than the score of any record that holds none of `seen`."""
    return sum(max(0.0, weights[term]) for term in weights if term not in seen) * (K1 + 1) * (1 + ROUNDING)


def _scored(
    chunk: Sequence[Candidate], weights: Mapping[str, float], statistics: Statistics, seen: set[str]
) -> Iterator[Hit]:
    """Yield the records of `chunk` that hold a term, but none of `seen`: those have had their turn."""
    wanted, words = weights.keys(), [candidate.tokens.split() for candidate in chunk]
    found: dict[str, list[tuple[int, int]]] = {term: [] for term in weights}
    for at, its in enumerate(words):
        if seen.isdisjoint(its):
            for term in wanted & set(its):
                found[term].append((at, its.count(term)))
    lengths = np.array([len(its) for its in words])
    total, shared = np.zeros(len(chunk)), np.zeros(len(chunk), dtype=bool)
    for term, pairs in found.items():
        if pairs:
            positions, frequencies = np.array(pairs, dtype=np.intp).T
            average = statistics.words / statistics.records
            total[positions] += weights[term] * saturation(frequencies, lengths[positions], average)
            shared[positions] = True
    return (Hit(chunk[at].id, float(total[at])) for at in np.flatnonzero(shared).tolist())


def _containing(corpus: Indexed, scope: UUID, text: str) -> Iterator[Candidate]:
    """Yield the records that contain `text`. No index of words helps: all are read, one after the other."""
    if text:
        for id_, tokens, content, recorded_at in corpus.eligible(scope):
            if text in plain(content):
                yield Candidate(id_, tokens, recorded_at)


def _newest(found: Iterable[Candidate], limit: int | None) -> list[Hit]:
    dated = ((-microseconds(candidate.recorded_at), candidate.id) for candidate in found)
    return [Hit(id_, None) for _, id_ in (sorted(dated) if limit is None else nsmallest(limit, dated))]


def _first(hits: list[Hit], limit: int | None) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-(hit.score or 0), hit.id))[:limit]


def _chunks(candidates: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    rest = iter(candidates)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
