"""The connection is lost while the database commits: nobody knows, and sending the same again tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection

from review.audit.refusals import Unavailable
from review.audit.verify import verify
from review.models import Decision, Permit, Proposal
from review.services.issue_permit import redeem
from review.services.propose import Draft, propose
from tests.db.races.stage import Stage, deciding
from tests.support.review_acts import call

DONE, NOT_DONE = True, False
either = pytest.mark.parametrize("done", [DONE, NOT_DONE], ids=["committed", "not committed"])


@contextmanager
def commit_is_lost(*, done: bool) -> Iterator[None]:
    """Lose the connection at the next commit, just after it was `done` or just before."""
    commit = connection._commit

    def lost() -> None:
        if done:
            commit()
        raise OperationalError("server closed the connection unexpectedly")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "_commit", lost)
        yield


def twice(act: Callable[[], Any], *, done: bool) -> Any:
    """Do `act` with its commit lost, and then again; return what the second one got."""
    with commit_is_lost(done=done), pytest.raises(Unavailable):
        act()
    return act()


@either
def test_a_proposal_with_a_key_is_made_once(stage: Stage, done: bool) -> None:
    draft = Draft("payments.refund", {"order": "20817"}, key="once", body_digest="the same")
    assert twice(lambda: propose(draft, by=stage.scout), done=done).replayed is done
    assert Proposal.objects.count() == 1


@either
def test_a_form_is_counted_once(stage: Stage, done: bool) -> None:
    form = deciding(stage.alice, call(stage.scout))
    assert twice(form, done=done).replayed is done
    assert Decision.objects.count() == 1


@either
def test_a_permit_is_issued_once(stage: Stage, done: bool) -> None:
    proposal = call(stage.scout, "calendar.read")
    permit = twice(
        lambda: redeem(proposal.id, by=stage.scout, binding=proposal.binding, key="once"), done=done
    )
    assert permit == Permit.objects.get()
    assert verify().ok
