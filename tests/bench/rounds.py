"""How a number is measured: variants take turns, so that a busy machine slows them all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

ROUNDS = 7
_rows: dict[str, Row] = {}


class Told(float):
    """A number, and in words what else a reader should know of it."""

    words: str

    def __new__(cls, value: float, words: str) -> Told:
        told = super().__new__(cls, value)
        told.words = words
        return told


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio, the most it may be, and what it should come to (None: no bound)."""

    name: str
    what: str
    must: float | None
    aim: float | None
    measure: Callable[[], float]

    def breaks(self, measured: float) -> bool:
        """Return whether `measured` is more than this number may be."""
        return self.must is not None and measured > self.must

    def verdict(self, measured: float) -> str:
        """Return in words what `measured` is against the bounds, and what else it says."""
        more = f"; {measured.words}" if isinstance(measured, Told) else ""
        return self._against_bounds(measured) + more

    def _against_bounds(self, measured: float) -> str:
        if self.breaks(measured):
            return f"falls short of what it must be: {measured:.4g}, at most {self.must:g}"
        if self.aim is not None and measured > self.aim:
            return f"holds, short of its aim: {measured:.4g}, aimed at {self.aim:g}"
        return "no bound" if self.must is None else "holds"


def row(
    what: str, must: float | None = None, aim: float | None = None
) -> Callable[[Callable[[], float]], Callable[[], float]]:
    """Register the decorated function, which returns a ratio, as a line of the table."""

    def register(measure: Callable[[], float]) -> Callable[[], float]:
        _rows[measure.__name__] = Row(measure.__name__, what, must, aim, measure)
        return measure

    return register


def rows() -> Mapping[str, Row]:
    """Return every registered line by the name of its function."""
    return _rows


def seconds(call: Callable[[], object], times: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that one call takes by `clock`, on average over `times` calls."""
    start = clock()
    for _ in range(times):
        call()
    return (clock() - start) / times


def ratio(ours: Callable[[], object], theirs: Callable[[], object], times: int = 200) -> float:
    """Return how much more computing `ours` takes than `theirs`: the median over interleaved rounds.

    It counts the processor's time, for both wait for nothing but a busy machine.
    """
    seconds(ours, 3), seconds(theirs, 3)  # caches and lazy imports are not what is measured
    clock = time.process_time
    return median(seconds(ours, times, clock) / seconds(theirs, times, clock) for _ in range(ROUNDS))
