"""A page of the queue looks at so many rows and no more, loses none of them, and says when more follow."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from itertools import chain

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from review.access.actors import PersonActor
from review.audit.statements import prepared
from review.queries import queue
from review.queries.decidable import Voter
from review.queries.queue import Filters, View, Viewer
from tests.support import factories
from tests.support.pages import browser
from tests.support.review_acts import call, vote

pytestmark = pytest.mark.django_db


def look_at(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lists look at so many rows; how many stands in their prepared statements, so these are prepared anew."""
    monkeypatch.setattr(queue, "COUNTED", rows)
    monkeypatch.setattr("review.views.queue.COUNTED", rows)
    prepare_anew(monkeypatch, "_pending", "_held")


def prepare_anew(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setattr(queue, name, prepared(getattr(queue, name).__wrapped__))


@pytest.fixture
def five_orders(cast: factories.Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bob's agent asks five times, and a page looks at two rows."""
    look_at(2, monkeypatch)
    for number in range(5):
        call(cast.scout, arguments={"order": str(number)})


def pages(person: PersonActor, view: View) -> list[list[str]]:
    """The ids on every page of a view, from the first to the last."""
    seen, cursor = [], None
    while True:
        found = queue.page(Viewer(person.person, timezone.now()), view, Filters(), cursor)
        seen.append([str(row.id) for row in found.rows])
        if not (cursor := found.next_cursor):
            return seen


@pytest.mark.usefixtures("five_orders")
def test_every_row_is_on_one_page_however_few_a_page_looks_at(cast: factories.Team) -> None:
    shown = pages(cast.alice, View.MINE)
    assert [len(page) for page in shown] == [2, 2, 1]
    assert len({*chain(*shown)}) == 5


@pytest.mark.usefixtures("five_orders")
def test_who_lost_his_role_while_the_page_was_made_can_decide_nothing(cast: factories.Team) -> None:
    viewer = Viewer(cast.alice.person, timezone.now())
    assert viewer.workspaces and any(row.fits for row in viewer.pending)
    late = Viewer(cast.alice.person, viewer.now)
    late.__dict__.update(workspaces=viewer.workspaces, voter=Voter((cast.alice.person.id,), ()))
    assert late.pending and not any(row.fits for row in late.pending)
    assert queue.releasable(late) == queue.Counted(0)


def test_what_comes_next_is_found_behind_what_only_others_can_decide(
    cast: factories.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "NEAR", 1)
    prepare_anew(monkeypatch, "_nearest")
    call(factories.agent("ranger", cast.acme, cast.alice), arguments={"order": "her own"})
    hers = call(cast.scout, arguments={"order": "of bob's agent"})
    alice = Viewer(cast.alice.person, timezone.now())
    assert len(alice.nearest) == 1 and not alice.nearest[0].fits
    assert queue.next_for(alice) == hers
    assert queue.next_for(Viewer(cast.bob.person, timezone.now())) != hers


@pytest.mark.usefixtures("five_orders")
def test_an_owner_is_led_past_what_others_decide(cast: factories.Team) -> None:
    assert pages(cast.bob, View.MINE) == [[], [], []]
    bob = browser(cast.bob)
    page = bob.get("/").content.decode()
    assert "None of the 2 that come next" in page and "Nothing needs you" not in page
    further = re.search(r'href="([^"]*cursor=[^"]*)"[^>]*>\s*Look further', page)
    assert further and bob.get(unescape(further[1])).status_code == 200
    assert "Nothing needs you" in browser(cast.oscar).get("/").content.decode()


@pytest.mark.usefixtures("five_orders")
def test_a_small_page_ends_where_the_next_begins(
    cast: factories.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_at(500, monkeypatch)
    monkeypatch.setattr(queue, "PAGE", 2)
    shown = pages(cast.alice, View.MINE)
    assert [len(page) for page in shown] == [2, 2, 1]
    assert [*chain(*shown)] == [*chain(*pages(cast.bob, View.OTHERS))]


def test_what_came_since_is_told_for_each_view_by_what_brought_it_there(cast: factories.Team) -> None:
    def new(view: View, since: datetime) -> int:
        return queue.newer(Viewer(cast.alice.person, timezone.now()), view, since).n

    proposal, before = call(cast.scout), timezone.now()
    assert new(View.MINE, before - timedelta(hours=1)) == 1
    assert (new(View.MINE, before), new(View.DECIDED, before)) == (0, 0)
    vote(cast.alice, proposal, "reject")
    assert (new(View.MINE, before), new(View.DECIDED, before)) == (0, 1)


def test_the_bar_above_a_page_asks_little(cast: factories.Team) -> None:
    call(cast.scout)
    alice = browser(cast.alice)
    alice.get("/help/")
    with CaptureQueriesContext(connection) as asked:
        assert alice.get("/help/").status_code == 200
    own = [query["sql"] for query in asked if "review_" in query["sql"] or "access_" in query["sql"]]
    assert len(own) <= 8, own
