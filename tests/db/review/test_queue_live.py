"""What an open queue is told while its reader looks at it: how much is hers, and which of its rows are over."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from review.services.withdraw import withdraw
from tests.support import factories
from tests.support.memory_acts import WEB, remember, reword
from tests.support.pages import browser
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db


def asks(client: Client, path: str = "/") -> str:
    """The address at which the page at `path` asks for news."""
    return asking(client.get(path).content.decode())[0]


def asking(text: str) -> tuple[str, dict[str, str]]:
    """The address at which a page asks for news, and what its browser says it has."""
    found = re.search(r'data-poll hx-get="([^"]*)" hx-headers=\'([^\']*)\'', text)
    assert found
    return unescape(found[1]), json.loads(found[2])


def told(client: Client, address: str, **headers: str) -> str:
    return str(client.get(address, headers=headers).content.decode())


def over(text: str) -> list[tuple[str, str]]:
    """Id and note of each row that is told to be over."""
    rows = re.findall(r'<tr class="row is-decided" id="row-([^"]*)".*?</tr>', text, re.DOTALL)
    notes = re.findall(r'class="row-note" tabindex="-1">(.*?)</span>', text)
    return [*zip(rows, notes, strict=True)]


def test_a_row_that_another_decided_is_greyed_with_who_and_when(cast: factories.Team) -> None:
    alice = browser(cast.alice)
    approved, rejected, returned, waits = (call(cast.scout, arguments={"order": str(n)}) for n in range(4))
    address = asks(alice)
    assert over(told(alice, address)) == []
    soon = timezone.now() + timedelta(minutes=1)
    with at(soon):
        vote(cast.carol, approved)
        vote(cast.carol, rejected, "reject")
        vote(cast.carol, returned, "request_changes")
        found = dict(over(told(alice, address)))
    assert found == {
        str(approved.id): f"Approved by carol at {soon:%H:%M} UTC",
        str(rejected.id): f"Rejected by carol at {soon:%H:%M} UTC",
        str(returned.id): f"Sent back by carol at {soon:%H:%M} UTC",
    }
    assert str(waits.id) not in found


def test_what_ran_out_of_time_or_was_withdrawn_is_over_too(cast: factories.Team) -> None:
    alice, late, taken = browser(cast.alice), mail(cast.scout, expires_in=60), call(cast.scout)
    address = asks(alice)
    withdraw(taken.id, by=cast.scout)
    with at(late.created_at + timedelta(seconds=61)):
        found = dict(over(told(alice, address)))
    assert found[str(taken.id)] == "It waits here no more."
    assert found[str(late.id)] == f"Expired at {late.expires_at:%H:%M} UTC"


def test_what_ended_otherwise_than_its_last_voter_voted_is_not_said_to_be_his_doing(
    cast: factories.Team,
) -> None:
    alice, words = browser(cast.alice), "The vault opens at noon."
    banned, twin, doubted = (
        remember(cast.scout, words),
        remember(cast.scout, words.upper()),
        remember(cast.scout, "It is noon."),
    )
    address = asks(alice)
    soon = timezone.now() + timedelta(minutes=1)
    with at(soon):
        vote(cast.carol, banned, "reject", tombstone=True)
        vote(cast.carol, twin)
        vote(cast.carol, doubted, "request_changes")
        reword(cast.scout, doubted, "At noon.", provenance=WEB)
        found = dict(over(told(alice, address)))
    assert found[str(twin.id)] == f"Rejected at {soon:%H:%M} UTC"
    assert found[str(doubted.id)] == "Held"


def test_a_greyed_row_cannot_be_selected(cast: factories.Team) -> None:
    alice, proposal = browser(cast.alice), call(cast.scout)
    address = asks(alice)
    vote(cast.carol, proposal)
    text = told(alice, address)
    assert over(text) and "data-select" not in text


def test_one_vote_of_two_leaves_the_row_as_it_is(cast: factories.Team) -> None:
    alice, proposal = browser(cast.alice), mail(cast.scout)
    address = asks(alice)
    vote(cast.carol, proposal)
    assert over(told(alice, address)) == []


def test_nobody_learns_of_rows_that_he_may_not_see(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    address = asks(browser(cast.alice))
    assert parse_qs(urlsplit(address).query)["rows"] == [str(proposal.id)]
    vote(cast.carol, proposal)
    assert f"row-{proposal.id}" not in told(browser(cast.mallory), address)


def test_a_filter_is_blamed_only_where_something_stands_without_it(cast: factories.Team) -> None:
    alice = browser(cast.alice)
    assert "No proposal matches" not in alice.get("/?risk=high").content.decode()
    call(cast.scout)
    assert "No proposal matches" in alice.get("/?risk=high").content.decode()
    assert "Nothing here" in alice.get("/?risk=high&view=returned").content.decode()


def test_who_has_seen_no_proposal_is_led_to_how_agents_propose(cast: factories.Team) -> None:
    alice = browser(cast.alice)
    page = alice.get("/").content.decode()
    assert 'href="/help/agents/">How agents propose' in page and alice.get("/help/agents/").status_code == 200


@pytest.mark.parametrize("rows", ["nonsense", "..", "0", "\0"])
def test_rows_that_no_page_of_ours_asks_about_stand_for_none(cast: factories.Team, rows: str) -> None:
    answer = browser(cast.alice).get("/queue/new/", {"rows": rows})
    assert (answer.status_code, over(answer.content.decode())) == (200, [])


def test_the_tab_says_how_much_she_can_decide_and_stays_up_to_date(cast: factories.Team) -> None:
    alice, bob = browser(cast.alice), browser(cast.bob)
    first, _ = call(cast.scout), mail(cast.scout)
    page = alice.get("/?view=returned&risk=low").content.decode()
    assert "<title>(2) Returned · Huqan</title>" in page and 'href="/queue/icon/2.svg"' in page
    assert "<title>Needs me · Huqan</title>" in bob.get("/").content.decode()
    address = asks(alice)
    vote(cast.carol, first)
    text = told(alice, address)
    assert "<title>(1) Needs me · Huqan</title>" in text and 'href="/queue/icon/1.svg"' in text
    assert '<span hx-swap-oob="innerHTML:.count-mine">1</span>' in text
    assert "1 proposal that you can decide" in told(alice, asks(alice))


def test_news_is_told_once_and_then_only_when_something_else_changes(cast: factories.Team) -> None:
    alice, proposal = browser(cast.alice), call(cast.scout)
    address, has = asking(alice.get("/").content.decode())
    assert alice.get(address, headers=has).status_code == 304
    vote(cast.carol, proposal)
    answer = alice.get(address, headers=has)
    again, has_now = asking(answer.content.decode())
    assert (answer.status_code, again) == (200, address)
    assert has_now == {"If-None-Match": answer.headers["ETag"]} != has
    assert alice.get(again, headers=has_now).status_code == 304


@pytest.mark.parametrize(("count", "said"), [(0, "0"), (7, "7"), (99, "99"), (100, "99+"), (10**30, "99+")])
def test_the_sign_of_the_tab_bears_the_number(client: Client, count: int, said: str) -> None:
    answer: Any = client.get(f"/queue/icon/{count}.svg")
    assert (
        answer.headers["Content-Type"] == "image/svg+xml" and "immutable" in answer.headers["Cache-Control"]
    )
    assert f">{said}</text>" in answer.content.decode()


def test_more_rows_that_are_over_are_no_more_questions(cast: factories.Team) -> None:
    alice = browser(cast.alice)
    proposals = [call(cast.scout, arguments={"order": str(n)}) for n in range(5)]
    address = asks(alice)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert over(told(alice, address))
        return len(queries)

    vote(cast.carol, proposals[0])
    asked()
    one = asked()
    for proposal in proposals[1:]:
        vote(cast.carol, proposal)
    assert asked() == one


@pytest.mark.parametrize(
    "since",
    ["", "x", "2026-01-01", "2026-13-45T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"],
)
def test_a_poll_since_a_moment_that_is_none_is_answered(cast: factories.Team, since: str) -> None:
    proposal, alice = call(cast.scout), browser(cast.alice)
    assert alice.get("/queue/new/", {"view": "mine", "since": since}).status_code == 200
    assert alice.get(f"/proposals/{proposal.id}/meanwhile/", {"seen": "x", "since": since}).status_code == 200
