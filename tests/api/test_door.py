"""The agents' door: tokens, the strict reader, limits, and problem documents for whatever goes wrong."""

from __future__ import annotations

import base64
import json
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from review.access.models import Agent, AgentToken
from review.models import Proposal
from tests.support import factories
from tests.support.api import Api, problem
from tests.support.pages import browser

pytestmark = pytest.mark.django_db
REFUSED = json.loads((Path(__file__).parents[1] / "data" / "refused_bodies.json").read_text())["bodies"]
GOOD = (
    b'{"tool":"payments.refund","arguments":{"order":"20817","amount":480.5},"rationale":"r","expires_in":60}'
)


@pytest.fixture
def cast() -> factories.Team:
    return factories.team()


@pytest.fixture
def scout(cast: factories.Team) -> Api:
    return Api(cast.scout)


@pytest.mark.parametrize("case", REFUSED, ids=[case["id"] for case in REFUSED])
def test_every_refused_body_is_refused_with_its_code_and_nothing_is_done(
    scout: Api, case: dict[str, str]
) -> None:
    answer = scout.post("/proposals", raw=base64.b64decode(case["raw_b64"]))
    assert problem(answer) == (400, case["code"])
    assert not Proposal.objects.exists()


INSIDE = [case for case in REFUSED[:11] if case["code"] != "malformed"]


@pytest.mark.parametrize("case", INSIDE, ids=[case["id"] for case in INSIDE])
def test_a_bad_value_deep_in_the_arguments_is_refused_too(scout: Api, case: dict[str, str]) -> None:
    raw = b'{"tool":"a","arguments":{"x":[' + base64.b64decode(case["raw_b64"]) + b"]}}"
    answer = scout.post("/proposals", raw=raw)
    assert problem(answer) == (400, case["code"])


@pytest.mark.parametrize("raw", [b" ", b"null", b"[]", b'"x"', b"1", b"{", b"{'a':1}", b"{}{}", b"\x00"])
def test_what_is_not_one_json_object_is_malformed(scout: Api, raw: bytes) -> None:
    assert problem(scout.post("/proposals", raw=raw)) == (400, "malformed")


def test_a_body_over_256_kib_is_too_large_and_one_under_it_is_read(scout: Api) -> None:
    def of(length: int) -> bytes:
        frame = b'{"tool":"payments.refund","arguments":{"a":"%s","b":"%s"}}'
        left = length - len(frame % (b"", b""))
        return frame % (b"x" * (left // 2), b"y" * (left - left // 2))

    assert problem(scout.post("/proposals", raw=of(256 * 1024 + 1))) == (413, "too_large")
    assert scout.post("/proposals", raw=of(256 * 1024)).status_code == 201


@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", ""]
)
def test_another_media_type_is_refused(scout: Api, media: str) -> None:
    assert problem(scout.post("/proposals", raw=GOOD, media=media)) == (415, "unsupported_media_type")


def test_an_encoded_body_is_refused(scout: Api) -> None:
    assert problem(scout.post("/proposals", raw=GOOD, HTTP_CONTENT_ENCODING="gzip")) == (
        415,
        "unsupported_media_type",
    )
    assert scout.post("/proposals", raw=GOOD, media="application/json; charset=utf-8").status_code == 201


def _authorisations(cast: factories.Team) -> dict[str, str]:
    good = factories.bearer(cast.scout)["HTTP_AUTHORIZATION"]
    return {
        "none": "",
        "another scheme": good.replace("Bearer", "Basic"),
        "a wrong secret": good[:-1] + ("0" if good[-1] != "0" else "1"),
        "an unknown handle": good.replace("hqn_", "hqn_f00f"),
        "two tokens": f"{good}, {good}",
        "no token": "Bearer ",
    }


def test_whatever_is_wrong_with_a_token_the_answer_is_the_same(cast: factories.Team, scout: Api) -> None:
    assert scout.get("/me").status_code == 200
    answers = []
    for header in _authorisations(cast).values():
        answer = scout.get("/me", HTTP_AUTHORIZATION=header)
        assert problem(answer) == (401, "unauthorized")
        answers.append({**answer.json(), "request_id": ""})
    assert all(one == answers[0] for one in answers)


def test_a_revoked_or_expired_token_opens_nothing(cast: factories.Team, scout: Api) -> None:
    tokens = AgentToken.objects.filter(pk=cast.scout.token.pk)
    for change in ({"revoked_at": timezone.now()}, {"revoked_at": None, "expires_at": timezone.now()}):
        tokens.update(**change)
        assert problem(scout.get("/me")) == (401, "unauthorized")
    tokens.update(expires_at=timezone.now() + timedelta(days=1))
    assert scout.get("/me").status_code == 200


def test_a_token_in_the_address_opens_nothing(cast: factories.Team, scout: Api) -> None:
    token = factories.bearer(cast.scout)["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    assert problem(scout.get(f"/me?token={token}")) == (401, "unauthorized")


def test_a_session_cookie_opens_nothing_here_and_a_token_opens_no_page(cast: factories.Team) -> None:
    assert problem(browser(cast.alice).get("/api/v1/me")) == (401, "unauthorized")
    assert Client().get("/", **factories.bearer(cast.scout)).status_code == 302


@pytest.mark.parametrize(
    ("path", "body", "scope"),
    [
        ("/proposals", {"tool": "a", "arguments": {}}, "propose"),
        ("/permits/redeem", {"permit": "x", "arguments": {}}, "redeem"),
        ("/memory/query", {"query": "port"}, "read"),
    ],
)
def test_a_token_without_the_scope_is_told_which_one_it_lacks(
    cast: factories.Team, path: str, body: dict[str, Any], scope: str
) -> None:
    others = sorted({"propose", "read", "redeem"} - {scope})
    poor = Api(factories.AgentActor(cast.scout.agent, factories.token(cast.scout.agent, cast.bob, others)))
    answer = poor.post(path, body)
    assert problem(answer) == (403, "missing_scope") and answer.json()["scope"] == scope


def test_a_stopped_agent_reads_and_changes_nothing(cast: factories.Team, scout: Api) -> None:
    made = scout.propose().json()
    Agent.objects.filter(pk=cast.scout.agent.pk).update(stopped_at=timezone.now())
    assert problem(scout.propose()) == (403, "agent_stopped")
    assert scout.get(f"/proposals/{made['id']}").status_code == 200


def test_a_token_that_asks_too_often_is_told_when_to_come_back(scout: Api, settings: Any) -> None:
    settings.HUQAN_RATE_PER_MINUTE = 2
    answers = [scout.get("/me") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert problem(answers[2]) == (429, "rate_limited") and 0 < int(answers[2].headers["Retry-After"]) <= 60


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/nothing", (404, "not_found")),
        ("GET", "/proposals/", (404, "not_found")),
        ("GET", "/proposals/1", (404, "not_found")),
        ("GET", "/proposals/not-a-uuid", (404, "not_found")),
        ("POST", "/me", (405, "method_not_allowed")),
        ("DELETE", "/proposals", (405, "method_not_allowed")),
        ("PATCH", "/memory/query", (405, "method_not_allowed")),
        ("OPTIONS", "/proposals", (405, "method_not_allowed")),
    ],
)
def test_a_wrong_address_or_method_is_a_problem_document(
    scout: Api, method: str, path: str, expected: tuple[int, str]
) -> None:
    answer = scout.request(method, path)
    assert problem(answer) == expected
    assert expected[0] != 405 or answer.headers["Allow"]


def test_head_answers_where_get_does(scout: Api) -> None:
    answer = scout.request("HEAD", "/me")
    assert (answer.status_code, answer.content) == (200, b"")


def test_an_id_in_capital_letters_is_no_id_of_ours(scout: Api) -> None:
    made = scout.propose().json()
    assert problem(scout.get(f"/proposals/{made['id'].upper()}")) == (404, "not_found")


@pytest.mark.parametrize(
    ("query", "pointer", "code"),
    [
        ("limit=5&limit=6", "/limit", "duplicate_key"),
        ("tool=a%00b", "/tool", "forbidden_character"),
        ("run_id=%00", "/run_id", "forbidden_character"),
        ("status=pending&a%00=1", "/a\0", "forbidden_character"),
        ("a~b%2Fc=1", "/a~0b~1c", "unknown"),
        *(
            (f"limit={sent}", "/limit", "type")
            for sent in ("", "+5", "%205", "5.0", "1_0", "%D9%A5", "9" * 400)
        ),
        ("limit=101", "/limit", "range"),
    ],
)
def test_a_query_has_one_meaning_or_is_refused(scout: Api, query: str, pointer: str, code: str) -> None:
    answer = scout.get(f"/proposals?{query}")
    assert problem(answer) == (422, "invalid")
    assert [(one["pointer"], one["code"]) for one in answer.json()["errors"]] == [(pointer, code)]
    assert scout.get("/proposals?limit=5&tool=a&run_id=b&status=pending").status_code == 200


def test_a_whole_number_may_be_written_with_a_fraction_of_zero(scout: Api) -> None:
    made = scout.propose(expires_in=60.0).json()
    path = f"/proposals/{made['id']}/revisions"
    assert problem(scout.post(path, {"revision": 1.5, "arguments": {}})) == (422, "invalid")
    assert scout.post(path, {"revision": 1.0, "arguments": {}}).status_code == 201


def test_who_is_not_let_in_is_told_the_scheme_that_is_taken(scout: Api) -> None:
    answer = Api(None).get("/me")
    assert answer.status_code == 401 and answer.headers["WWW-Authenticate"] == "Bearer"
    assert "WWW-Authenticate" not in scout.get("/me").headers


def test_a_length_that_is_no_number_breaks_nothing(scout: Api) -> None:
    for length in ("abc", "-1", "1e3", "٣"):
        answer = scout.post("/proposals", raw=GOOD, CONTENT_LENGTH=length)
        assert problem(answer) == (400, "malformed")


def test_an_answer_never_carries_what_was_sent_where_it_is_wrong(scout: Api) -> None:
    answer = scout.post("/proposals", {"tool": "a", "arguments": {}, "expires_in": "s3cret-value"})
    assert b"s3cret-value" not in answer.content


def test_no_route_of_the_api_can_decide(scout: Api) -> None:
    paths = scout.get("/openapi.json").json()["paths"]
    for word in ("approve", "decide", "release", "discard", "lift", "grant", "policy", "reject"):
        assert not [path for path in paths if word in path]


def test_the_openapi_document_and_its_page_are_public(scout: Api) -> None:
    assert Api(None).get("/openapi.json").json()["openapi"].startswith("3.1")
    page = Api(None).get("/docs")
    assert (
        page.status_code == 200
        and b"<script" in page.content
        and b"http://" not in page.content.split(b"<main")[1]
    )


def test_a_thousand_mangled_bodies_never_break_the_server(cast: factories.Team, settings: Any) -> None:
    settings.HUQAN_RATE_PER_MINUTE, settings.HUQAN_MAX_OPEN_PROPOSALS = 100_000, 100_000
    scout, chance = Api(cast.scout), random.Random(20817)
    paths = ("/proposals", "/permits/redeem", "/memory/query", "/memory/context")
    for _ in range(1000):
        answer = scout.post(chance.choice(paths), raw=_mangled(chance))
        assert answer.status_code < 500, answer.content
        assert answer.status_code in (200, 201) or problem(answer)


def _mangled(chance: random.Random) -> bytes:
    """A good body with a few bytes taken out, doubled, replaced, or swapped for something hostile."""
    body = bytearray(GOOD)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(body) or 1)
        hostile = chance.choice(
            [
                b"\x00",
                b"\\ud800",
                b"\\u0000",
                b"1e999",
                b"NaN",
                b"[[[[",
                b"{",
                b'"',
                b"\xff",
                b",",
                b"-0",
                b"9" * 400,
            ]
        )
        body[place : place + chance.randint(0, 8)] = (
            hostile if chance.random() < 0.6 else body[: chance.randint(0, 20)]
        )
    return bytes(body)
