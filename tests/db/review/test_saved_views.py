"""A person names what the queue shows, finds it beside the views, and removes it; nobody else sees it."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlsplit

import pytest
from django.test import Client

from review.access.refusals import Mistyped
from review.audit.models import Entry
from review.domain.refusals import NotFound
from review.models import SavedView
from review.services.saved_view import LONGEST, MOST, ROOM, remove_view, save_view
from tests.support import factories
from tests.support.pages import browser
from tests.support.review_acts import call

pytestmark = pytest.mark.django_db


def page(client: Client, path: str = "/") -> str:
    return str(client.get(path).content.decode())


def listed(text: str) -> list[tuple[str, str]]:
    """Address and name of each saved view on a page."""
    part = text.split('id="saved"')[1].split('class="form"')[0].split("</nav>")[0]
    links = re.findall(r'<li><a href="([^"]*)"[^>]*>(.*?)</a>', part)
    return [(unescape(url), unescape(name)) for url, name in links]


def test_she_saves_what_she_filtered_for_and_finds_it_beside_the_views(
    cast: factories.Team, alice: Client
) -> None:
    said = {"view": "others", "risk": "high", "q": "İzmir & 7", "order": "age", "group": "run"}
    answer = alice.post("/queue/saved/", {**said, "name": "  Night   watch "})
    shown = page(alice)
    [(url, name)] = listed(shown)
    assert (answer.status_code, answer.headers["Location"], name) == (302, url, "Night watch")
    saved = alice.get(url)
    assert saved.context["query"] == "İzmir & 7" and saved.context["view"]["key"] == "others"
    assert "Oldest first, one run together" in saved.content.decode()


def test_only_an_address_that_asks_for_something_is_offered_to_be_saved(alice: Client) -> None:
    assert "Save this view as" not in page(alice) + page(alice, "/?view=others")
    assert "Save this view as" in page(alice, "/?risk=high") and "Save this view as" in page(
        alice, "/?order=age"
    )
    alice.post("/queue/saved/", {"risk": "high", "name": "High"})
    again = page(alice, "/?risk=high")
    assert "Save this view as" not in again and re.search(r'aria-current="page">High<', again)


def test_a_name_that_is_used_again_stands_for_what_was_saved_last(alice: Client) -> None:
    for risk in ("high", "low"):
        alice.post("/queue/saved/", {"risk": risk, "name": "Mine"})
    assert listed(page(alice)) == [("/?risk=low", "Mine")]


def test_nothing_but_what_the_queue_knows_is_kept(alice: Client) -> None:
    alice.post(
        "/queue/saved/", {"risk": "high", "next": "https://evil.example", "view": "nowhere", "name": "x"}
    )
    [(url, _)] = listed(page(alice))
    assert (urlsplit(url).netloc, url) == ("", "/?risk=high")


def test_a_saved_view_is_for_who_saved_it_alone(cast: factories.Team, alice: Client) -> None:
    alice.post("/queue/saved/", {"risk": "high", "name": "Only mine"})
    kept = SavedView.objects.get()
    assert "Only mine" not in page(browser(cast.carol))
    with pytest.raises(NotFound):
        remove_view(kept.id, by=cast.carol)
    assert browser(cast.mallory).post(f"/queue/saved/{kept.id}/remove/").status_code == 404
    assert alice.post(f"/queue/saved/{kept.id}/remove/").status_code == 302
    assert listed(page(alice)) == []


def test_a_saved_view_opens_nothing_that_its_owner_may_not_see(cast: factories.Team) -> None:
    call(cast.scout, arguments={"order": "20817"})
    mallory = browser(cast.mallory)
    mallory.post("/queue/saved/", {"workspace": "acme", "view": "others", "name": "Theirs"})
    [(url, _)] = listed(page(mallory))
    assert "20817" not in page(mallory, url)


@pytest.mark.parametrize(
    ("name", "query", "why"),
    [
        (" \t", "risk=high", "needs a name"),
        ("x" * (LONGEST + 1), "risk=high", "40 characters"),
        ("Long", "q=" + "x" * ROOM, "too long to be kept"),
        ("All", "", "nothing to keep yet"),
        ("Others", "view=others", "nothing to keep yet"),
    ],
)
def test_what_cannot_be_kept_is_refused(cast: factories.Team, name: str, query: str, why: str) -> None:
    with pytest.raises(Mistyped, match=why):
        save_view(name, query, by=cast.alice)
    assert not SavedView.objects.exists()


def test_a_refused_name_stays_typed_on_the_page_it_was_for(alice: Client) -> None:
    answer = alice.post("/queue/saved/", {"risk": "high", "name": "y" * (LONGEST + 1)})
    text = answer.content.decode()
    assert answer.status_code == 422
    assert "40 characters at most" in text and 'value="' + "y" * (LONGEST + 1) in text
    assert re.search(r'name="risk" value="high"', text)


def test_where_nothing_was_chosen_the_page_says_what_to_choose(alice: Client) -> None:
    answer = alice.post("/queue/saved/", {"name": "Everything"})
    text = answer.content.decode()
    assert answer.status_code == 422
    assert "Choose a filter, an order or groups first." in text and 'value="Everything"' in text


def test_there_is_room_for_so_many_and_each_can_still_be_replaced(cast: factories.Team) -> None:
    for number in range(MOST):
        save_view(f"view {number}", "risk=high", by=cast.alice)
    with pytest.raises(Mistyped, match=f"{MOST} saved views"):
        save_view("one more", "risk=low", by=cast.alice)
    assert save_view("view 0", "risk=low", by=cast.alice).query == "risk=low"
    assert save_view("hers", "risk=low", by=cast.carol)


def test_saving_is_no_entry_in_the_log(cast: factories.Team) -> None:
    before = Entry.objects.count()
    remove_view(save_view("High", "risk=high", by=cast.alice).id, by=cast.alice)
    assert Entry.objects.count() == before
