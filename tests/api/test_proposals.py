"""Proposing, reading, revising and withdrawing, as an agent does it over HTTP."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from review.models import Proposal
from tests.support import factories
from tests.support.api import Api, problem
from tests.support.review_acts import at, vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> factories.Team:
    return factories.team()


@pytest.fixture
def scout(cast: factories.Team) -> Api:
    return Api(cast.scout)


def test_me_says_agent_workspace_and_scopes(scout: Api) -> None:
    assert {**scout.get("/me").json(), "expires_at": ""} == {
        "agent": "scout",
        "workspace": "acme",
        "scopes": ["propose", "read", "redeem"],
        "expires_at": "",
    }


def test_a_proposal_comes_back_whole_and_says_where_it_stands(scout: Api) -> None:
    answer = scout.propose(
        "memory.write", {"content": "The staging port is 7443."}, run_id="r1", tool_call_id="c1"
    )
    body = answer.json()
    assert answer.status_code == 201 and answer.headers["Location"] == f"/api/v1/proposals/{body['id']}"
    told = {
        name: body[name]
        for name in (
            "workspace",
            "agent",
            "tool",
            "revision",
            "status",
            "risk",
            "run_id",
            "tool_call_id",
            "reason",
            "fields",
            "outcome",
        )
    }
    assert told == {
        "workspace": "acme",
        "agent": "scout",
        "tool": "memory.write",
        "revision": 1,
        "status": "pending",
        "risk": "low",
        "run_id": "r1",
        "tool_call_id": "c1",
        "reason": None,
        "fields": [],
        "outcome": None,
    }
    assert body["arguments"] == {"content": "The staging port is 7443."}
    assert body["approvals"] == {"required": 1, "given": 0, "eligible": 2}
    assert [signal["code"] for signal in body["gate"]["signals"]] == ["no_provenance", "policy_review"]
    assert len(body["binding"]) == 64 and body["url"].endswith(f"/proposals/{body['id']}/")
    assert body["expires_at"].endswith("Z") and "." not in body["expires_at"]
    assert scout.get(f"/proposals/{body['id']}").json() == body


def test_types_of_arguments_survive_the_way_there_and_back(scout: Api) -> None:
    arguments = {"a": 1, "b": "1", "c": True, "d": None, "e": [1.5, {}], "f": "é e\u0301 \u202e"}
    made = scout.propose("payments.refund", arguments).json()
    assert scout.get(f"/proposals/{made['id']}").json()["arguments"] == arguments


def test_the_same_key_and_body_is_answered_with_the_same_proposal_as_it_is_now(
    cast: factories.Team, scout: Api
) -> None:
    body = {"tool": "payments.refund", "arguments": {"order": "1"}}
    first = scout.post("/proposals", body, HTTP_IDEMPOTENCY_KEY="k")
    vote(cast.alice, Proposal.objects.get())
    again = scout.post(
        "/proposals", raw=b'{"arguments":{"order":"1"} , "tool":"payments.refund"}', HTTP_IDEMPOTENCY_KEY="k"
    )
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.json()["id"] == first.json()["id"] and again.json()["status"] == "approved"


def test_the_same_key_with_another_body_is_refused(scout: Api) -> None:
    scout.post("/proposals", {"tool": "a", "arguments": {}}, HTTP_IDEMPOTENCY_KEY="k")
    other = scout.post("/proposals", {"tool": "b", "arguments": {}}, HTTP_IDEMPOTENCY_KEY="k")
    assert problem(other) == (422, "key_reused")


@pytest.mark.parametrize("key", ["", "ä", "x" * 256, "a\tb"])
def test_a_key_that_cannot_be_one_is_refused(scout: Api, key: str) -> None:
    assert problem(scout.post("/proposals", {"tool": "a", "arguments": {}}, HTTP_IDEMPOTENCY_KEY=key)) == (
        422,
        "invalid",
    )


def test_an_unknown_member_is_refused_with_its_pointer(scout: Api) -> None:
    answer = scout.propose(approved_by="alice")
    assert problem(answer) == (422, "invalid")
    assert answer.json()["errors"][0]["pointer"] == "/approved_by"
    assert not Proposal.objects.exists()


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"tool": 7}, "/tool"),
        ({"tool": "no spaces"}, "/tool"),
        ({"tool": ""}, "/tool"),
        ({"arguments": []}, "/arguments"),
        ({"arguments": "x"}, "/arguments"),
        ({"expires_in": "60"}, "/expires_in"),
        ({"expires_in": 4}, "/expires_in"),
        ({"expires_in": True}, "/expires_in"),
        ({"expires_in": 60.5}, "/expires_in"),
        ({"evidence": [{"ref": "x"}]}, "/evidence/0/title"),
        ({"evidence": [{"title": "x", "by": "y"}]}, "/evidence/0/by"),
        ({"run_id": 1}, "/run_id"),
    ],
)
def test_a_wrong_member_is_named(scout: Api, members: dict[str, Any], pointer: str) -> None:
    answer = scout.post("/proposals", {"tool": "payments.refund", "arguments": {}, **members})
    assert problem(answer) == (422, "invalid")
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({}, "/arguments/content"),
        ({"content": "  "}, "/arguments/content"),
        ({"content": "x", "trust": "trusted"}, "/arguments/trust"),
        ({"content": "x", "confidence": 2}, "/arguments/confidence"),
        ({"content": "x", "expires_at": "soon"}, "/arguments/expires_at"),
    ],
)
def test_the_arguments_of_an_inner_tool_are_a_closed_schema(
    scout: Api, arguments: dict[str, Any], pointer: str
) -> None:
    answer = scout.propose("memory.write", arguments)
    assert problem(answer) == (422, "invalid")
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_a_blocked_tool_is_refused(scout: Api) -> None:
    assert problem(scout.propose("shell.run", {"cmd": "ls"})) == (403, "blocked")


@pytest.mark.parametrize("tool", ["memory.release", "memory.erase", "tombstone.lift", "policy.change"])
def test_no_agent_starts_what_only_people_start(scout: Api, tool: str) -> None:
    assert problem(scout.propose(tool, {})) == (403, "blocked")


def test_a_call_for_somebody_who_did_not_grant_it_is_refused(scout: Api) -> None:
    assert problem(scout.propose(on_behalf_of="carol")) == (422, "not_delegated")


def test_what_was_rejected_a_moment_ago_is_named(cast: factories.Team, scout: Api) -> None:
    made = scout.propose().json()
    vote(cast.alice, Proposal.objects.get(), "reject", reason="Wrong order.")
    assert scout.get(f"/proposals/{made['id']}").json()["reason"] == "Wrong order."
    again = scout.propose()
    assert problem(again) == (409, "recently_rejected") and again.json()["proposal"] == made["id"]


def test_what_was_rejected_a_moment_ago_comes_by_no_revision_either(cast: factories.Team, scout: Api) -> None:
    made = scout.propose().json()
    vote(cast.alice, Proposal.objects.get(), "reject", reason="Wrong order.")
    other = scout.propose(arguments={"order": "2"}).json()
    address, rejected = f"/proposals/{other['id']}/revisions", {"order": "20817"}
    again = scout.post(address, {"revision": 1, "arguments": rejected})
    assert problem(again) == (409, "recently_rejected") and again.json()["proposal"] == made["id"]
    assert scout.post(address, {"revision": 1, "arguments": {"order": "3"}}).status_code == 201


def test_too_many_open_proposals_say_when_to_come_back(scout: Api, settings: Any) -> None:
    settings.HUQAN_MAX_OPEN_PROPOSALS = 1
    scout.propose()
    answer = scout.propose(arguments={"order": "2"})
    assert problem(answer) == (429, "too_many_pending") and int(answer.headers["Retry-After"]) > 0


def test_an_agent_sees_its_own_proposals_only(cast: factories.Team, scout: Api) -> None:
    made = scout.propose().json()
    ranger, prowler = Api(factories.agent("ranger", cast.acme, cast.erin)), Api(cast.prowler)
    for stranger in (ranger, prowler):
        assert problem(stranger.get(f"/proposals/{made['id']}")) == (404, "not_found")
        assert stranger.get("/proposals").json() == {"data": [], "next_cursor": None}
    unknown = ranger.get(f"/proposals/{uuid4()}").json()
    foreign = ranger.get(f"/proposals/{made['id']}").json()
    assert {**unknown, "request_id": ""} == {**foreign, "request_id": ""}


def test_the_list_is_paged_newest_first_with_signed_cursors(scout: Api) -> None:
    ids = [scout.propose(arguments={"order": str(n)}).json()["id"] for n in range(5)]
    seen, cursor = [], ""
    while True:
        page = scout.get(f"/proposals?limit=2{cursor}").json()
        seen += [one["id"] for one in page["data"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == ids[::-1]
    first = scout.get("/proposals?limit=2").json()["next_cursor"]
    for wrong in ("abc", first[:-1] + "x", "9", ""):
        answer = scout.get(f"/proposals?limit=2&cursor={wrong}")
        assert wrong == "" or problem(answer) == (400, "bad_cursor")
    assert problem(scout.get(f"/proposals?tool=x&cursor={first}")) == (400, "bad_cursor")


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "status=open", "agent=scout", "tool="])
def test_a_wrong_or_unknown_parameter_is_refused(scout: Api, query: str) -> None:
    assert problem(scout.get(f"/proposals?{query}")) == (422, "invalid")


def test_the_list_is_filtered_by_state_tool_and_run(cast: factories.Team, scout: Api) -> None:
    scout.propose(run_id="r1")
    vote(cast.alice, Proposal.objects.get())
    scout.propose("mail.send", {"to": "a@example.org"})
    for query, tools in (
        ("status=approved", ["payments.refund"]),
        ("status=pending", ["mail.send"]),
        ("tool=mail.send", ["mail.send"]),
        ("run_id=r1", ["payments.refund"]),
        ("status=executed", []),
    ):
        assert [one["tool"] for one in scout.get(f"/proposals?{query}").json()["data"]] == tools


def test_the_number_of_queries_does_not_grow_with_the_list(
    scout: Api, django_assert_max_num_queries: Any
) -> None:
    def queries() -> int:
        from django.test.utils import CaptureQueriesContext

        with CaptureQueriesContext(connection) as seen:
            scout.get("/proposals?limit=100")
        return len(seen)

    scout.propose()
    few = queries()
    for n in range(9):
        scout.propose(arguments={"order": str(n)})
    assert queries() == few


def test_an_unchanged_proposal_is_answered_304(scout: Api) -> None:
    made = scout.propose().json()
    tag = scout.get(f"/proposals/{made['id']}").headers["ETag"]
    again = scout.get(f"/proposals/{made['id']}", HTTP_IF_NONE_MATCH=tag)
    assert (again.status_code, again.content) == (304, b"")
    scout.post(f"/proposals/{made['id']}/withdraw", {})
    assert scout.get(f"/proposals/{made['id']}", HTTP_IF_NONE_MATCH=tag).status_code == 200


def test_a_revision_replaces_the_arguments_and_the_binding(scout: Api) -> None:
    made = scout.propose().json()
    answer = scout.post(f"/proposals/{made['id']}/revisions", {"revision": 1, "arguments": {"order": "9"}})
    body = answer.json()
    assert (answer.status_code, body["revision"], body["arguments"]) == (201, 2, {"order": "9"})
    assert body["binding"] != made["binding"]
    stale = scout.post(f"/proposals/{made['id']}/revisions", {"revision": 1, "arguments": {}})
    assert problem(stale) == (409, "stale_revision")


def test_a_withdrawn_proposal_stays_withdrawn(scout: Api) -> None:
    made = scout.propose().json()
    gone = scout.post(f"/proposals/{made['id']}/withdraw", {"reason": "Not needed."}).json()
    assert (gone["status"], gone["reason"]) == ("withdrawn", "Not needed.")
    assert problem(scout.post(f"/proposals/{made['id']}/withdraw", {})) == (409, "already_decided")


def test_a_withdrawal_needs_no_body(scout: Api) -> None:
    made = scout.propose().json()
    assert scout.post(f"/proposals/{made['id']}/withdraw", raw=b"").status_code == 200


def test_what_ran_out_of_time_is_expired_whether_or_not_a_sweeper_came(scout: Api) -> None:
    made = scout.propose(expires_in=60).json()
    with at(timezone.now() + timedelta(seconds=61)):
        assert [one["status"] for one in scout.get("/proposals").json()["data"]] == ["expired"]
        assert scout.get(f"/proposals/{made['id']}").json()["status"] == "expired"
        late = scout.post(f"/proposals/{made['id']}/withdraw", {})
        assert problem(late) == (409, "expired")


def test_redeem_takes_exactly_the_approved_bytes_once(cast: factories.Team, scout: Api) -> None:
    made = scout.propose().json()
    path = f"/proposals/{made['id']}/redeem"
    assert problem(scout.post(path, {"arguments": {"order": "20817"}})) == (409, "not_approved")
    vote(cast.alice, Proposal.objects.get())
    drifted = scout.post(path, {"arguments": {"order": 20817}})
    assert problem(drifted) == (409, "arguments_drifted") and drifted.json()["diff"][0]["pointer"] == "/order"
    for both in ({}, {"arguments": {"order": "20817"}, "binding": made["binding"]}):
        assert problem(scout.post(path, both)) == (422, "invalid")
    permit = scout.post(path, {"arguments": {"order": "20817"}})
    assert permit.status_code == 200 and set(permit.json()) == {"permit", "jti", "expires_at"}
    assert problem(scout.post(path, {"binding": made["binding"]})) == (409, "permit_spent")
    assert scout.get(f"/proposals/{made['id']}").json()["status"] == "running"


def test_a_permit_is_spent_and_reported_once(cast: factories.Team, scout: Api) -> None:
    made = scout.propose().json()
    vote(cast.alice, Proposal.objects.get())
    permit = scout.post(f"/proposals/{made['id']}/redeem", {"binding": made["binding"]}).json()
    spending = {"permit": permit["permit"], "arguments": {"order": "20817"}}
    assert problem(scout.post("/permits/redeem", {**spending, "permit": "x.y.z"})) == (422, "bad_permit")
    spent = scout.post("/permits/redeem", spending)
    assert spent.json() == {"proposal": made["id"], "tool": "payments.refund", "jti": permit["jti"]}
    assert problem(scout.post("/permits/redeem", spending)) == (409, "permit_spent")
    outcome = {"result": "succeeded", "jti": permit["jti"]}
    wrong = scout.post(f"/proposals/{made['id']}/outcome", {**outcome, "jti": str(uuid4())})
    assert problem(wrong) == (409, "not_running")
    assert scout.post(f"/proposals/{made['id']}/outcome", outcome).json()["status"] == "succeeded"
    assert problem(scout.post(f"/proposals/{made['id']}/outcome", outcome)) == (409, "already_reported")


@pytest.mark.django_db(transaction=True)
def test_a_long_poll_answers_as_soon_as_somebody_decided(cast: factories.Team, scout: Api) -> None:
    made = scout.propose().json()
    proposal = Proposal.objects.get()

    def decide_soon() -> None:
        time.sleep(0.6)
        try:
            vote(cast.alice, proposal)
        finally:
            connection.close()

    decider = threading.Thread(target=decide_soon)
    decider.start()
    began = time.monotonic()
    answer = scout.get(f"/proposals/{made['id']}", HTTP_PREFER="wait=20")
    decider.join()
    assert answer.json()["status"] == "approved" and answer.headers["Preference-Applied"] == "wait=20"
    assert time.monotonic() - began < 15


def test_a_long_poll_on_what_is_over_answers_at_once(scout: Api) -> None:
    made = scout.propose().json()
    scout.post(f"/proposals/{made['id']}/withdraw", {})
    began = time.monotonic()
    assert scout.get(f"/proposals/{made['id']}", HTTP_PREFER="wait=20").json()["status"] == "withdrawn"
    assert time.monotonic() - began < 10


@pytest.mark.django_db(transaction=True)
def test_a_long_poll_ends_when_the_time_of_the_proposal_does_though_no_sweeper_comes() -> None:
    scout = Api(factories.team().scout)
    made = scout.propose(expires_in=5).json()
    Proposal.objects.filter(pk=made["id"]).update(expires_at=timezone.now() + timedelta(seconds=1))
    begun = time.monotonic()
    answer = scout.get(f"/proposals/{made['id']}", HTTP_PREFER="wait=20")
    assert answer.json()["status"] == "expired" and time.monotonic() - begun < 15
    assert Proposal.objects.get(pk=made["id"]).status == "expired"


def test_what_ran_out_and_is_sent_again_is_answered_as_it_is_now(scout: Api) -> None:
    body = {"tool": "payments.refund", "arguments": {"order": "20817"}}
    made = scout.post("/proposals", body, HTTP_IDEMPOTENCY_KEY="k")
    Proposal.objects.filter(pk=made.json()["id"]).update(expires_at=timezone.now())
    again = scout.post("/proposals", body, HTTP_IDEMPOTENCY_KEY="k")
    assert (again.status_code, again.json()["status"]) == (200, "expired")
    assert Proposal.objects.get(pk=made.json()["id"]).status == "expired"


def test_a_longer_time_than_the_rule_gives_is_capped(scout: Api) -> None:
    made = scout.propose(expires_in=1_000_000_000).json()
    week = timezone.now() + timedelta(days=7)
    assert abs(datetime.fromisoformat(made["expires_at"]) - week) < timedelta(minutes=1)
