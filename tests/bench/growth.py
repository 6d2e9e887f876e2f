"""Whether deciding stays as quick as it was: with many memories, and with many proposals that wait."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median

from tests.bench.copies import copied
from tests.bench.rounds import ROUNDS, row
from tests.bench.server import Posting, Reviewer, timed
from tests.support.console import Console

FEW, MANY = 100, 10_000
DECIDED = 5  # approvals timed in a round

Fill = Callable[[Path, str, int], None]


@row("approve a memory write with 10,000 memories against 100, p50", must=1.2, aim=1.0)
def decide_among_memories() -> float:
    return _growth(_memories)


@row("approve a memory write with 10,000 proposals waiting against 100, p50", must=1.2, aim=1.0)
def decide_among_waiting() -> float:
    return _growth(_waiting)


def _growth(fill: Fill) -> float:
    with ExitStack() as stack:
        few, many = (_Decider(stack.enter_context(Console()), fill, count) for count in (FEW, MANY))
        return median(many.p50() / few.p50() for _ in range(ROUNDS))


class _Decider:
    """Alice at a console whose tables were filled with `count` rows."""

    def __init__(self, console: Console, fill: Fill, count: int) -> None:
        self._post, self._alice = Posting(console.agent()), Reviewer(console, "alice")
        model = self._post()
        self._alice.send(*self._alice.form(model))
        fill(console.folder / "huqan.sqlite3", self._post().replace("-", ""), count)

    def p50(self) -> float:
        """Return the median of the seconds that an approval in the form takes."""
        forms = [self._alice.form(self._post()) for _ in range(DECIDED)]
        return median(timed(lambda form=form: self._alice.send(*form)) for form in forms)


def _waiting(path: Path, model: str, count: int) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        copied(database, "review_proposal", model, count, {})
        database.execute("ANALYZE")


def _memories(path: Path, model: str, count: int) -> None:
    """Copies of the newest memory, each with another value."""
    with closing(sqlite3.connect(path)) as database, database:
        [newest] = database.execute("SELECT id FROM memory_memoryrecord ORDER BY id DESC LIMIT 1").fetchone()
        copied(
            database,
            "memory_memoryrecord",
            newest,
            count,
            {"value_key": "model.value_key || printf('%d', n)"},
        )
        database.execute("ANALYZE")
