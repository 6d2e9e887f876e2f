"""What reading and binding a body costs."""

from __future__ import annotations

import json
import time
from statistics import median
from typing import Any

from huqan_site.lib.canonical_json import digest
from huqan_site.lib.strict_json import read
from tests.bench.rounds import ROUNDS, ratio, row, seconds
from tests.support.console import Console

POSTS = 40


def arguments(number: int) -> dict[str, Any]:
    """Return a memory of an everyday size: two sentences and its source."""
    content = f"The staging port is {number}. Ask the platform team before you change it."
    return {"content": content, "provenance": {"kind": "user", "ref": f"ticket-{number}"}}


@row("strict reader against json.loads, a body of 8 KiB")
def reader() -> float:
    body = json.dumps({"tool": "memory.write", "arguments": [arguments(n) for n in range(48)]}).encode()
    return ratio(lambda: read(body), lambda: json.loads(body))


@row("canonicalise and hash, share of POST a proposal p50", must=0.15)
def binding() -> float:
    with Console() as console:
        agent, shares = console.agent(), []
        for turn in range(ROUNDS):
            posts = []
            for number in range(turn * POSTS, (turn + 1) * POSTS):
                start = time.perf_counter()
                answer = agent.propose("memory.write", arguments(number))
                posts.append(time.perf_counter() - start)
                assert answer.status == 201, answer.body
            shares.append(seconds(lambda turn=turn: digest(arguments(turn)), 500) / median(posts))
        return median(shares)
