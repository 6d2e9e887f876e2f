"""What a log of a million entries costs: to verify, to append to, to page through and to prove from."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

from tests.bench.rounds import row

ENTRIES = 1_000_000


@row("verify a million entries against only fetching them, 3 rounds", must=2.5)
def verify_log() -> float:
    return _measured()["ratio"]


@row("MB of memory that verifying a million entries adds", must=50)
def verify_memory() -> float:
    return _measured()["growth"]


@row("slowest page of a filtered log of a million entries against the same of ten thousand", must=2)
def log_pages() -> float:
    return _measured()["page"]


@row("append to a log of a million entries against one of ten thousand, computing, p50", must=2)
def log_append() -> float:
    return _measured()["append"]


@row("prove the oldest of a million entries against that of ten thousand, p50", must=2)
def log_proof() -> float:
    return _measured()["proof"]


@cache
def _measured() -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.long_log", str(ENTRIES)]
    told: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return told
