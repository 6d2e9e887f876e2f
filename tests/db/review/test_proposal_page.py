"""The page of one proposal: what is new on it for whom, and how one place of it is pointed at."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from review.models import Look, Proposal
from review.services.comment import comment
from tests.support import factories
from tests.support.pages import browser
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db
SINCE = "Since you last looked"


@pytest.fixture
def cast() -> factories.Team:
    return factories.team()


def shown(person: factories.PersonActor, proposal: Proposal) -> str:
    return browser(person).get(f"/proposals/{proposal.id}/").content.decode()


def test_what_others_did_since_somebody_looked_is_said_once_and_marked(cast: factories.Team) -> None:
    proposal, now = mail(cast.scout), timezone.now()
    assert SINCE not in shown(cast.alice, proposal)
    assert SINCE not in shown(cast.alice, proposal)
    with at(now + timedelta(minutes=1)):
        comment(proposal.id, by=cast.bob, text="This is the address of the old contract.")
    with at(now + timedelta(minutes=2)):
        page = shown(cast.alice, proposal)
    assert SINCE in page and "bob commented on revision 1." in page
    assert page.count('<span class="tag">New</span>') == 1
    with at(now + timedelta(minutes=3)):
        again = shown(cast.alice, proposal)
    assert SINCE not in again and '<span class="tag">New</span>' not in again


def test_what_somebody_did_himself_is_not_news_to_him(cast: factories.Team) -> None:
    proposal, now = mail(cast.scout), timezone.now()
    shown(cast.alice, proposal)
    with at(now + timedelta(minutes=1)):
        vote(cast.alice, proposal)
        assert SINCE not in shown(cast.alice, proposal)


def test_a_look_is_written_again_only_for_something_new(cast: factories.Team) -> None:
    proposal, now = mail(cast.scout), timezone.now()
    shown(cast.alice, proposal)
    first = Look.objects.get(person=cast.alice.person).at
    with at(now + timedelta(minutes=1)):
        shown(cast.alice, proposal)
    assert Look.objects.get(person=cast.alice.person).at == first
    with at(now + timedelta(minutes=2)):
        comment(proposal.id, by=cast.bob, text="Look again.")
        shown(cast.alice, proposal)
    assert Look.objects.get(person=cast.alice.person).at > first


def test_what_is_not_listed_is_counted_and_the_bytes_are_a_link_away(cast: factories.Team) -> None:
    page = shown(cast.alice, call(cast.scout, arguments={"order": list(range(2_100))}))
    assert "100 more places are counted and not listed here." in page and 'href="#raw"' in page
    assert "not listed here" not in shown(cast.alice, call(cast.scout))


def test_each_row_has_an_address_that_is_its_id(cast: factories.Team) -> None:
    odd = {"a b/c": 1, "é\u202e": 2, "order": {"n": "3\u200b"}}
    page = shown(cast.alice, call(cast.scout, arguments=odd))
    rows = re.findall(r'<div class="value-row" id="([^"]*)"', page)
    assert rows == ["/a%20b~1c", "/order/n", "/%C3%A9%E2%80%AE"]
    assert [f'href="#{row}"' in page for row in rows] == [True] * 3
    assert re.search(r'href="#/order/n">Go to it', page)
