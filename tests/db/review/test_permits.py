"""Redeeming, spending and reporting: what was approved runs once, on exactly the reviewed bytes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from review.access.models import Agent
from review.access.refusals import AgentStopped
from review.access.services.agents import stop_agent
from review.audit.models import Entry
from review.domain import refusals
from review.models import Permit, Proposal, Revision
from review.services.expire import expire_overdue
from review.services.issue_permit import redeem
from review.services.report_outcome import report
from review.services.revisions import digest_of
from review.services.spend_permit import spend
from review.services.withdraw import withdraw
from tests.support import factories
from tests.support.policy_acts import changed
from tests.support.review_acts import MAIL, at, call, mail, vote
from tests.support.tampering import guards_down

pytestmark = pytest.mark.django_db
ORDER = {"order": "20817"}


@pytest.fixture
def approved(cast: factories.Team) -> Proposal:
    proposal = call(cast.scout)
    vote(cast.alice, proposal)
    proposal.refresh_from_db()
    return proposal


def test_an_approved_call_is_redeemed_once(cast: factories.Team, approved: Proposal) -> None:
    redeem(approved.id, by=cast.scout, arguments=ORDER)
    with pytest.raises(refusals.PermitSpent):
        redeem(approved.id, by=cast.scout, arguments=ORDER)
    approved.refresh_from_db()
    assert approved.status == "running" and Permit.objects.count() == 1


def test_the_same_key_gets_the_same_permit_until_it_is_spent(
    cast: factories.Team, approved: Proposal
) -> None:
    first = redeem(approved.id, by=cast.scout, arguments=ORDER, key="k")
    assert redeem(approved.id, by=cast.scout, arguments=ORDER, key="k").token == first.token
    spend(first.token, ORDER, by=cast.scout)
    with pytest.raises(refusals.PermitSpent):
        redeem(approved.id, by=cast.scout, arguments=ORDER, key="k")


def test_a_repeated_key_is_no_way_round_the_comparison(cast: factories.Team, approved: Proposal) -> None:
    redeem(approved.id, by=cast.scout, arguments=ORDER, key="k")
    with pytest.raises(refusals.ArgumentsDrifted):
        redeem(approved.id, by=cast.scout, arguments={"order": "1"}, key="k")


def test_what_ran_out_says_so_however_often_it_is_asked(cast: factories.Team, approved: Proposal) -> None:
    assert approved.expires_at
    with at(approved.expires_at):
        for _ in range(2):
            with pytest.raises(refusals.Expired):
                redeem(approved.id, by=cast.scout, arguments=ORDER)


def test_an_agent_that_is_stopped_between_the_door_and_the_lock_takes_and_spends_nothing(
    cast: factories.Team, approved: Proposal
) -> None:
    """The executor of another agent's call is stopped: nothing of its own is open, and it gets no permit either."""
    executor = factories.agent("mailer", cast.acme, owner=cast.erin)
    proposal = mail(cast.scout)
    vote(cast.alice, proposal)
    vote(cast.carol, proposal)
    permit = redeem(approved.id, by=cast.scout, arguments=ORDER)
    stop_agent(executor.agent.id, reason="It mails too much.", by=cast.dana)
    with pytest.raises(AgentStopped):
        redeem(proposal.id, by=executor, arguments=MAIL)
    Agent.objects.filter(id=cast.scout.agent.id).update(
        stopped_at=timezone.now()
    )  # as the door did not see it
    with pytest.raises(AgentStopped):
        spend(permit.token, ORDER, by=cast.scout)
    assert not Permit.objects.filter(proposal=proposal).exists()
    assert Permit.objects.get(proposal=approved).spent_at is None


def test_other_bytes_are_drift_and_the_difference_is_named(cast: factories.Team, approved: Proposal) -> None:
    with pytest.raises(refusals.ArgumentsDrifted) as refused:
        redeem(approved.id, by=cast.scout, arguments={"order": 20817})
    assert refused.value.extra["diff"][0]["pointer"] == "/order"
    approved.refresh_from_db()
    assert approved.status == "approved"
    redeem(approved.id, by=cast.scout, binding=approved.binding)


def test_the_binding_of_something_else_is_drift(cast: factories.Team, approved: Proposal) -> None:
    with pytest.raises(refusals.ArgumentsDrifted):
        redeem(approved.id, by=cast.scout, binding="0" * 64)


def test_what_is_not_approved_is_not_redeemed(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    with pytest.raises(refusals.NotApproved):
        redeem(proposal.id, by=cast.scout, arguments=ORDER)
    assert not Permit.objects.exists()


def test_a_rejected_or_withdrawn_approval_is_void(cast: factories.Team, approved: Proposal) -> None:
    withdraw(approved.id, by=cast.scout)
    with pytest.raises(refusals.NotApproved):
        redeem(approved.id, by=cast.scout, arguments=ORDER)


def test_an_approval_runs_out_whether_or_not_a_sweeper_came(cast: factories.Team, approved: Proposal) -> None:
    assert approved.expires_at
    with at(approved.expires_at), pytest.raises(refusals.Expired):
        redeem(approved.id, by=cast.scout, arguments=ORDER)
    approved.refresh_from_db()
    assert approved.status == "expired"


def test_the_sweeper_meets_what_is_over_and_nothing_else(cast: factories.Team, approved: Proposal) -> None:
    short = call(cast.scout, arguments={"order": "1"}, expires_in=60)
    with at(timezone.now() + timedelta(seconds=61)):
        assert expire_overdue() == 1
    short.refresh_from_db(), approved.refresh_from_db()
    assert (short.status, approved.status) == ("expired", "approved")


def test_stored_text_that_was_changed_after_the_approval_never_runs(
    cast: factories.Team, approved: Proposal
) -> None:
    with guards_down():
        Revision.objects.filter(proposal=approved).update(arguments='{"order":"1"}')
    with pytest.raises(refusals.Refusal):
        redeem(approved.id, by=cast.scout, arguments={"order": "1"})
    assert not Permit.objects.exists()


def test_a_changed_rule_voids_the_approval(cast: factories.Team, approved: Proposal) -> None:
    factories.set_policy(cast.acme, {"rules": [{"tool": "payments.refund", "risk": "high"}]})
    with pytest.raises(refusals.PolicyChanged):
        redeem(approved.id, by=cast.scout, arguments=ORDER)


def test_only_the_agent_itself_or_the_audience_redeems(cast: factories.Team, approved: Proposal) -> None:
    mailer = factories.agent("mailer", cast.acme, cast.erin)
    for stranger in (cast.prowler, mailer):
        with pytest.raises(refusals.NotFound):
            redeem(approved.id, by=stranger, arguments=ORDER)


def test_the_audience_of_the_rule_redeems_spends_and_reports(cast: factories.Team) -> None:
    mailer = factories.agent("mailer", cast.acme, cast.erin)
    proposal = mail(cast.scout)
    vote(cast.alice, proposal), vote(cast.carol, proposal)
    permit = redeem(proposal.id, by=mailer, arguments=MAIL)
    with pytest.raises(refusals.BadPermit):
        spend(permit.token, MAIL, by=cast.scout)
    assert spend(permit.token, MAIL, by=mailer).spent_at
    assert report(proposal.id, by=mailer, result="succeeded", jti=permit.jti).status == "succeeded"


def test_a_permit_is_spent_once_and_only_on_its_bytes(cast: factories.Team, approved: Proposal) -> None:
    permit = redeem(approved.id, by=cast.scout, arguments=ORDER)
    with pytest.raises(refusals.ArgumentsDrifted):
        spend(permit.token, {"order": "1"}, by=cast.scout)
    spend(permit.token, ORDER, by=cast.scout)
    with pytest.raises(refusals.PermitSpent):
        spend(permit.token, ORDER, by=cast.scout)
    kinds = (
        Entry.objects.filter(action__startswith="permit.").order_by("seq").values_list("action", flat=True)
    )
    assert list(kinds) == ["permit.issued", "permit.refused", "permit.redeemed", "permit.refused"]


@pytest.mark.parametrize("result", ["succeeded", "failed", "unknown"])
def test_a_permit_runs_nothing_once_it_was_reported_how_the_call_ended(
    cast: factories.Team, approved: Proposal, result: str
) -> None:
    permit = redeem(approved.id, by=cast.scout, arguments=ORDER, key="k")
    report(approved.id, by=cast.scout, result=result, jti=permit.jti)
    with pytest.raises(refusals.NotRunning) as refused:
        spend(permit.token, ORDER, by=cast.scout)
    assert "reported" in refused.value.detail and refused.value.extra["proposal_status"] == result
    with pytest.raises(refusals.PermitSpent):
        redeem(approved.id, by=cast.scout, arguments=ORDER, key="k")
    assert Permit.objects.get().spent_at is None


def test_what_was_spent_says_so_also_after_the_report(cast: factories.Team, approved: Proposal) -> None:
    permit = redeem(approved.id, by=cast.scout, arguments=ORDER)
    spend(permit.token, ORDER, by=cast.scout)
    report(approved.id, by=cast.scout, result="succeeded", jti=permit.jti)
    with pytest.raises(refusals.PermitSpent):
        spend(permit.token, ORDER, by=cast.scout)


def test_a_permit_is_not_spent_on_stored_text_that_was_changed_since(
    cast: factories.Team, approved: Proposal
) -> None:
    permit, other = redeem(approved.id, by=cast.scout, arguments=ORDER), {"order": "1"}
    with guards_down():
        Revision.objects.filter(proposal=approved).update(arguments='{"order":"1"}')
        Permit.objects.update(arguments_digest=digest_of('{"order":"1"}'))
    for arguments in (ORDER, other):
        with pytest.raises(refusals.ArgumentsDrifted):
            spend(permit.token, arguments, by=cast.scout)
    assert Permit.objects.get().spent_at is None


def test_a_rule_that_changes_after_the_permit_was_taken_does_not_lose_it(
    cast: factories.Team, approved: Proposal
) -> None:
    permit = redeem(approved.id, by=cast.scout, arguments=ORDER, key="k")
    changed(cast, "payments.refund", risk="high", approvals=2)
    assert redeem(approved.id, by=cast.scout, arguments=ORDER, key="k").token == permit.token
    with pytest.raises(refusals.PermitSpent):
        redeem(approved.id, by=cast.scout, arguments=ORDER)


def other_signature(token: str) -> str:
    """Return the token with the first character of its signature changed."""
    signed, _, signature = token.rpartition(".")
    return f"{signed}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


@pytest.mark.parametrize(
    "forge", [other_signature, lambda t: "a.b.c", lambda t: "", lambda t: t + ".", lambda t: t.lower()]
)
def test_a_forged_permit_is_not_one(cast: factories.Team, approved: Proposal, forge: Any) -> None:
    permit = redeem(approved.id, by=cast.scout, arguments=ORDER)
    with pytest.raises(refusals.BadPermit):
        spend(forge(permit.token), ORDER, by=cast.scout)


def test_an_outcome_is_reported_once(cast: factories.Team, approved: Proposal) -> None:
    permit = redeem(approved.id, by=cast.scout, arguments=ORDER)
    reported = report(approved.id, by=cast.scout, result="failed", jti=permit.jti, detail="Bounced.")
    assert (reported.status, reported.outcome) == ("failed", {"result": "failed", "detail": "Bounced."})
    with pytest.raises(refusals.AlreadyReported):
        report(approved.id, by=cast.scout, result="succeeded", jti=permit.jti)


def test_nothing_is_reported_of_what_was_never_let_run(cast: factories.Team, approved: Proposal) -> None:
    with pytest.raises(refusals.NotRunning):
        report(approved.id, by=cast.scout, result="succeeded", jti=approved.id)
