"""Every step that is not a vote, from every state: time only denies, a final state stays."""

from datetime import timedelta

import pytest

from review.domain import refusals, status
from review.domain.status import OPEN, Status
from tests.unit.review.people import NOON

LATER = NOON + timedelta(seconds=1)
LIVE = {"expires_at": LATER, "now": NOON}
OVER = {"expires_at": NOON, "now": NOON}
EXACT = {
    "binding": "a" * 64,
    "recomputed": "a" * 64,
    "policy_bound": "sha256:1",
    "policy_now": "sha256:1",
    "offered": True,
}


def refused(step, *args, **kwargs):
    """The code of the refusal, or the next state."""
    try:
        return step(*args, **kwargs).value
    except refusals.Declined as refusal:
        return refusal.code


@pytest.mark.parametrize("state", Status)
def test_what_is_open_can_be_withdrawn_and_nothing_else(state):
    expected = {Status.EXPIRED: "expired"}.get(state, "withdrawn" if state in OPEN else "already_decided")
    assert refused(status.withdraw, state, **LIVE) == expected


@pytest.mark.parametrize("state", Status)
def test_only_what_waits_for_the_agent_or_for_votes_can_be_revised(state):
    expected = {Status.PENDING: "pending", Status.CHANGES_REQUESTED: "pending", Status.EXPIRED: "expired"}
    assert refused(status.revise, state, revision=2, replaces=2, **LIVE) == expected.get(
        state, "already_decided"
    )


def test_what_is_held_cannot_be_revised_out_of_quarantine():
    with pytest.raises(refusals.AlreadyDecided, match="held"):
        status.revise(Status.QUARANTINED, revision=1, replaces=1, expires_at=None, now=NOON)


@pytest.mark.parametrize("replaces", [0, 1, 3])
def test_a_revision_says_which_one_it_replaces(replaces):
    with pytest.raises(refusals.StaleRevision) as caught:
        status.revise(Status.PENDING, revision=2, replaces=replaces, **LIVE)
    assert caught.value.extra == {"revision": 2}


@pytest.mark.parametrize("state", [Status.PENDING, Status.CHANGES_REQUESTED, Status.APPROVED])
def test_at_the_end_itself_nothing_can_be_done_any_more(state):
    assert status.current(state, NOON, NOON) is Status.EXPIRED
    assert status.current(state, LATER, NOON) is state
    assert refused(status.withdraw, state, **OVER) == "expired"
    assert refused(status.revise, state, revision=1, replaces=1, **OVER) == "expired"


def test_what_is_held_or_running_or_ended_does_not_run_out():
    assert status.current(Status.QUARANTINED, None, NOON) is Status.QUARANTINED
    assert status.current(Status.RUNNING, NOON, LATER) is Status.RUNNING
    assert status.current(Status.REJECTED, NOON, LATER) is Status.REJECTED


@pytest.mark.parametrize("result", ["succeeded", "failed", "unknown"])
def test_a_running_call_takes_one_report(result):
    assert status.report(Status.RUNNING, result, reported=False).value == result
    assert refused(status.report, result, "succeeded", reported=True) == "already_reported"


def test_what_a_person_ruled_takes_no_late_report():
    assert refused(status.report, Status.SUCCEEDED, "failed", reported=False) == "already_reported"


def test_silence_still_takes_one_late_report():
    assert status.report(Status.UNKNOWN, "failed", reported=False) is Status.FAILED
    assert refused(status.report, Status.UNKNOWN, "failed", reported=True) == "already_reported"


@pytest.mark.parametrize("state", [state for state in Status if state not in status.REDEEMED])
def test_what_was_never_redeemed_has_no_outcome(state):
    assert refused(status.report, state, "succeeded", reported=False) == "not_running"


@pytest.mark.parametrize("state", Status)
def test_a_person_rules_on_what_is_unknown_only(state):
    expected = {
        Status.UNKNOWN: "failed",
        Status.SUCCEEDED: "already_reported",
        Status.FAILED: "already_reported",
    }
    assert refused(status.rule, state, "failed") == expected.get(state, "not_running")


def test_fifteen_minutes_without_a_report_are_silence():
    redeemed = NOON - timedelta(minutes=15)
    assert status.is_silent(Status.RUNNING, redeemed, NOON)
    assert not status.is_silent(Status.RUNNING, redeemed + timedelta(seconds=1), NOON)
    assert not status.is_silent(Status.SUCCEEDED, redeemed, NOON)
