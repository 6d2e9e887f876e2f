"""What was approved runs once, however many ask for it at once."""

from __future__ import annotations

from functools import partial

from review.audit.actions import Action
from review.audit.models import Entry
from review.models import Permit, Status
from review.services.issue_permit import redeem
from review.services.report_outcome import report
from review.services.spend_permit import spend
from review.services.withdraw import withdraw
from tests.db.races.stage import FEW, ROUNDS, Stage, deciding, ends_of
from tests.support.memory_acts import arguments_of


def test_of_two_who_redeem_one_gets_the_permit(stage: Stage) -> None:
    for proposal in stage.approved():
        act = partial(redeem, proposal.id, by=stage.scout, binding=proposal.binding)
        stage.race(act, act)
    stage.must_have_gone(("done", "permit_spent"), ("permit_spent", "done"))
    assert Permit.objects.count() == ROUNDS


def test_one_who_redeems_twice_with_one_key_gets_the_same_permit_twice(stage: Stage) -> None:
    for proposal in stage.approved(FEW):
        act = partial(redeem, proposal.id, by=stage.scout, binding=proposal.binding, key="once")
        first, second = stage.race(act, act)
        assert first.token == second.token
    stage.must_have_gone(("done", "done"))
    assert Permit.objects.count() == FEW


def test_what_is_rejected_while_it_is_redeemed_runs_or_is_void(stage: Stage) -> None:
    for proposal in stage.approved():
        stage.race(
            partial(redeem, proposal.id, by=stage.scout, binding=proposal.binding),
            deciding(stage.carol, proposal, "reject"),
        )
        proposal.refresh_from_db()
        ran = Permit.objects.filter(proposal=proposal).exists()
        assert proposal.status == (Status.RUNNING if ran else Status.REJECTED)
        assert ends_of(proposal) == [Action.PERMIT_ISSUED if ran else Action.PROPOSAL_REJECTED]
    stage.must_have_gone(("done", "already_decided"), ("not_approved", "done"))


def test_what_is_withdrawn_while_it_is_redeemed_runs_or_is_void(stage: Stage) -> None:
    for proposal in stage.approved(FEW):
        stage.race(
            partial(redeem, proposal.id, by=stage.scout, binding=proposal.binding),
            partial(withdraw, proposal.id, by=stage.scout),
        )
        assert len(ends_of(proposal)) == 1
    stage.must_have_gone(("done", "already_decided"), ("not_approved", "done"))


def test_of_two_who_spend_a_permit_one_does(stage: Stage) -> None:
    for proposal in stage.approved():
        arguments = arguments_of(proposal)
        permit = redeem(proposal.id, by=stage.scout, arguments=arguments)
        act = partial(spend, permit.token, arguments, by=stage.scout)
        stage.race(act, act)
    stage.must_have_gone(("done", "permit_spent"), ("permit_spent", "done"))
    assert not Permit.objects.filter(spent_at__isnull=True).exists()


def test_a_permit_that_is_spent_while_the_outcome_is_reported_is_spent_before_that_or_not_at_all(
    stage: Stage,
) -> None:
    for proposal in stage.approved(FEW):
        arguments = arguments_of(proposal)
        permit = redeem(proposal.id, by=stage.scout, arguments=arguments)
        stage.race(
            partial(spend, permit.token, arguments, by=stage.scout),
            partial(report, proposal.id, by=stage.scout, result="failed", jti=permit.jti),
        )
        permit.refresh_from_db()
        told = list(
            Entry.objects.filter(proposal=str(proposal.id)).order_by("-seq").values_list("action", flat=True)
        )
        if permit.spent_at:
            assert told[:2] == [Action.OUTCOME_REPORTED, Action.PERMIT_REDEEMED]
    stage.must_have_gone(("done", "done"), ("not_running", "done"))


def test_of_two_reports_one_counts(stage: Stage) -> None:
    for proposal in stage.approved(FEW):
        permit = redeem(proposal.id, by=stage.scout, binding=proposal.binding)
        stage.race(
            partial(report, proposal.id, by=stage.scout, result="succeeded", jti=permit.jti),
            partial(report, proposal.id, by=stage.scout, result="failed", jti=permit.jti),
        )
    stage.must_have_gone(("done", "already_reported"), ("already_reported", "done"))
