"""An agent that proposes twice in the same moment gets no more than its share."""

from __future__ import annotations

from django.conf import LazySettings

from review.models import Proposal
from review.services.withdraw import withdraw
from tests.db.races.stage import FEW, Stage
from tests.support.review_acts import call


def test_of_two_proposals_at_once_only_one_is_the_last_that_may_wait(
    stage: Stage, settings: LazySettings
) -> None:
    settings.HUQAN_MAX_OPEN_PROPOSALS = 1
    for number in range(FEW):
        stage.race(*[lambda n=n: call(stage.scout, arguments={"order": n}) for n in (number, -1 - number)])
        [waiting] = Proposal.objects.filter(status="pending")
        withdraw(waiting.id, by=stage.scout, reason="")
    stage.must_have_gone(("done", "too_many_pending"), ("too_many_pending", "done"))
