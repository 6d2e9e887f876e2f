"""A page that is open while others decide: it says so, once, and takes nothing that was typed."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from review.models import Proposal
from review.services.comment import comment
from review.services.revise import revise
from tests.support import factories
from tests.support.pages import browser
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db


def asked(who: factories.PersonActor, proposal: Proposal) -> str:
    """Where the page that `who` has open asks what became of it."""
    page = browser(who).get(f"/proposals/{proposal.id}/").content.decode()
    found = re.search(r'hx-get="(/proposals/[^"]*/meanwhile/[^"]*)"', page)
    assert found
    return html.unescape(found[1])


def told(who: factories.PersonActor, address: str) -> Any:
    with at(timezone.now() + timedelta(minutes=2)):
        return browser(who).get(address)


def after(minutes: int) -> Any:
    return at(timezone.now() + timedelta(minutes=minutes))


def test_nothing_is_said_as_long_as_nothing_happened(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    address = asked(cast.alice, proposal)
    with after(1):
        comment(proposal.id, by=cast.bob, text="Which order?")
    answer = told(cast.alice, address)
    assert (answer.status_code, answer.content) == (204, b"")


def test_who_has_it_open_is_told_who_decided_and_what_comes_next(cast: factories.Team) -> None:
    proposal, other = call(cast.scout), call(cast.scout, arguments={"order": "next"})
    address = asked(cast.alice, proposal)
    with after(1):
        vote(cast.carol, proposal)
    text = told(cast.alice, address).content.decode()
    assert "carol approved revision 1. The console made it ready to be run once." in text
    assert "What you typed stays here." in text
    assert f'href="/proposals/{other.id}/" data-key="."' in text
    assert 'hx-swap-oob="true"' in text and "poll from" not in text


def test_a_vote_that_does_not_decide_it_leaves_the_buttons_and_goes_on_asking(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    address = asked(cast.alice, proposal)
    with after(1):
        vote(cast.carol, proposal)
    text = told(cast.alice, address).content.decode()
    assert "carol approved revision 1." in text and "You can still decide." in text
    assert "decide-open" not in text
    again = re.search(r'hx-get="([^"]*)"', text)
    assert again and told(cast.alice, html.unescape(again[1])).status_code == 204


def test_another_revision_is_not_what_the_page_shows(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    address = asked(cast.alice, proposal)
    with after(1):
        revise(proposal.id, by=cast.scout, replaces=1, arguments={"order": "other"})
    text = told(cast.alice, address).content.decode()
    assert "sent revision 2." in text and f'href="/proposals/{proposal.id}/"' in text


def test_what_ran_out_of_time_is_said_too(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    address = asked(cast.alice, proposal)
    with at(proposal.expires_at):
        assert "Expired. Nothing runs" in browser(cast.alice).get(address).content.decode()


def test_a_stranger_learns_nothing_and_who_was_signed_out_keeps_his_page(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    address = asked(cast.alice, proposal)
    with after(1):
        vote(cast.carol, proposal)
    assert Client().get(address).status_code == 204
    assert told(cast.mallory, address).status_code == 404
    assert browser(cast.alice).get(f"/proposals/{proposal.id}/meanwhile/?since=never").status_code == 200
