"""The eligible records of one scope, ready to be ranked. Not thread-safe: its owner holds a lock."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memory.domain.tokens import fold
from memory.search.contract import Hit, Mode, Query, Row
from memory.search.okapi import Okapi, Positions, taken

_HALF = 64
_LOW_BITS = (1 << _HALF) - 1
_START = datetime(1970, 1, 1, tzinfo=UTC)
_RECORD_WEIGHT, _TERM_WEIGHT = (
    250,
    30,
)  # bytes, measured: what a record takes, and each of its terms, without text


def plain(text: str) -> str:
    """`text` as substrings are compared: without case and accents, white space as single spaces."""
    return " ".join(fold(text).split())


class Index:
    """Records by position, with what ranks them."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.last: UUID | None = None
        self.weight = 0  # bytes, roughly
        self._okapi = Okapi()
        self._ids: list[UUID] = []
        self._id_halves = array("Q"), array("Q")
        self._recorded = array("q")
        self._texts: list[str] = []
        self.extend(rows)

    def __len__(self) -> int:
        return len(self._ids)

    def extend(self, rows: Iterable[Row]) -> None:
        """Add records that are not yet here."""
        for row in rows:
            self._add(row)

    def _add(self, row: Row) -> None:
        terms, text = row.tokens.split(), plain(row.content)
        self._okapi.add(terms)
        self._ids.append(row.id)
        high, low = self._id_halves
        high.append(row.id.int >> _HALF)
        low.append(row.id.int & _LOW_BITS)
        self._recorded.append(microseconds(row.recorded_at))
        self._texts.append(text)
        self.last = row.id if self.last is None else max(self.last, row.id)
        self.weight += _RECORD_WEIGHT + _TERM_WEIGHT * len(terms) + len(text)

    def rank(self, query: Query, mode: Mode, limit: int | None) -> list[Hit]:
        """At most `limit` hits (None: all), in the order of `mode`, equal ones by id."""
        if mode is Mode.BM25:
            positions, scores = self._okapi.scores(query.terms)
            best = self._first(positions, -scores, limit)
            return [Hit(self._ids[positions[at]], float(scores[at])) for at in best]
        positions = self._containing(query) if mode is Mode.SUBSTRING else self._related(query)
        newest = self._first(positions, -taken(self._recorded, positions), limit)
        return [Hit(self._ids[positions[at]], None) for at in newest]

    def _containing(self, query: Query) -> Positions:
        if not query.text:
            return np.zeros(0, dtype=np.intp)
        return np.array([at for at, text in enumerate(self._texts) if query.text in text], dtype=np.intp)

    def _related(self, query: Query) -> Positions:
        return np.arange(len(self)) if query.blank else self._okapi.sharing(query.terms)

    def _first(self, positions: Positions, keys: npt.NDArray[Any], limit: int | None) -> Positions:
        """Where in `positions` the first `limit` are, by ascending key, then by id."""
        within = np.arange(len(positions))
        if limit is not None and limit < len(positions):
            within = np.flatnonzero(keys <= np.partition(keys, limit - 1)[limit - 1])
        high, low = (taken(half, positions[within]) for half in self._id_halves)
        return within[np.lexsort((low, high, keys[within]))[:limit]]


def microseconds(moment: datetime) -> int:
    """`moment` as a number that compares and sorts like it."""
    return (moment - _START) // timedelta(microseconds=1)
