"""The long share of what the tests do briefly: ten thousand rounds of every race, a hundred kills."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import traceback
from functools import cache
from typing import NamedTuple

from tests.bench.rounds import row
from tests.faults.burst import Burst
from tests.faults.house import House
from tests.support import postgres
from tests.support.suite import on_postgres

RACES = 10_000
KILLS = 100


@row("races of 10,000 rounds each that did not go as they must, SQLite", must=0)
def races() -> float:
    command = [sys.executable, "-m", "pytest", "tests/db/races", "-q"]
    return float(subprocess.run(command, env={**os.environ, "RACE_ROUNDS": str(RACES)}).returncode)


@row("races of 10,000 rounds each that did not go as they must, PostgreSQL", must=0)
def races_on_postgresql() -> float:
    os.environ["RACE_ROUNDS"] = str(RACES)
    try:
        return float(on_postgres(["tests/db/races", "-q"]))
    finally:
        del os.environ["RACE_ROUNDS"]


@row("of 100 kills in a burst: something acknowledged lost, done twice, or the chain broken, SQLite", must=0)
def kills() -> float:
    return _kills(on_postgresql=False).faults


@row(
    "of 100 kills in a burst: something acknowledged lost, done twice, or the chain broken, PostgreSQL",
    must=0,
)
def kills_on_postgresql() -> float:
    return _kills(on_postgresql=True).faults


@row("seconds until ready again after a kill, the longest of 100, SQLite", must=5)
def ready_after_a_kill() -> float:
    return _kills(on_postgresql=False).longest


class Killed(NamedTuple):
    """In how many rounds something was wrong, and how many seconds the slowest start took."""

    faults: int
    longest: float


@cache
def _kills(*, on_postgresql: bool) -> Killed:
    if not on_postgresql:
        with House(None) as house:
            return _kill(house)
    with postgres.server() as cluster, House(cluster) as house:
        return _kill(house)


def _kill(house: House) -> Killed:
    rounds = [_round(house) for _ in range(KILLS)]
    is_whole = house.manage("verify_audit", check=False).returncode == 0
    faults = sum(not lasted for lasted, _ in rounds) + (not is_whole)
    return Killed(faults, max(seconds for _, seconds in rounds))


def _round(house: House) -> tuple[bool, float]:
    burst = Burst(house)
    burst.run(random.uniform(0, 1.5))
    seconds = house.until_ready()
    try:
        burst.must_have_lasted()
    except AssertionError:
        traceback.print_exc()
        return False, seconds
    return True, seconds
