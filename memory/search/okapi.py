"""The scores of rank-bm25's BM25Okapi, from postings: it can grow, and looks only at records with a term.

BM25Okapi counts every term in every record for each query and can only be built whole. Here each term
keeps its own list of (record, frequency), so scores cost what matches. Formula and parameters are the
library's, including the floor under the weight of very common terms, and so are the numbers (the tests
compare them). They are lifted from its quirks elsewhere: a hit is a record that shares a term, since
scores of zero and below are ordinary here.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi

Positions = npt.NDArray[np.intp]
Scores = npt.NDArray[np.float64]

_LIBRARY = BM25Okapi([["any"]])
K1: float = _LIBRARY.k1
B: float = _LIBRARY.b
EPSILON: float = _LIBRARY.epsilon


def taken(column: array[int], positions: Positions) -> npt.NDArray[Any]:
    """The values of `column` at `positions`. The view ends here: a viewed array cannot grow."""
    if not len(positions):
        return np.zeros(0, dtype=column.typecode)
    return np.frombuffer(column, dtype=column.typecode)[positions]


def plain_weight(records: int, found_in: int) -> float:
    """The inverse document frequency of a term found in `found_in` of `records`: below zero from the half on."""
    return math.log(records - found_in + 0.5) - math.log(found_in + 0.5)


def weight_floor(records: int, spread: Mapping[int, int]) -> float:
    """What a very common term weighs: EPSILON of the average weight over all terms.

    `spread` says how many terms are found in exactly n records: those weigh the same, so they are counted, not
    visited; and in one order however the records came together, for the same bits.
    """
    total = sum(spread[n] * plain_weight(records, n) for n in sorted(spread))
    return EPSILON * (total / sum(spread.values()))


def saturation(frequencies: Positions, lengths: npt.NDArray[Any], average: float) -> Scores:
    """By how much of its weight a term counts in records of these lengths that hold it so often; under K1 + 1."""
    grown: Scores = frequencies * (K1 + 1) / (frequencies + K1 * (1 - B + B * lengths / average))
    return grown


class Okapi:
    """BM25 statistics of a growing list of records, each known by its position in that list."""

    def __init__(self) -> None:
        self._lengths = array("I")
        self._total_length = 0
        self._postings: dict[str, array[int]] = {}  # term: position, frequency, position, frequency, ...
        self._spread = array("I", [0])  # at n: how many terms are found in exactly n records
        self._floor: float | None = None

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, terms: Sequence[str]) -> None:
        """Put one more record at the end."""
        position = len(self._lengths)
        self._lengths.append(len(terms))
        self._total_length += len(terms)
        self._spread.append(0)
        for term, frequency in Counter(terms).items():
            self._post(term, position, frequency)
        self._floor = None

    def _post(self, term: str, position: int, frequency: int) -> None:
        postings = self._postings.get(term)
        if postings is None:
            postings = self._postings[term] = array("I")
        else:
            self._spread[len(postings) // 2] -= 1
        postings.append(position)
        postings.append(frequency)
        self._spread[len(postings) // 2] += 1

    def sharing(self, terms: Iterable[str]) -> Positions:
        """Positions of the records with at least one of `terms`, ascending."""
        shared = np.zeros(len(self), dtype=bool)
        for positions, _ in self._found(terms):
            shared[positions] = True
        return np.flatnonzero(shared)

    def scores(self, terms: Iterable[str]) -> tuple[Positions, Scores]:
        """The records that share a term, by ascending position, and their scores.

        The two work arrays span all records, but are only written where a term was found.
        """
        total, shared = np.zeros(len(self)), np.zeros(len(self), dtype=bool)
        for positions, frequencies in self._found(terms):
            total[positions] += self._contribution(positions, frequencies)
            shared[positions] = True
        found = np.flatnonzero(shared)
        return found, total[found]

    def _found(self, terms: Iterable[str]) -> Iterable[tuple[Positions, Positions]]:
        for term in terms:
            if term in self._postings:
                pairs = np.array(self._postings[term], dtype=np.intp)
                yield pairs[0::2], pairs[1::2]

    def _contribution(self, positions: Positions, frequencies: Positions) -> Scores:
        """What one term adds to the score of each record that has it."""
        average = self._total_length / len(self)
        contribution: Scores = self._weight(len(positions)) * saturation(
            frequencies, taken(self._lengths, positions), average
        )
        return contribution

    def _weight(self, found_in: int) -> float:
        weight = plain_weight(len(self), found_in)
        return weight if weight >= 0 else self._weight_floor()

    def _weight_floor(self) -> float:
        if self._floor is None:
            spread = np.array(self._spread)
            self._floor = weight_floor(len(self), {int(n): int(spread[n]) for n in np.flatnonzero(spread)})
        return self._floor
