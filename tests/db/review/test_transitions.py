"""One conditional statement moves a proposal; whoever comes second is told so."""

from __future__ import annotations

import pytest

from review.domain.refusals import AlreadyDecided
from review.domain.status import Status
from review.models import Proposal
from review.services.transitions import move
from tests.support import factories
from tests.support.review_acts import call

pytestmark = pytest.mark.django_db


@pytest.mark.unwatched("it moves a proposal with nobody who does it")
def test_of_two_who_read_the_same_state_one_moves_it() -> None:
    made = call(factories.team().scout)
    first, second = (Proposal.objects.get(pk=made.pk) for _ in range(2))
    move(first, Status.WITHDRAWN)
    with pytest.raises(AlreadyDecided):
        move(second, Status.REJECTED)
    assert Proposal.objects.get(pk=made.pk).status == "withdrawn"


@pytest.mark.unwatched("it moves a proposal with nobody who does it")
def test_a_revision_in_between_makes_the_move_fail() -> None:
    made = call(factories.team().scout)
    read = Proposal.objects.get(pk=made.pk)
    Proposal.objects.filter(pk=made.pk).update(revision=2)
    with pytest.raises(AlreadyDecided):
        move(read, Status.APPROVED)
