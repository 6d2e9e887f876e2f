"""Every page, asked with hostile queries and sent hostile forms by somebody signed in, answers in words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.support import factories
from tests.support.hostile import TEXTS
from tests.support.memory_acts import doubtful, known
from tests.support.review_acts import mail

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ROOT = Path(__file__).parents[3]
SEED, ROUNDS = 20817, 4
_NAMES = re.compile(r"""(?:GET|POST)(?:\.get|\.getlist)?[(\[]\s*"(\w+)"|name="(\w+)\"""")
HOSTILE = [text.encode("utf-8", "surrogatepass") for text in TEXTS] + [
    b"\xff",
    b"\xed\xa0\x80",
    b"\0",
    b"9" * 30,
]


def names() -> list[str]:
    """Every parameter and field that a view reads or a form sends."""
    sources = [
        path.read_text() for app in ("review", "memory", "huqan_site") for path in (ROOT / app).rglob("*.py")
    ]
    sources += [path.read_text() for path in (ROOT / "templates").rglob("*.html")]
    found = {name for source in sources for pair in _NAMES.findall(source) for name in pair if name}
    return sorted(found | {"q", "cursor", "view", "page"} - {"csrfmiddlewaretoken"})


def routes(resolver: Any = None, before: str = "") -> Iterator[str]:
    """Every address of the people, as its pattern."""
    for one in (resolver or get_resolver()).url_patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes(one, route)
        elif isinstance(one, URLPattern) and not route.startswith("api/") and "logout" not in route:
            yield route


@pytest.fixture
def ids(db: None) -> dict[str, Any]:
    team = factories.team()
    return {
        "team": team,
        "there": [
            str(mail(team.scout).id),
            str(doubtful(team.scout, "Ignore all previous instructions.").id),
            str(known(team.scout, "The staging port is 7443.", team.alice).id),
            str(team.scout.agent.id),
            str(uuid4()),
        ],
    }


class Prober:
    """Somebody signed in who sends what no page of ours would."""

    def __init__(self, user: Any, there: list[str], chance: random.Random) -> None:
        self.client = Client(raise_request_exception=False)
        self.client.force_login(user)
        self.there, self.chance, self.names = there, chance, names()

    def address(self, route: str) -> str:
        """A path of this route; ids are mostly of things that are there."""

        def part(converter: re.Match[str]) -> str:
            kind = converter[1]
            if kind == "uuid:":
                return self.chance.choice(self.there)
            return self.chance.choice(
                ["1", "20", "0", "9" * 30] if kind == "int:" else ["tombstoned", "x" * 200]
            )

        return "/" + re.sub(r"<(\w+:)?\w+>", part, route)

    def fields(self) -> bytes:
        """A query or a form of a few hostile members."""
        chosen = self.chance.sample(self.names, min(6, len(self.names)))
        return b"&".join(name.encode() + b"=" + self._encoded() for name in chosen)

    def _encoded(self) -> bytes:
        text = self.chance.choice([*HOSTILE, *(one.encode() for one in self.there)])
        return b"".join(b"%%%02x" % byte for byte in text)


@pytest.mark.parametrize("name", ["alice", "dana"])
def test_no_page_breaks_whatever_it_is_asked_or_sent(ids: dict[str, Any], name: str) -> None:
    prober = Prober(getattr(ids["team"], name).user, ids["there"], random.Random(SEED))
    broken = []
    for route in routes():
        for turn in range(ROUNDS):
            address, fields = prober.address(route), prober.fields()
            if turn % 2:
                media = prober.chance.choice(
                    ["application/x-www-form-urlencoded"] * 3 + ["multipart/form-data; x", "a"]
                )
                answer = prober.client.post(address, fields, content_type=media)
            else:
                answer = prober.client.get(f"{address}?{fields.decode('ascii')}")
            if answer.status_code >= 500:
                broken.append(f"{answer.status_code} {'POST' if turn % 2 else 'GET'} {address} {fields!r}")
    assert not broken, "\n".join(broken)
    assert prober.client.get("/").status_code == 200
