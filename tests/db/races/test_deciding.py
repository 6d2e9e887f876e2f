"""Two do something to one proposal in the same moment: one of them wins, and the other is told so."""

from __future__ import annotations

from functools import partial

from review.audit.actions import Action
from review.audit.models import Entry
from review.audit.transaction import write
from review.models import Decision, Proposal, Status
from review.services.expire import meet
from review.services.revise import revise
from review.services.transitions import lock
from review.services.withdraw import withdraw
from tests.db.races.stage import FEW, ROUNDS, Stage, deciding, ends_of
from tests.support.memory_acts import TICKET

LOST = "already_decided"


def test_of_two_people_who_give_the_last_vote_one_does(stage: Stage) -> None:
    for proposal in stage.memories():
        stage.race(deciding(stage.alice, proposal), deciding(stage.carol, proposal))
        assert ends_of(proposal) == [Action.PROPOSAL_EXECUTED]
    stage.must_have_gone(("done", LOST), (LOST, "done"))
    assert Decision.objects.count() == ROUNDS


def test_of_two_people_who_are_both_needed_neither_vote_is_lost(stage: Stage) -> None:
    for proposal in stage.mails(FEW):
        stage.race(deciding(stage.alice, proposal), deciding(stage.carol, proposal))
        proposal.refresh_from_db()
        assert (proposal.status, proposal.approvals_given) == (Status.APPROVED, 2)
    stage.must_have_gone(("done", "done"))
    assert Entry.objects.filter(action=Action.PROPOSAL_APPROVED).count() == FEW


def test_a_form_that_is_sent_twice_is_recorded_once_and_answered_twice(stage: Stage) -> None:
    for proposal in stage.mails():
        form = deciding(stage.alice, proposal)
        first, second = stage.race(form, form)
        assert first.replayed is not second.replayed
        assert first.decision == second.decision
    stage.must_have_gone(("done", "done"))
    assert Decision.objects.count() == ROUNDS
    assert not Proposal.objects.exclude(approvals_given=1, status=Status.PENDING).exists()


def test_one_person_with_two_windows_gives_one_vote(stage: Stage) -> None:
    for proposal in stage.mails():
        stage.race(deciding(stage.alice, proposal), deciding(stage.alice, proposal))
    stage.must_have_gone(("done", "same_person"), ("same_person", "done"))
    assert Decision.objects.count() == ROUNDS
    assert not Proposal.objects.exclude(approvals_given=1, status=Status.PENDING).exists()


def test_approving_and_rejecting_at_once_is_one_of_both(stage: Stage) -> None:
    for proposal in stage.memories():
        approved, _ = stage.race(deciding(stage.alice, proposal), deciding(stage.carol, proposal, "reject"))
        won = Action.PROPOSAL_REJECTED if hasattr(approved, "code") else Action.PROPOSAL_EXECUTED
        assert ends_of(proposal) == [won]
    stage.must_have_gone(("done", LOST), (LOST, "done"))


def test_approving_and_sending_back_at_once_is_one_of_both(stage: Stage) -> None:
    for proposal in stage.memories(FEW):
        stage.race(deciding(stage.alice, proposal), deciding(stage.carol, proposal, "request_changes"))
        proposal.refresh_from_db()
        assert (proposal.status == Status.EXECUTED) is (ends_of(proposal) == [Action.PROPOSAL_EXECUTED])
        assert proposal.status in (Status.EXECUTED, Status.CHANGES_REQUESTED)
    stage.must_have_gone(("done", LOST), (LOST, "done"))


def test_approving_and_withdrawing_at_once_is_one_of_both(stage: Stage) -> None:
    for proposal in stage.memories():
        stage.race(deciding(stage.alice, proposal), partial(withdraw, proposal.id, by=stage.scout))
        assert len(ends_of(proposal)) == 1
    stage.must_have_gone(("done", LOST), (LOST, "done"))


def test_what_is_revised_while_it_is_approved_is_executed_as_read_or_not_at_all(stage: Stage) -> None:
    for number, proposal in enumerate(stage.memories()):
        new = {"content": f"Door {number} opens to the south.", "provenance": TICKET}
        stage.race(
            deciding(stage.alice, proposal),
            partial(revise, proposal.id, by=stage.scout, replaces=1, arguments=new),
        )
        proposal.refresh_from_db()
        assert (proposal.status, proposal.revision) in ((Status.EXECUTED, 1), (Status.PENDING, 2))
    stage.must_have_gone(("done", LOST), ("stale_binding", "done"))


def test_two_revisions_of_one_revision_are_one(stage: Stage) -> None:
    for number, proposal in enumerate(stage.memories(FEW)):
        new = {"content": f"Door {number} opens to the south.", "provenance": TICKET}
        act = partial(revise, proposal.id, by=stage.scout, replaces=1, arguments=new)
        stage.race(act, act)
        assert proposal.revisions.count() == 2
    stage.must_have_gone(("done", "stale_revision"), ("stale_revision", "done"))


def test_what_runs_out_while_it_is_approved_is_approved_or_over(stage: Stage) -> None:
    """The approval was sent just before the end, and the sweeper comes just after it."""
    for proposal in stage.memories():
        stage.race(deciding(stage.alice, proposal), partial(sweep, proposal))
        assert len(ends_of(proposal)) == 1
    stage.must_have_gone(("done", "done"), ("expired", "done"))


def sweep(proposal: Proposal) -> None:
    """Do what `expire` does, at the very moment that `proposal` runs out."""
    assert proposal.expires_at is not None
    with write():
        meet(lock(proposal.id), proposal.expires_at)


def test_releasing_and_discarding_at_once_is_one_of_both(stage: Stage) -> None:
    for proposal in stage.held():
        stage.race(deciding(stage.carol, proposal), deciding(stage.alice, proposal, "reject"))
        record = proposal.records.get()
        released = record.trust == "trusted"
        assert ends_of(proposal) == [Action.PROPOSAL_EXECUTED if released else Action.PROPOSAL_REJECTED]
        assert record.lifecycle == ("active" if released else "discarded")
    stage.must_have_gone(("done", LOST), (LOST, "done"))
