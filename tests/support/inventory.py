"""Every address of the console, and what each kind of visitor is answered there.

The table that the tests compare with is `tests/data/routes.txt`. `ROUTES=write` writes it anew, for a
person to read line by line before it is checked in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from huqan_site.api import api
from memory.models import MemoryRecord, RecordConflict, Tombstone
from review.access.actors import AgentActor
from review.access.models import AgentToken, Delegation, Membership, User
from review.audit.models import Entry
from review.services.saved_view import save_view
from review.webhooks.models import Message, Webhook
from tests.support import factories
from tests.support.memory_acts import answer as reject
from tests.support.memory_acts import approve, doubtful, remember
from tests.support.review_acts import call
from tests.support.visitor import PROBLEM

TABLE = Path(__file__).parents[1] / "data" / "routes.txt"
API = "api/v1/"
SCOPES = ("propose", "read", "redeem")
MISSING = "00000000-0000-7000-8000-000000000000"


class Cell(NamedTuple):
    """What one visitor is answered: the status, and the code of the refusal where there is one."""

    status: int
    code: str = ""

    def __str__(self) -> str:
        return f"{self.status}{' ' if self.code else ''}{self.code}"


@dataclass(frozen=True)
class Row:
    """One method of one address, as the address book writes it."""

    method: str
    route: str

    @property
    def is_api(self) -> bool:
        return self.route.startswith(API)


Caller = Callable[[str, str], Any]
"""Takes a method and an address, and gives Django's response."""


def rows() -> Iterator[Row]:
    """Return every page with GET and POST, and every call of the API with the methods that it declares."""
    for route in sorted(set(_routes(get_resolver().url_patterns))):
        if not route.startswith(API) or route.endswith(("docs", "openapi.json")):
            yield from (Row(method, route) for method in ("GET", "POST"))
    for path, methods in sorted(api.get_openapi_schema()["paths"].items()):
        yield from (Row(method.upper(), path.lstrip("/")) for method in sorted(methods))


def _routes(patterns: Sequence[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    for entry in patterns:
        assert isinstance(entry.pattern, RoutePattern), entry
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from _routes(entry.url_patterns, route)
        else:
            yield route


class Town:
    """acme with something at every address, and one visitor of each kind."""

    def __init__(self) -> None:
        team = factories.team()
        self.team = team
        root = factories.person("root").user
        User.objects.filter(pk=root.pk).update(is_superuser=True, is_staff=True)
        self.pages: Mapping[str, Caller] = {
            "nobody": _page(),
            "token": _page(**factories.bearer(team.scout)),
            "superuser": _page(_signed_in(root)),
            "outsider": _page(_signed_in(team.mallory.user)),
            "reviewer": _page(_signed_in(team.alice.user)),
            "owner": _page(_signed_in(team.bob.user)),
            "manager": _page(_signed_in(team.dana.user)),
        }
        tokens = {
            scope: AgentActor(team.scout.agent, factories.token(team.scout.agent, team.dana, [scope]))
            for scope in SCOPES
        }
        self.calls: Mapping[str, Caller] = {
            "nobody": _call(),
            "session": _call(_signed_in(team.dana.user)),
            **{scope: _call(**factories.bearer(actor)) for scope, actor in tokens.items()},
            "foreign": _call(**factories.bearer(team.prowler)),
        }
        self.objects = _objects(team)

    def callers(self, row: Row) -> Mapping[str, Caller]:
        return self.calls if row.is_api else self.pages

    def address(self, row: Row, *, missing: bool = False) -> str:
        """Fill in what stands at that address in acme, or what stands nowhere."""
        route = "/" + row.route
        for name, value in self.objects.items():
            route = route.replace(name, MISSING if missing and len(value) == len(MISSING) else value)
        assert not set("<>{}") & set(route), f"Say in {__name__} what stands at {row.route}."
        return route

    def answer(self, row: Row, caller: Caller, *, missing: bool = False) -> Cell:
        """Call, and let nothing of it last."""
        with undone():
            answer = caller(row.method, self.address(row, missing=missing))
            return Cell(answer.status_code, _code(answer))


def _objects(team: factories.Team) -> dict[str, str]:
    """Return what fills each variable part of an address; the longest names first, as a part may hold another."""
    waiting, held = call(team.scout), doubtful(team.scout, "The staging port is 7000.")
    about = {"subject": "staging port", "predicate": "is"}
    kept = approve(remember(team.scout, "The staging port is 7443.", **about), team.alice)
    approve(remember(team.scout, "The staging port is 7445.", **about), team.alice)
    record = MemoryRecord.objects.get(proposal=kept)
    reject(team.carol, remember(team.scout, "The staging port is 7444."), "reject", tombstone=True)
    entry = Entry.objects.filter(workspace=team.acme.id).earliest("seq")
    Delegation.objects.create(
        agent=team.scout.agent, person=team.bob.person, since=team.scout.agent.created_at
    )
    webhook = Webhook.objects.create(
        agent=team.scout.agent,
        url="https://hook.example/",
        secret="sealed",
        registered_by=team.dana.person,
        created_at=team.acme.created_at,
    )
    message = Message.objects.create(
        webhook=webhook,
        type="test",
        body="{}",
        created_at=team.acme.created_at,
        given_up_at=team.acme.created_at,
    )
    membership = Membership.objects.get(person=team.alice.person)
    saved = save_view("Kuzey 7", "risk=high", by=team.alice)
    return {
        "quarantine/<uuid:id>": f"quarantine/{held.id}",
        "<uuid:proposal_id>": str(held.id),
        "<uuid:id>": str(waiting.id),
        "{id}": str(waiting.id),
        "{record_id}": str(record.id),
        "<uuid:record_id>": str(record.id),
        "<uuid:agent>": str(team.scout.agent.id),
        "<uuid:token>": str(AgentToken.objects.filter(agent=team.scout.agent).earliest("id").id),
        "<uuid:membership>": str(membership.id),
        "<int:delegation>": str(Delegation.objects.get().id),
        "<int:count>": "7",
        "<int:view>": str(saved.id),
        "<int:seq>": str(entry.seq),
        "<slug:code>": "self_approval",
        "<slug:slug>": "review",
        "<slug:channel>": "mail",
        "<str:secret>": "no-such-secret",
        "<uuid:tombstone_id>": str(Tombstone.objects.get().id),
        "<uuid:conflict_id>": str(RecordConflict.objects.get().id),
        "<uuid:person>": str(team.bob.person.id),
        "<str:username>": team.bob.user.username,
        "<uuid:webhook>": str(webhook.id),
        "<uuid:message>": str(message.id),
    }


def _signed_in(user: User) -> SimpleCookie:
    client = Client()
    client.force_login(user)
    return client.cookies


def _page(cookies: SimpleCookie | None = None, **headers: str) -> Caller:
    """Each call comes from a browser of its own, so that signing out in one signs nobody else out."""

    def call(method: str, path: str) -> Any:
        client = Client()
        client.cookies.update(cookies or {})
        return client.generic(method, path, **headers)

    return call


def _call(cookies: SimpleCookie | None = None, **headers: str) -> Caller:
    """An empty object is well-formed JSON, and asks for nothing: who may not call is told so all the same."""

    def call(method: str, path: str) -> Any:
        client = Client()
        client.cookies.update(cookies or {})
        body = b"{}" if method == "POST" else b""
        return client.generic(method, path, body, content_type="application/json", **headers)

    return call


def _code(answer: Any) -> str:
    if answer.headers.get("Content-Type") == "application/problem+json":
        return str(answer.json()["code"])
    if answer.status_code == 302 and answer.headers["Location"].startswith("/accounts/login/"):
        return "sign_in"
    if answer.status_code < 400 or answer.streaming:
        return ""
    found = PROBLEM.search(answer.content.decode())
    return found[1] if found else ""


def checked_in() -> dict[Row, dict[str, Cell]]:
    """Return the table as it was last read by a person."""
    answers = {}
    for block in TABLE.read_text().split("\n\n"):
        head, *lines = ([cell for cell in re.split(r" {2,}", line) if cell] for line in block.splitlines())
        for method, route, *cells in lines:
            parted = (cell.partition(" ") for cell in cells)
            told = [Cell(int(status), code) for status, _, code in parted]
            answers[Row(method, route.removeprefix("/") if route == "/" else route)] = dict(
                zip(head, told, strict=True)
            )
    return answers


@contextmanager
def undone() -> Iterator[None]:
    """Take back whatever the block wrote. No `atomic`: the doors open a durable one of their own."""
    before = transaction.savepoint()
    yield
    transaction.savepoint_rollback(before)


def table(answers: Mapping[Row, Mapping[str, Cell]]) -> str:
    """Return the answers as text: for pages and for the API one block each, a column a visitor."""
    blocks = [{row: cells for row, cells in answers.items() if row.is_api is kind} for kind in (False, True)]
    return "\n\n".join(_block(block) for block in blocks) + "\n"


def _block(answers: Mapping[Row, Mapping[str, Cell]]) -> str:
    visitors = next(iter(answers.values()))
    lines = [["", "", *visitors]]
    lines += [[row.method, row.route or "/", *map(str, cells.values())] for row, cells in answers.items()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
