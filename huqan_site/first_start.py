"""The newcomer's first start: demo data in place, and a text that says what to do with it."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management import call_command

EXAMPLE = {
    "tool": "memory.write",
    "arguments": {
        "content": "The release train leaves on Thursdays at 14:00 UTC.",
        "provenance": {"kind": "user", "ref": "ticket-7"},
    },
}


def prepare() -> dict[str, Any]:
    """Migrate, load what the demo still lacks, and return `seed_demo --json`'s object.

    Raises: SystemExit in production mode.
    """
    if settings.PRODUCTION:
        sys.exit("HUQAN_MODE is production, and ./run loads demo people. Use ./run serve.")
    call_command("migrate", verbosity=0, interactive=False)
    printed = io.StringIO()
    call_command("seed_demo", "--json", stdout=printed)
    return dict(json.loads(printed.getvalue()))


def welcome(demo: dict[str, Any]) -> str:
    """Return the text of the first screen for `seed_demo --json`'s object."""
    return "\n".join(_lines(demo))


def _lines(demo: dict[str, Any]) -> Iterator[str]:
    yield f"\nHuqan review console  {demo['url']}\n"
    yield "People (name, password, what they may do):"
    for name, person in demo["people"].items():
        place = (
            f"{' and '.join(person['roles'])} in {person['workspace']}"
            if person["roles"]
            else "member of nothing"
        )
        yield f"  {name:<9}{person['password']:<25}{place}"
    token = demo["agents"]["scout"]["token"]
    yield f"\nToken of the agent scout (acme, owned by {demo['agents']['scout']['owner']}):\n  {token}"
    yield "\nMake a proposal appear in alice's queue:\n  " + curl(demo["url"], token)
    yield "\nStop: Ctrl-C    Fresh demo data: ./run reset    Test: ./run test\n"


def curl(url: str, token: str) -> str:
    """Return one shell line that proposes a memory as the agent with this token."""
    words = ["curl", "-sS", f"{url.rstrip('/')}/api/v1/proposals"]
    words += ["-H", f"Authorization: Bearer {token}", "-H", "Content-Type: application/json"]
    return shlex.join([*words, "-d", json.dumps(EXAMPLE)])
