"""What recall costs, and whether it is right, in a memory of a hundred thousand records. See `memories`."""

from __future__ import annotations

import subprocess
import sys

from tests.bench.rounds import row


@row("memory query, p95, 100,000 records of which 8,000 eligible, against an FTS5 join", must=0.5, aim=0.05)
def memory_query() -> float:
    return _measured("query")


@row("largest difference of a score from BM25Okapi's on the eligible records, any engine", must=1e-9)
def memory_scores() -> float:
    return _measured("scores")


@row("first query after another process's append against a warm one, p50", must=3)
def memory_after_an_append() -> float:
    return _measured("after_an_append")


@row("stale answers in 1,000, just after another process's commit", must=0)
def memory_stale() -> float:
    return _measured("stale")


@row("search at 40,000 eligible records, p50: by FTS5's candidates against the embedded engine, warm")
def memory_engines() -> float:
    return _measured("engines")


def _measured(name: str) -> float:
    """Measure in a process of its own, with its own database: nothing of one row slows the next."""
    command = [sys.executable, "-m", "tests.bench.memories", name]
    return float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1])
