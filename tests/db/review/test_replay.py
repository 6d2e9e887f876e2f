"""No decision and no permit without its entry: what was put into the tables by hand is found, and what is gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone

from huqan_site.lib.ids import new_id
from review import replay
from review.models import Decision, Permit
from review.services.issue_permit import redeem
from review.services.spend_permit import spend
from tests.support.factories import Team, team
from tests.support.review_acts import call, mail, vote
from tests.support.tampering import guards_down

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cast() -> Team:
    """The cast, with three decisions and two permits, one of them spent."""
    cast = team()
    first = call(cast.scout)
    vote(cast.alice, first)
    spend(redeem(first.id, by=cast.scout).token, {"order": "20817"}, by=cast.scout)
    second = call(cast.scout, arguments={"order": "2"})
    vote(cast.carol, second)
    redeem(second.id, by=cast.scout)
    vote(cast.alice, mail(cast.scout))
    return cast


def faults() -> list[str]:
    return [sentence for sentence in (*replay.decisions(), *replay.permits()) if sentence]


def test_what_the_services_did_is_explained(cast: Team) -> None:
    assert faults() == []
    assert len([*replay.decisions(), *replay.permits()]) == 5


def put_in_a_decision(cast: Team) -> None:
    decision = Decision.objects.order_by("created_at").last()
    assert decision
    decision.pk, decision.person, decision.nonce = new_id(), cast.carol.person, "another"
    decision.save(force_insert=True)


def give_it_to_somebody_else(cast: Team) -> None:
    Decision.objects.filter(person=cast.carol.person).update(person=cast.bob.person)


def turn_it_round(cast: Team) -> None:
    Decision.objects.filter(person=cast.carol.person).update(verdict="reject")


def show_something_else(cast: Team) -> None:
    Decision.objects.filter(person=cast.carol.person).update(shown="0" * 63 + "1")


def take_a_decision_out(cast: Team) -> None:
    Decision.objects.filter(person=cast.carol.person).delete()


def spend_behind_the_back(cast: Team) -> None:
    Permit.objects.filter(spent_at=None).update(spent_at=timezone.now())


def make_a_permit_good_again(cast: Team) -> None:
    Permit.objects.update(spent_at=None)


def void_behind_the_back(cast: Team) -> None:
    Permit.objects.filter(spent_at=None).update(voided_at=timezone.now())


def take_a_permit_out(cast: Team) -> None:
    Permit.objects.filter(spent_at=None).delete()


@pytest.mark.parametrize(
    "harm",
    [
        *(
            put_in_a_decision,
            give_it_to_somebody_else,
            turn_it_round,
            show_something_else,
            take_a_decision_out,
        ),
        *(spend_behind_the_back, make_a_permit_good_again, void_behind_the_back, take_a_permit_out),
    ],
)
def test_what_was_done_behind_the_consoles_back_is_named(cast: Team, harm: Callable[[Team], None]) -> None:
    with guards_down():
        harm(cast)
    assert len(faults()) == 1
