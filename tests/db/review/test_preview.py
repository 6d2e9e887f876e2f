"""What stands beside the list: what a proposal asks and what changed, for who may see it, and no look at it."""

from __future__ import annotations

import pytest

from review.models import Look
from review.services.claim import claim
from tests.support import factories
from tests.support.memory_acts import doubtful
from tests.support.pages import browser
from tests.support.review_acts import call

pytestmark = pytest.mark.django_db


def test_she_reads_what_it_asks_and_its_warnings_and_cannot_decide_there(cast: factories.Team) -> None:
    proposal = call(cast.scout, arguments={"order": "20\u200b817", "note": "<b>now</b>"})
    claim(proposal.id, by=cast.carol)
    page = browser(cast.alice).get(f"/proposals/{proposal.id}/preview/").content.decode()
    assert "1 hidden character in" in page and "U+200B" in page and "&lt;b&gt;now&lt;/b&gt;" in page
    assert "carol has been looking at it" in page
    assert f'href="/proposals/{proposal.id}/"' in page and "<form" not in page and "nonce" not in page


def test_passing_by_is_no_look(cast: factories.Team) -> None:
    proposal, alice = call(cast.scout), browser(cast.alice)
    alice.get(f"/proposals/{proposal.id}/preview/")
    assert not Look.objects.exists()
    alice.get(f"/proposals/{proposal.id}/")
    assert Look.objects.get().person == cast.alice.person


def test_an_outsider_finds_nothing_and_what_is_held_is_shown_on_its_own_page_alone(
    cast: factories.Team,
) -> None:
    proposal, held = call(cast.scout), doubtful(cast.scout, "The password is hunter2hunter2.")
    assert browser(cast.mallory).get(f"/proposals/{proposal.id}/preview/").status_code == 404
    assert browser(cast.alice).get(f"/proposals/{held.id}/preview/").status_code == 404
