"""Deciding: who, on what, when; and which refusal answers first."""

from dataclasses import replace
from datetime import timedelta

import pytest

from review.domain import refusals
from review.domain.binding import Kind
from review.domain.decision import Verdict
from review.domain.independence import Reason
from review.domain.policy import Risk
from review.domain.status import Status
from tests.unit.review.people import (
    ACME,
    ALICE,
    BOB,
    CAROL,
    CHANGED,
    DANA,
    ERIN,
    MALLORY,
    NOON,
    RULE,
    SUBMITTED,
    approval,
    case,
    decide,
    member,
)

SECOND = timedelta(seconds=1)


def test_an_independent_reviewer_approves_and_it_takes_effect():
    ruling = decide(case(), ALICE)
    assert ruling.status is Status.EXECUTED
    assert ruling.tally.approvers == {ALICE}


def test_an_approved_outside_tool_waits_to_be_redeemed():
    assert decide(case(kind=Kind.TOOL_CALL), ALICE).status is Status.APPROVED


# Who


@pytest.mark.parametrize("reason", Reason)
def test_nobody_in_the_conflict_set_approves(reason):
    with pytest.raises(refusals.SelfApproval):
        decide(case(conflicts={ALICE: reason}), ALICE)
    assert decide(case(conflicts={}), ALICE).status is Status.EXECUTED


def test_an_owner_is_told_why_and_who_else():
    with pytest.raises(refusals.SelfApproval) as caught:
        decide(case(), BOB)
    assert caught.value.detail == "You own scout. Someone else must approve."


@pytest.mark.parametrize("verdict", ["reject", "request_changes"])
def test_an_owner_can_still_say_no_to_her_own_agent(verdict):
    assert decide(case(), BOB, verdict).status in (Status.REJECTED, Status.CHANGES_REQUESTED)


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize(
    ("person", "members"),
    [
        pytest.param(MALLORY, ACME, id="an outsider"),
        pytest.param(DANA, ACME, id="a manager who is no reviewer"),
        pytest.param(ALICE, (member(ALICE, is_active=False),), id="somebody disabled"),
        pytest.param(ALICE, (member(ALICE, until=NOON),), id="somebody whose role has just ended"),
        pytest.param(ALICE, (member(ALICE, since=NOON + SECOND),), id="somebody whose role is yet to begin"),
        pytest.param(ALICE, (), id="a superuser without a membership"),
    ],
)
def test_without_the_role_nobody_decides_anything(person, members, verdict):
    with pytest.raises(refusals.NotEligible):
        decide(case(members=members), person, verdict)
    assert decide(case(members=(*members, member(CAROL))), CAROL, verdict)


def test_a_policy_is_decided_by_managers():
    change = case(kind=Kind.POLICY_CHANGE, agent=None, conflicts={DANA: Reason.PRINCIPAL})
    assert decide(change, ERIN).status is Status.EXECUTED
    assert decide(change, ERIN, "reject").status is Status.REJECTED
    for verdict in Verdict:
        with pytest.raises(refusals.NotEligible, match="manager membership"):
            decide(change, ALICE, verdict)


def test_the_manager_who_proposes_a_policy_needs_another_one():
    with pytest.raises(refusals.SelfApproval, match="You proposed this"):
        decide(case(kind=Kind.POLICY_CHANGE, agent=None, conflicts={DANA: Reason.PRINCIPAL}), DANA)


def test_a_role_counts_only_from_before_the_arguments():
    early, late = member(ALICE, since=SUBMITTED - SECOND), member(ALICE, since=SUBMITTED)
    assert decide(case(members=(early,)), ALICE).status is Status.EXECUTED
    with pytest.raises(refusals.RoleTooNew):
        decide(case(members=(late,)), ALICE)
    assert decide(case(members=(late,)), ALICE, "reject").status is Status.REJECTED


def test_a_revision_makes_a_role_old_enough():
    late = member(ALICE, since=SUBMITTED)
    assert decide(case(members=(late,), submitted_at=SUBMITTED + SECOND), ALICE).status is Status.EXECUTED


@pytest.mark.parametrize("granted_by", [BOB, ALICE], ids=["by the agent's owner", "by himself"])
def test_a_role_granted_from_inside_does_not_count(granted_by):
    with pytest.raises(refusals.NotEligible, match="granted by somebody who is not independent"):
        decide(case(members=(member(ALICE, granted_by=granted_by),)), ALICE)
    assert decide(case(members=(member(ALICE, granted_by=DANA),)), ALICE).status is Status.EXECUTED


# On what


def test_an_approval_is_for_the_bytes_that_were_shown():
    with pytest.raises(refusals.StaleBinding):
        decide(case(), ALICE, binding=CHANGED)


def test_a_page_without_its_nonce_is_a_stale_page():
    with pytest.raises(refusals.StaleBinding):
        decide(case(), ALICE, binding=None, revision=None)


def test_another_revision_is_a_stale_page():
    with pytest.raises(refusals.StaleBinding):
        decide(case(), ALICE, revision=2)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_stored_arguments_that_no_longer_have_their_binding_are_not_decided(verdict):
    with pytest.raises(refusals.StaleBinding):
        decide(case(recomputed=CHANGED), ALICE, verdict)


def test_a_changed_rule_answers_before_the_binding_does():
    with pytest.raises(refusals.PolicyChanged):
        decide(case(policy_now="sha256:" + "0" * 64), ALICE, binding=CHANGED)


# When


@pytest.mark.parametrize("status", [Status.PENDING, Status.APPROVED])
def test_at_the_end_itself_it_is_over(status):
    ends = case(status=status, expires_at=NOON)
    with pytest.raises(refusals.Expired):
        decide(ends, ALICE, "reject")
    assert decide(ends, ALICE, "reject", now=NOON - SECOND).status is Status.REJECTED


def test_a_swept_row_says_expired_too():
    with pytest.raises(refusals.Expired):
        decide(case(status=Status.EXPIRED), ALICE)


def test_what_is_held_never_runs_out():
    assert decide(case(status=Status.QUARANTINED, expires_at=None), ALICE).status is Status.EXECUTED


ENDED = [status for status in Status if status not in (Status.PENDING, Status.QUARANTINED, Status.EXPIRED)]


@pytest.mark.parametrize("status", ENDED)
@pytest.mark.parametrize("verdict", list(Verdict))
def test_what_is_decided_stays_decided(status, verdict):
    if (status, verdict) == (Status.APPROVED, Verdict.REJECT):
        assert decide(case(status=status), ALICE, verdict).status is Status.REJECTED
        return
    with pytest.raises(refusals.AlreadyDecided):
        decide(case(status=status), ALICE, verdict)


def test_an_approval_can_be_voided_by_who_gave_it():
    approved = case(status=Status.APPROVED, kind=Kind.TOOL_CALL, votes=(approval(ALICE),))
    assert decide(approved, ALICE, "reject").status is Status.REJECTED


# Which verdict


@pytest.mark.parametrize("word", ["", "Approve", "yes", "approved", "release", "APPROVE", "approve "])
def test_an_unknown_word_is_no_verdict(word):
    with pytest.raises(refusals.BadVerdict):
        decide(case(), ALICE, word)


def test_what_is_held_is_released_or_discarded_but_not_sent_back():
    held = case(status=Status.QUARANTINED, expires_at=None)
    assert decide(held, ALICE, "reject").status is Status.REJECTED
    with pytest.raises(refusals.BadVerdict):
        decide(held, ALICE, "request_changes")


def test_one_rejection_ends_it_whatever_the_votes():
    half_way = case(rule=replace(RULE, approvals=3), votes=(approval(CAROL), approval(ALICE)))
    assert decide(half_way, ALICE, "reject").status is Status.REJECTED


def test_changes_are_requested_from_the_agent():
    assert decide(case(), ALICE, "request_changes").status is Status.CHANGES_REQUESTED


# What the form must bring


@pytest.mark.parametrize("blank", ["", "  \n\t", "\u200b", "\u00a0"])
@pytest.mark.parametrize("verdict", ["reject", "request_changes"])
def test_saying_no_needs_a_reason(verdict, blank):
    with pytest.raises(refusals.ReasonRequired):
        decide(case(), ALICE, verdict, reason=blank)


def test_high_risk_needs_a_reason_for_yes_too():
    risky = case(rule=replace(RULE, risk=Risk.HIGH))
    with pytest.raises(refusals.ReasonRequired):
        decide(risky, ALICE)
    assert decide(risky, ALICE, reason="Ticket OPS-12.").status is Status.EXECUTED
    assert decide(case(rule=replace(RULE, risk=Risk.MEDIUM)), ALICE).status is Status.EXECUTED


@pytest.mark.parametrize("age", [None, timedelta(minutes=5, seconds=1)])
def test_a_step_up_needs_a_fresh_factor(age):
    strict = case(rule=replace(RULE, step_up=True))
    with pytest.raises(refusals.StepUpRequired):
        decide(strict, ALICE, factor_at=age and NOON - age)
    assert decide(strict, ALICE, factor_at=NOON - timedelta(minutes=5)).status is Status.EXECUTED
    assert decide(strict, ALICE, "reject").status is Status.REJECTED


@pytest.mark.parametrize("typed", ["", "DE11", "de12", " DE12", "DE12\n"])
def test_a_confirmation_is_typed_exactly(typed):
    payout = case(rule=replace(RULE, confirm="/account"), arguments={"account": "DE12"})
    with pytest.raises(refusals.ConfirmMismatch):
        decide(payout, ALICE, confirm=typed)
    assert decide(payout, ALICE, confirm="DE12").status is Status.EXECUTED
    assert decide(payout, ALICE, "reject", confirm=typed).status is Status.REJECTED


def test_a_value_that_is_not_there_cannot_be_confirmed():
    with pytest.raises(refusals.ConfirmMismatch):
        decide(case(rule=replace(RULE, confirm="/account")), ALICE, confirm="")


def test_the_order_of_refusals_is_the_contracts():
    """Everything is wrong at once; each thing put right lets the next refusal answer."""
    wrong = case(
        status=Status.REJECTED,
        expires_at=NOON,
        policy_now="sha256:" + "0" * 64,
        rule=replace(RULE, step_up=True, confirm="/content", risk=Risk.HIGH, approvals=2),
        members=(member(CAROL),),
        conflicts={ALICE: Reason.AUTHOR},
        votes=(approval(ALICE),),
    )
    form = {"verdict": "yes", "binding": CHANGED, "reason": "", "confirm": "", "factor_at": None}
    told = []

    def attempt():
        with pytest.raises(refusals.DecisionDeclined) as caught:
            decide(wrong, ALICE, **form)
        told.append(caught.value.code)

    attempt()
    form["verdict"] = "approve"
    attempt()
    wrong = replace(wrong, status=Status.PENDING)
    attempt()
    wrong = replace(wrong, expires_at=NOON + SECOND)
    attempt()
    wrong = replace(wrong, electorate=replace(wrong.electorate, memberships=(member(ALICE, since=NOON),)))
    attempt()
    wrong = replace(wrong, electorate=replace(wrong.electorate, memberships=(member(ALICE), member(CAROL))))
    attempt()
    wrong = replace(wrong, electorate=replace(wrong.electorate, conflicts={}))
    attempt()
    wrong = replace(wrong, policy_now=wrong.policy_bound)
    attempt()
    form["binding"] = wrong.binding
    attempt()
    wrong = replace(wrong, votes=())
    attempt()
    form["factor_at"] = NOON
    attempt()
    form["reason"] = "Ticket OPS-12."
    attempt()
    assert told == [
        "bad_verdict",
        "already_decided",
        "expired",
        "not_eligible",
        "role_too_new",
        "self_approval",
        "policy_changed",
        "stale_binding",
        "same_person",
        "step_up_required",
        "reason_required",
        "confirm_mismatch",
    ]
    form["confirm"] = "The staging port is 7443."
    assert decide(wrong, ALICE, **form).status is Status.PENDING


# A rule or a policy that is no longer the one


@pytest.mark.parametrize("verdict", ["approve", "reject", "request_changes"])
@pytest.mark.parametrize("now", ["policy_now", "deciding_now"])
def test_under_a_rule_that_changed_no_verdict_counts(now: str, verdict: str) -> None:
    with pytest.raises(refusals.PolicyChanged):
        decide(case(**{now: "sha256:other"}), ALICE, verdict)


def test_a_change_of_the_policy_that_was_overtaken_can_be_ended_and_not_approved() -> None:
    overtaken = case(kind=Kind.POLICY_CHANGE, conflicts={DANA: Reason.AUTHOR}, overtaken=True)
    with pytest.raises(refusals.PolicyChanged) as refused:
        decide(overtaken, ERIN)
    assert "Propose it anew" in refused.value.detail
    assert decide(overtaken, ERIN, "reject").status is Status.REJECTED
    assert decide(overtaken, ERIN, "request_changes").status is Status.CHANGES_REQUESTED
    assert decide(replace(overtaken, overtaken=False), ERIN).status is Status.EXECUTED
