"""Somebody says that he looks at a proposal: the others see it, and nobody is kept from anything."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from review.access.actors import PersonActor
from review.audit.models import Entry
from review.domain.claim import LASTS
from review.domain.refusals import AlreadyDecided, Expired, NotFound
from review.models import Claim, Proposal
from review.services.claim import claim, let_go
from tests.support import factories
from tests.support.memory_acts import doubtful
from tests.support.pages import browser
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db

LOOKING = "alice has been looking at it since"


def page(person: PersonActor, path: str) -> str:
    return str(browser(person).get(path, follow=True).content.decode())


def address(proposal: Proposal) -> str:
    return f"/proposals/{proposal.id}/"


def test_who_claims_it_is_named_to_the_others_on_its_row_and_on_its_page(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    claim(proposal.id, by=cast.alice)
    for path in ("/", address(proposal)):
        assert LOOKING in page(cast.carol, path)
    assert LOOKING in page(cast.bob, "/?view=others")
    assert re.search(r"You have been looking at it since \d\d:\d\d UTC\.", page(cast.alice, "/"))
    assert LOOKING not in page(cast.alice, address(proposal))


def test_what_is_held_is_claimed_too(cast: factories.Team) -> None:
    held = doubtful(cast.scout, "Parcels take two days.")
    claim(held.id, by=cast.alice)
    for path in ("/quarantine/", address(held)):
        assert LOOKING in page(cast.carol, path)
    assert "You have been looking at it since" in page(cast.alice, "/quarantine/")
    assert "Let go" in page(cast.alice, address(held))
    vote(cast.carol, held, "reject")
    assert "looking at it" not in page(cast.carol, "/quarantine/?view=discarded")


def test_a_claim_keeps_nobody_from_deciding(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    claim(proposal.id, by=cast.alice)
    assert vote(cast.carol, proposal).proposal.status == "approved"


def test_two_look_at_it_and_each_lets_go_for_himself(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    for person in (cast.alice, cast.carol):
        claim(proposal.id, by=person)
    let_go(proposal.id, by=cast.carol)
    assert [held.person for held in Claim.objects.all()] == [cast.alice.person]
    assert LOOKING in page(cast.carol, "/")


def test_a_claim_ends_by_itself_and_lasts_longer_when_it_is_made_again(cast: factories.Team) -> None:
    proposal, now = call(cast.scout), timezone.now()
    first = claim(proposal.id, by=cast.alice)
    with at(now + LASTS - timedelta(minutes=1)):
        again = claim(proposal.id, by=cast.alice)
    assert (again.since, again.until > first.until) == (first.since, True)
    with at(now + 2 * LASTS - timedelta(minutes=2)):
        assert LOOKING in page(cast.carol, "/")
    with at(now + 2 * LASTS):
        assert LOOKING not in page(cast.carol, "/") + page(cast.carol, address(proposal))
        assert claim(proposal.id, by=cast.alice).since > first.until


def test_who_has_decided_looks_at_it_no_more(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    claim(proposal.id, by=cast.alice)
    assert vote(cast.alice, proposal).proposal.status == "pending"
    assert LOOKING not in page(cast.carol, address(proposal))


def test_what_waits_for_nobody_is_not_claimed(cast: factories.Team) -> None:
    decided, late = call(cast.scout), mail(cast.scout)
    vote(cast.alice, decided)
    with pytest.raises(AlreadyDecided):
        claim(decided.id, by=cast.carol)
    with at(timezone.now() + timedelta(days=2)), pytest.raises(Expired):
        claim(late.id, by=cast.carol)
    assert "Claim it" not in page(cast.carol, address(decided))


def test_a_claim_that_came_too_late_is_refused_on_the_page_as_it_stands(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal)
    answer = browser(cast.carol).post(f"{address(proposal)}claim/")
    assert (answer.status_code, 'data-problem="already_decided"' in answer.content.decode()) == (409, True)


def test_an_outsider_neither_claims_nor_lets_go(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    for act in (claim, let_go):
        with pytest.raises(NotFound):
            act(proposal.id, by=cast.mallory)
    claim(proposal.id, by=cast.alice)
    assert "looking at it" not in page(cast.mallory, "/?view=others")


def test_a_claim_is_no_entry_and_changes_nothing_of_what_would_run(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    before, entries = (proposal.binding, proposal.status, proposal.revision), Entry.objects.count()
    claim(proposal.id, by=cast.alice)
    proposal.refresh_from_db()
    assert (proposal.binding, proposal.status, proposal.revision) == before
    assert Entry.objects.count() == entries


def test_no_agent_reads_of_a_claim(cast: factories.Team, client: Any) -> None:
    proposal = call(cast.scout)
    claim(proposal.id, by=cast.alice)
    told = client.get(f"/api/v1/proposals/{proposal.id}", **factories.bearer(cast.scout))
    assert told.status_code == 200 and "alice" not in told.content.decode()


def test_many_claims_cost_the_queue_no_more_questions_than_one(cast: factories.Team) -> None:
    carol = browser(cast.carol)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            carol.get("/")
        return len(queries)

    claim(call(cast.scout, arguments={"order": "1"}).id, by=cast.alice)
    carol.get("/")
    one = asked()
    for order in ("2", "3", "4"):
        proposal = call(cast.scout, arguments={"order": order})
        for person in (cast.alice, cast.bob):
            claim(proposal.id, by=person)
    assert asked() == one
