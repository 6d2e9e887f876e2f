"""No call of the API gives an agent anything of what is hidden from it, in whatever way it is hidden.

Every call that the route table has stands in CALLS: a new one fails here until it is said how it is asked. The agent
that asks works beside the one that brought the hidden text; that one may see its own proposals, and nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.test import Client
from django.utils import timezone

from huqan_site.api import api
from memory.gateway.ask import ask
from memory.models import MemoryRecord
from review.access.actors import AgentActor
from tests.support import factories
from tests.support.factories import Team, bearer
from tests.support.memory_acts import approve, asked, doubtful, known, reject, remember

MARK = "zebrafinch"  # no id and no digest can hold it
HIDDEN = f"The staging port is behind {MARK}."
ABOUT = {"subject": "staging port", "predicate": "is"}
SOON = (timezone.now() + timedelta(days=1)).isoformat()


class Asked(NamedTuple):
    """One way to make a call: its address and its body, in which `{record}` and `{proposal}` are of what is hidden."""

    path: str
    body: Mapping[str, Any] | None = None


def _query(**members: Any) -> Asked:
    return Asked("/api/v1/memory/query", members)


READS: Mapping[str, list[Asked]] = {
    "POST /api/v1/memory/query": [
        _query(query="staging port"),
        _query(query="staging port", lang="tr"),
        _query(query="port is", mode="substring"),
        _query(query="", mode="recency", limit=100),
        _query(query="staging port", known_at=SOON),
        _query(query="staging port", as_of="2020-01-01T00:00:00Z"),
    ],
    "POST /api/v1/memory/context": [Asked("/api/v1/memory/context", {"query": "staging port"})],
    "GET /api/v1/memory/records/{record_id}": [
        Asked("/api/v1/memory/records/{record}"),
        Asked("/api/v1/memory/records/{record}?known_at=" + SOON.replace("+", "%2B")),
    ],
}
"""The calls that give memory: what is not hidden is in the answer of each of them."""

A_NEIGHBOUR = {"content": "Which port is staging on?", "provenance": {"kind": "user"}, **ABOUT}
OTHERS: Mapping[str, list[Asked]] = {
    "GET /api/v1/me": [Asked("/api/v1/me")],
    "POST /api/v1/proposals": [
        Asked("/api/v1/proposals", {"tool": "memory.write", "arguments": A_NEIGHBOUR}),
        *(
            Asked("/api/v1/proposals", {"tool": tool, "arguments": {"record": "{record}", **more}})
            for tool, more in {
                "memory.retract": {"reason": "It moved."},
                "memory.archive": {},
                "memory.restore": {},
                "memory.supersede": {"content": "It is closed."},
            }.items()
        ),
        Asked(
            "/api/v1/proposals",
            {
                "tool": "memory.write",
                "arguments": {
                    "content": "It is open.",
                    "provenance": {"kind": "user", "derived_from": ["{record}"]},
                },
            },
        ),
    ],
    "GET /api/v1/proposals": [Asked("/api/v1/proposals"), Asked("/api/v1/proposals?tool=memory.write")],
    "GET /api/v1/proposals/{id}": [Asked("/api/v1/proposals/{proposal}")],
    "POST /api/v1/proposals/{id}/revisions": [
        Asked("/api/v1/proposals/{proposal}/revisions", {"revision": 1, "arguments": A_NEIGHBOUR})
    ],
    "POST /api/v1/proposals/{id}/withdraw": [Asked("/api/v1/proposals/{proposal}/withdraw", {})],
    "POST /api/v1/proposals/{id}/redeem": [
        Asked("/api/v1/proposals/{proposal}/redeem", {"arguments": A_NEIGHBOUR})
    ],
    "POST /api/v1/permits/redeem": [
        Asked("/api/v1/permits/redeem", {"permit": "none", "arguments": A_NEIGHBOUR})
    ],
    "POST /api/v1/proposals/{id}/outcome": [
        Asked("/api/v1/proposals/{proposal}/outcome", {"result": "succeeded", "jti": "none"})
    ],
}
"""The calls that give no memory, and must not begin to."""

CALLS = {**READS, **OTHERS}


def test_every_call_of_the_api_stands_here() -> None:
    table = api.get_openapi_schema()["paths"].items()
    calls = {f"{method.upper()} {path}" for path, methods in table for method in methods}
    assert calls == set(CALLS), "Say in CALLS how an agent makes this call; in READS if it gives memory."


# What is hidden.


def _pending(team: Team) -> MemoryRecord | None:
    remember(team.scout, HIDDEN, **ABOUT)
    return None


def _quarantined(team: Team) -> MemoryRecord:
    return MemoryRecord.objects.get(proposal=doubtful(team.scout, HIDDEN, **ABOUT))


def _discarded(team: Team) -> MemoryRecord:
    return MemoryRecord.objects.get(proposal=reject(doubtful(team.scout, HIDDEN, **ABOUT), team.alice))


def _rejected(team: Team) -> None:
    reject(remember(team.scout, HIDDEN, **ABOUT), team.alice, tombstone=True)


def _trusted(team: Team) -> MemoryRecord:
    return known(team.scout, HIDDEN, team.alice, **ABOUT)


def _changed(tool: str, **terms: Any) -> Callable[[Team], MemoryRecord]:
    def hide(team: Team) -> MemoryRecord:
        record = _trusted(team)
        approve(asked(team.alice, tool, record, **terms), team.carol)
        return record

    return hide


def _set_aside(team: Team) -> MemoryRecord:
    record = _trusted(team)
    ask("memory.release", record.id, by=team.alice, reason="Nobody knows this port.")
    return record


def _with_standing(**standing: Any) -> Callable[[Team], MemoryRecord]:
    """Hidden by its row alone, the text still in it: whatever else its use case takes away, this hides it too."""

    def hide(team: Team) -> MemoryRecord:
        record = _trusted(team)
        MemoryRecord.objects.filter(id=record.id).update(**standing)
        return record

    return hide


def _foreign(team: Team) -> MemoryRecord:
    return known(team.prowler, HIDDEN, team.nina, **ABOUT)


def _source_withdrawn(team: Team) -> MemoryRecord:
    source = known(team.scout, "The runbook is right.", team.alice)
    record = known(
        team.scout,
        HIDDEN,
        team.alice,
        **ABOUT,
        provenance={"kind": "user", "derived_from": [str(source.id)]},
    )
    approve(asked(team.alice, "memory.retract", source), team.carol)
    return record


REPLACED = {"content": "It is not open.", "provenance": {"kind": "user", "ref": "ticket-2"}}
WAYS: Mapping[str, Callable[[Team], MemoryRecord | None]] = {
    "pending": _pending,
    "rejected": _rejected,
    "quarantined": _quarantined,
    "put into quarantine later": _set_aside,
    "discarded": _discarded,
    "retracted": _changed("memory.retract"),
    "superseded": _changed("memory.supersede", **REPLACED),
    "archived": _changed("memory.archive"),
    "erased": _with_standing(lifecycle="erased", retired_at=timezone.now()),
    "of another workspace": _foreign,
    "derived from what was withdrawn": _source_withdrawn,
}
NOWHERE = "00000000-0000-7000-8000-000000000000"


def answers(
    agent: AgentActor, calls: Mapping[str, list[Asked]], record: MemoryRecord | None
) -> Iterator[Any]:
    """Make each of `calls` about `record`, and yield its name and the answer."""
    names = {
        "{record}": str(record.id) if record else NOWHERE,
        "{proposal}": str(record.proposal_id) if record else NOWHERE,
    }
    for name, ways in calls.items():
        for way in ways:
            path, body = way.path, json.dumps(way.body or {})
            for part, value in names.items():
                path, body = path.replace(part, value), body.replace(part, value)
            method = name.split()[0].lower()
            sent = {} if method == "get" else {"data": body, "content_type": "application/json"}
            yield f"{name} {body}", getattr(Client(), method)(path, **sent, **bearer(agent))


@pytest.mark.parametrize("way", WAYS)
def test_no_call_gives_anything_of_what_is_hidden(team: Team, way: str) -> None:
    ranger = factories.agent("ranger", team.acme, owner=team.erin)
    record = WAYS[way](team)
    for call, answer in answers(ranger, CALLS, record):
        assert answer.status_code < 500, call
        assert MARK not in answer.content.decode(), call
        assert MARK not in str(answer.headers), call
    for call, answer in answers(team.scout, READS, record):
        assert MARK not in answer.content.decode(), f"its own agent, {call}"


def test_every_read_gives_what_is_not_hidden(team: Team) -> None:
    ranger = factories.agent("ranger", team.acme, owner=team.erin)
    for call, answer in answers(ranger, READS, _trusted(team)):
        assert (answer.status_code, MARK in answer.content.decode()) == (200, True), call


def test_every_read_gives_it_once_it_is_released(team: Team) -> None:
    released = approve(doubtful(team.scout, HIDDEN, **ABOUT), team.alice, team.carol)
    for call, answer in answers(team.scout, READS, MemoryRecord.objects.get(proposal=released)):
        assert MARK in answer.content.decode(), call


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("pending", "rejected")])
def test_what_is_hidden_is_answered_as_what_is_not_there(team: Team, way: str) -> None:
    hidden = WAYS[way](team)
    found = []
    for id_ in (hidden.id if hidden else NOWHERE, NOWHERE):
        answer = Client().get(f"/api/v1/memory/records/{id_}", **bearer(team.scout))
        found.append((answer.status_code, {**answer.json(), "request_id": ""}))
    assert found[0] == found[1]
    assert found[0][0] == 404
