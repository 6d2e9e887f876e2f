"""The page of one proposal: what is new on it for whom, and how one place of it is pointed at."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from review.models import Look, Proposal
from review.services.comment import comment
from review.services.revise import revise
from tests.support import factories
from tests.support.pages import browser
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db
SINCE = "Since you last looked"


def shown(person: factories.PersonActor, proposal: Proposal, asked: str = "") -> str:
    return browser(person).get(f"/proposals/{proposal.id}/{asked}").content.decode()


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


LONG = {"order": list(range(2_100))}


def approved(person: factories.PersonActor, proposal: Proposal, rows: str = "") -> Any:
    """What comes of approving with the form of the page with these rows."""
    page = shown(person, proposal, rows)
    form = {name: re.search(rf'name="{name}" value="([^"]*)"', page) for name in ("nonce", "binding")}
    sent = {name: found[1] if found else "" for name, found in form.items()}
    return browser(person).post(
        f"/proposals/{proposal.id}/decide/{rows}",
        {**sent, "revision": str(proposal.revision), "verdict": "approve", "reason": "Checked."},
    )


def test_what_is_not_listed_is_counted_and_a_link_away(cast: factories.Team) -> None:
    proposal = call(cast.scout, arguments=LONG)
    page = shown(cast.alice, proposal)
    assert "100 more places are counted and not listed here." in page and 'href="#raw"' in page
    assert f'href="/proposals/{proposal.id}/?rows=all#changes"' in page
    every = shown(cast.alice, proposal, "?rows=all")
    assert "not listed here" not in every and every.count('class="value-row"') == 2_100
    assert "not listed here" not in shown(cast.alice, call(cast.scout))


def test_approve_waits_until_all_rows_were_on_the_page(cast: factories.Team) -> None:
    proposal = call(cast.scout, arguments=LONG)
    page = shown(cast.alice, proposal)
    assert "Show all rows of the comparison to approve." in page
    assert 'value="approve"' not in page and 'value="reject"' in page
    assert approved(cast.alice, proposal).status_code == 409
    assert 'value="approve"' in shown(cast.alice, proposal, "?rows=all")
    assert "Recorded: you approved" in approved(cast.alice, proposal, "?rows=all").content.decode()


def test_rows_that_do_not_differ_hold_nothing_back(cast: factories.Team) -> None:
    first = {"order": "20817", "seen": list(range(900))}
    proposal = call(cast.scout, arguments=first)
    shown(cast.alice, proposal)
    again = revise(proposal.id, by=cast.scout, replaces=1, arguments={**first, "order": "20818"})
    page = shown(cast.alice, again)
    assert "1 changed, 900 unchanged" in page and "600 more places" in page
    assert 'value="approve"' in page


def test_an_answer_keeps_all_rows_that_were_asked_for(cast: factories.Team) -> None:
    proposal = call(cast.scout, arguments=LONG)
    page = shown(cast.alice, proposal, "?rows=all")
    assert f'action="/proposals/{proposal.id}/decide/?rows=all"' in page
    refused = browser(cast.alice).post(
        f"/proposals/{proposal.id}/decide/?rows=all", {"verdict": "approve", "reason": "I read it all."}
    )
    text = refused.content.decode()
    assert refused.status_code == 409
    assert text.count('class="value-row"') == 2_100 and "I read it all." in text


def test_who_was_not_shown_all_rows_has_not_looked_at_the_revision(cast: factories.Team) -> None:
    proposal = call(cast.scout, arguments=LONG)
    shown(cast.alice, proposal)
    again = revise(
        proposal.id, by=cast.scout, replaces=proposal.revision, arguments={"order": [*LONG["order"], "x"]}
    )
    assert "which you looked at" not in shown(cast.alice, again)
    assert "1 added" in shown(cast.alice, again, "?base=r1")  # what is the same in both was never on her page
    assert "which you looked at" not in shown(cast.alice, again)
    shown(cast.alice, again, "?rows=all")
    third = revise(
        again.id, by=cast.scout, replaces=again.revision, arguments={"order": [*LONG["order"], "y"]}
    )
    assert "revision 2, which you looked at" in shown(cast.alice, third)


def test_an_item_that_moved_says_from_where(cast: factories.Team) -> None:
    steps = ["stop", "copy", "start", "tell"]
    proposal = call(cast.scout, arguments={"steps": steps})
    again = revise(proposal.id, by=cast.scout, replaces=1, arguments={"steps": ["tell", *steps[:3]]})
    page = shown(cast.alice, again, "?base=r1")
    assert "1 moved, 3 unchanged" in page
    assert "Moved from <code>/steps/3</code>" in page and 'id="/steps/0"' in page


def test_each_row_has_an_address_that_is_its_id(cast: factories.Team) -> None:
    odd = {"a b/c": 1, "é\u202e": 2, "order": {"n": "3\u200b"}}
    page = shown(cast.alice, call(cast.scout, arguments=odd))
    rows = re.findall(r'<div class="value-row" id="([^"]*)"', page)
    assert rows == ["/a%20b~1c", "/order/n", "/%C3%A9%E2%80%AE"]
    assert [f'href="#{row}"' in page for row in rows] == [True] * 3
    assert re.search(r'href="#/order/n">Go to it', page)
