"""The long share of the hostile requests: a hundred thousand, from a seed that nobody has seen before."""

from __future__ import annotations

import os
import random
from functools import cache

from tests.bench.rounds import row
from tests.faults.barrage import Volley, fire, whole
from tests.faults.house import House

SHOTS = int(os.environ.get("HOSTILE_SHOTS", "100000"))
MEGABYTE = 1024 * 1024


@row(f"of {SHOTS:,} hostile requests: answered 5xx, slowly or without a problem, or half done", must=0)
def hostile() -> float:
    return len(_volley().faults)


@row("megabytes that the servers grew by in the last two thirds of them", must=50, aim=16)
def hostile_memory() -> float:
    return _volley().grown / MEGABYTE


@cache
def _volley() -> Volley:
    seed = int(os.environ.get("HOSTILE_SEED", random.randrange(10**9)))
    print(f"HOSTILE_SEED={seed} repeats this.", flush=True)
    with House(None) as house:
        before = house.rows("SELECT COUNT(*) FROM review_proposal")[0][0]
        volley = fire(house, SHOTS, seed)
        made = house.rows("SELECT COUNT(*) FROM review_proposal")[0][0] - before
        faults = [*volley.faults, *whole(house)]
        if made != volley.made:
            faults.append(f"{volley.made} proposals were acknowledged, {made} are there")
        if house.manage("verify_audit", check=False).returncode:
            faults.append("the log does not verify")
        print("\n".join(faults[:50]))
        return volley._replace(faults=faults)
