"""The queue by risk or by age, and set out by run or by what is alike, in the address and page by page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from review.models import Proposal
from review.queries import queue
from tests.support import factories
from tests.support.pages import browser
from tests.support.review_acts import at, call, vote

pytestmark = pytest.mark.django_db


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return str(answer.content.decode())


def shown(text: str) -> list[str]:
    """The orders of the rows, from the top."""
    return re.findall(r'class="row-link".*?order (\w+)', text, re.DOTALL)


def heads(text: str) -> list[str]:
    return re.findall(r'class="group-head".*?<strong>(.*?)</strong>', text, re.DOTALL)


def followed(client: Client, path: str | None) -> Iterator[str]:
    while path:
        yield (text := page(client, path))
        following = re.search(r'href="([^"]*cursor=[^"]*)"[^>]*rel="next"', text)
        path = unescape(following[1]) if following else None


def refund(cast: factories.Team, order: str, hours: int = 0, **more: str) -> Proposal:
    with at(timezone.now() - timedelta(hours=hours)):
        return call(cast.scout, arguments={"order": order}, **more)


def test_she_sees_the_oldest_first_if_she_asks_and_else_the_riskiest(
    cast: factories.Team, alice: Client
) -> None:
    risky = {"tool": "mail.send", "arguments": {"to": "a@example.org", "subject": "on order new"}}
    call(cast.scout, **risky)
    refund(cast, "old", hours=5)
    refund(cast, "older", hours=9)
    by_risk, by_age = page(alice, "/"), page(alice, "/?order=age")
    assert (shown(by_risk), shown(by_age)) == (["new", "older", "old"], ["older", "old", "new"])
    assert "Riskiest first, then least time left" in by_risk and "Oldest first" in by_age
    assert shown(page(alice, "/?order=nonsense")) == shown(by_risk)


def test_by_age_every_row_is_on_one_page(
    cast: factories.Team, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "PAGE", 2)
    for number in range(5):
        refund(cast, str(number), hours=number)
    assert [shown(text) for text in followed(alice, "/?order=age")] == [["4", "3"], ["2", "1"], ["0"]]


def test_a_cursor_of_one_order_is_none_of_the_other(
    cast: factories.Team, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "PAGE", 1)
    for order in ("1", "2"):
        refund(cast, order)
    cursor = re.search(r"cursor=([^\"&]*)", page(alice, "/?order=age"))
    assert cursor and alice.get(f"/?cursor={cursor[1]}").status_code == 400


def test_calls_of_one_run_stand_together_and_lead_to_all_of_it(cast: factories.Team, alice: Client) -> None:
    for order, run in (("1", "nightly"), ("2", "weekly"), ("3", ""), ("4", "nightly"), ("5", "weekly")):
        refund(cast, order, **({"run_id": run} if run else {}))
    call(cast.scout, "mail.send", {"to": "a@example.org", "subject": "order risky"})
    text = page(alice, "/?group=run")
    assert heads(text) == ["Run nightly", "Run weekly"]
    assert shown(text) == ["risky", "1", "4", "2", "5", "3"]
    assert "2 on this page" in text and 'href="/?run=nightly"' in text
    only = page(alice, "/?run=nightly")
    assert (shown(only), heads(only)) == (["1", "4"], [])
    assert re.search(r'<option value="nightly" selected', only) and "Clear filters" in only


def test_the_page_of_a_call_leads_to_what_became_of_its_run_whatever_that_is_called(
    cast: factories.Team, alice: Client
) -> None:
    run = "nightly & co? #7 +1%"
    first, other = refund(cast, "1", run_id=run), refund(cast, "2", run_id=f"{run}0")
    for proposal in (first, other):
        vote(cast.carol, proposal, "reject")
    link = re.search(r'<a class="mono" href="([^"]*)"', page(alice, f"/proposals/{first.id}/"))
    assert link and shown(page(alice, unescape(link[1]))) == ["1"]


def test_calls_that_are_alike_stand_together_whatever_else_they_say(
    cast: factories.Team, alice: Client
) -> None:
    refund(cast, "1", hours=2)
    refund(cast, "2", hours=1)
    with_note = call(cast.scout, arguments={"order": "1", "note": "the rest"})
    text = page(alice, "/?group=alike")
    assert heads(text) == ["payments.refund, alike"]
    assert shown(text) == ["1", "1", "2"]
    assert shown(page(alice, f"/?alike={with_note.same_key}")) == ["1", "1"]


def test_rows_that_have_nothing_in_common_get_no_heading(cast: factories.Team, alice: Client) -> None:
    refund(cast, "1", run_id="nightly")
    refund(cast, "2")
    assert heads(page(alice, "/?group=run")) == heads(page(alice, "/?group=alike")) == []


def test_a_group_holds_nothing_of_what_she_may_not_see(cast: factories.Team) -> None:
    refund(cast, "1", run_id="nightly")
    call(cast.prowler, arguments={"order": "2"}, run_id="nightly")
    assert shown(page(browser(cast.oscar), "/?group=run")) == shown(page(browser(cast.nina), "/?run=nightly"))
    assert shown(page(browser(cast.oscar), "/?run=nightly")) == ["2"]


def test_what_is_new_is_counted_as_the_list_is_filtered(cast: factories.Team, alice: Client) -> None:
    since = (timezone.now() - timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    refund(cast, "1", run_id="nightly")
    refund(cast, "2")
    assert "1 new since" in page(alice, f"/queue/new/?run=nightly&since={since}")
    assert "2 new since" in page(alice, f"/queue/new/?since={since}")
    assert "run=nightly" in page(alice, f"/queue/new/?run=nightly&since={since}")


@pytest.mark.parametrize("path", ["/", "/?order=age", "/?group=run", "/?group=alike&order=age", "/?run=r1"])
def test_more_rows_are_no_more_questions(cast: factories.Team, alice: Client, path: str) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert shown(page(alice, path))
        return len(queries)

    refund(cast, "1", run_id="r1")
    page(alice, path)
    few = asked()
    for number in range(6):
        refund(cast, f"0{number}", run_id=f"r{number % 2}")
    assert asked() == few
