"""The memory calls as an agent makes them."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from memory.domain.context import tokens_of
from memory.models import MemoryRecord
from review.access.actors import AgentActor
from review.access.models import AgentToken
from tests.support.factories import Team, bearer
from tests.support.memory_acts import approve, doubtful, known, reject

PORT = "The staging port is 7443."
TIMES = ["yesterday", "2026-12-07", "2026-12-07T10:00:00", "2026-02-30T00:00:00Z", ""]


def call(agent: AgentActor, name: str, **members: Any) -> tuple[int, dict[str, Any]]:
    answer = Client().post(f"/api/v1/memory/{name}", json.dumps(members), "application/json", **bearer(agent))
    return answer.status_code, answer.json()


def get(agent: AgentActor, id_: object, **query: str) -> tuple[int, dict[str, Any]]:
    answer = Client().get(f"/api/v1/memory/records/{id_}", query, **bearer(agent))
    return answer.status_code, answer.json()


def contents(agent: AgentActor, name: str = "query", **members: Any) -> list[str]:
    status, answer = call(agent, name, **members)
    assert status == 200, answer
    return [item["content"] for item in answer["items"]]


# What an agent gets.


def test_an_agent_gets_what_was_approved_with_all_that_an_item_has(team: Team) -> None:
    record = known(team.scout, PORT, team.alice, subject="staging", predicate="port", confidence=0.9)
    status, answer = call(team.scout, "query", query="staging port")
    (item,) = answer["items"]
    assert status == 200
    assert (answer["mode"], answer["engine"], answer["degraded"]) == ("bm25", "embedded", [])
    assert isinstance(item.pop("score"), float)
    assert item == {
        "id": str(record.id),
        "content": PORT,
        "subject": "staging",
        "predicate": "port",
        "verdict": {"decision": "admit", "reasons": ["current"]},
        "provenance": {"kind": "user", "ref": "ticket-1"},
        "confidence": 0.9,
        "valid_from": None,
        "valid_to": None,
        "recorded_at": record.recorded_at.isoformat().replace("+00:00", "Z"),
        "expires_at": None,
        "supersedes": None,
        "proposal": str(record.proposal_id),
    }


@pytest.mark.parametrize("mode", ["bm25", "substring", "recency"])
def test_each_mode_finds_it(team: Team, mode: str) -> None:
    known(team.scout, PORT, team.alice)
    assert contents(team.scout, query="staging port", mode=mode) == [PORT]


def test_a_record_is_read_by_its_id(team: Team) -> None:
    record = known(team.scout, PORT, team.alice)
    status, item = get(team.scout, record.id)
    assert (status, item["id"], item["score"]) == (200, str(record.id), None)


def test_the_limit_is_an_upper_bound(team: Team) -> None:
    for n in range(4):
        known(team.scout, f"Fact number {n}.", team.alice)
    assert len(contents(team.scout, query="fact", limit=3)) == 3
    assert len(contents(team.scout, query="", mode="recency", limit=100)) == 4


def test_a_query_of_small_words_only_finds_nothing(team: Team) -> None:
    known(team.scout, PORT, team.alice)
    assert contents(team.scout, query="the of ...") == []


def test_an_agent_can_ask_for_the_past(team: Team) -> None:
    before = timezone.now()
    known(team.scout, PORT, team.alice)
    assert contents(team.scout, query="staging", known_at=before.isoformat()) == []
    assert contents(team.scout, query="staging", known_at=(timezone.now()).isoformat()) == [PORT]


def test_an_agent_can_ask_what_held_at_another_time(team: Team) -> None:
    record = known(team.scout, PORT, team.alice, valid_to="2021-01-01T00:00:00Z")
    _, then = get(team.scout, record.id, as_of="2020-06-01T00:00:00Z")
    _, now = get(team.scout, record.id)
    assert then["verdict"] == {"decision": "admit", "reasons": ["current"]}
    assert now["verdict"] == {"decision": "degrade", "reasons": ["not_valid_at"]}


# What an agent never gets.


def _held(team: Team) -> MemoryRecord:
    return MemoryRecord.objects.get(proposal=doubtful(team.scout, PORT))


def _discarded(team: Team) -> MemoryRecord:
    return MemoryRecord.objects.get(proposal=reject(doubtful(team.scout, PORT), team.alice))


def _foreign(team: Team) -> MemoryRecord:
    return known(team.prowler, PORT, team.nina)


HIDDEN = {"held": _held, "discarded": _discarded, "foreign": _foreign}
QUERIES: list[tuple[str, dict[str, Any]]] = [
    ("query", {"query": "staging port"}),
    ("query", {"query": "port is", "mode": "substring"}),
    ("query", {"query": "", "mode": "recency", "limit": 100}),
    ("query", {"query": "staging port", "known_at": (timezone.now() + timedelta(days=1)).isoformat()}),
    ("context", {"query": "staging port"}),
]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_no_call_gives_what_is_hidden(team: Team, hidden: str) -> None:
    record = HIDDEN[hidden](team)
    for name, members in QUERIES:
        status, answer = call(team.scout, name, **members)
        assert (status, answer["items"]) == (200, [])
        assert "7443" not in json.dumps(answer)
    assert get(team.scout, record.id)[0] == 404


def test_every_call_gives_it_once_it_is_released(team: Team) -> None:
    proposal = approve(doubtful(team.scout, PORT), team.alice, team.carol)
    assert proposal.outcome is not None
    for name, members in QUERIES:
        assert contents(team.scout, name, **members) == [PORT]
    assert get(team.scout, proposal.outcome["record"])[0] == 200


def test_a_miss_is_the_same_for_what_is_hidden_and_what_is_not_there(team: Team) -> None:
    answers = set()
    for id_ in (_held(team).id, _foreign(team).id, uuid4()):
        status, answer = get(team.scout, id_)
        answer.pop("request_id")
        answers.add((status, json.dumps(answer, sort_keys=True)))
    assert len(answers) == 1


# What is refused.


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({}, "/query"),
        ({"query": 7}, "/query"),
        ({"query": None}, "/query"),
        ({"query": ""}, "/query"),
        ({"query": " \n"}, "/query"),
        ({"query": "x" * 10_001}, "/query"),
        ({"query": "", "mode": "substring"}, "/query"),
        ({"query": "x", "mode": "vector"}, "/mode"),
        ({"query": "x", "limit": 0}, "/limit"),
        ({"query": "x", "limit": 101}, "/limit"),
        ({"query": "x", "limit": "10"}, "/limit"),
        ({"query": "x", "limit": 1.5}, "/limit"),
        ({"query": "x", "limit": True}, "/limit"),
        ({"query": "x", "lang": "de"}, "/lang"),
        ({"query": "x", "workspace": "globex"}, "/workspace"),
        ({"query": "x", "trust": "quarantined"}, "/trust"),
        *[({"query": "x", "as_of": time}, "/as_of") for time in TIMES],
        *[({"query": "x", "known_at": time}, "/known_at") for time in TIMES],
    ],
)
def test_a_wrong_type_or_range_is_refused_where_it_stands(
    team: Team, members: dict[str, Any], pointer: str
) -> None:
    status, problem = call(team.scout, "query", **members)
    assert (status, problem["code"]) == (422, "invalid")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"query": "x", "max_tokens": 63}, "/max_tokens"),
        ({"query": "x", "max_tokens": 8001}, "/max_tokens"),
        ({"query": "x", "mode": "recency"}, "/mode"),
        ({"query": " "}, "/query"),
    ],
)
def test_a_wrong_call_for_context_is_refused(team: Team, members: dict[str, Any], pointer: str) -> None:
    status, problem = call(team.scout, "context", **members)
    assert (status, [error["pointer"] for error in problem["errors"]]) == (422, [pointer])


@pytest.mark.parametrize("query", [{"as_of": "yesterday"}, {"known_at": ""}, {"workspace": "globex"}])
def test_a_wrong_question_about_a_record_is_refused(team: Team, query: dict[str, str]) -> None:
    record = known(team.scout, PORT, team.alice)
    status, problem = get(team.scout, record.id, **query)
    assert (status, problem["code"]) == (422, "invalid")


def test_an_id_that_is_none_is_not_found(team: Team) -> None:
    assert Client().get("/api/v1/memory/records/1", **bearer(team.scout)).status_code == 404


def test_reading_takes_the_scope_to_read(team: Team) -> None:
    AgentToken.objects.filter(id=team.scout.token.id).update(scopes=["propose", "redeem"])
    for status, problem in (
        call(team.scout, "query", query="x"),
        call(team.scout, "context", query="x"),
        get(team.scout, uuid4()),
    ):
        assert (status, problem["code"]) == (403, "missing_scope")


# Context.


def test_context_is_fenced_anew_each_time_and_keeps_the_budget(team: Team) -> None:
    for n in range(12):
        known(team.scout, f"Port {n} of staging is described at length: {'word ' * 20}", team.alice)
    seen = set()
    for _ in range(2):
        _, answer = call(team.scout, "context", query="staging port", max_tokens=200)
        (fence,) = re.findall(r"<<<memory ([0-9a-f]{32})\n", answer["text"])
        seen.add(fence)
        assert answer["text"].endswith(f"memory {fence}>>>\n")
        assert answer["tokens"] == tokens_of(answer["text"]) <= 200
        assert 0 < len(answer["items"]) < 10
        assert all(item["id"] in answer["text"] for item in answer["items"])
    assert len(seen) == 2


def test_context_says_how_far_each_memory_can_be_trusted(team: Team) -> None:
    known(team.scout, PORT, team.alice, confidence=0.2)
    _, answer = call(team.scout, "context", query="staging port")
    assert '"verdict":"degrade","reasons":["low_confidence"]' in answer["text"]
