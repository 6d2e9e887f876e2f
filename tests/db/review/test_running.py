"""After the approval: the way back, what is voided, what is silent, and who may say how it ended."""

from __future__ import annotations

import base64
import json
import re
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from huqan_site.lib.keyring import Keyring
from review.access.refusals import AgentStopped
from review.access.services.agents import resume_agent, stop_agent
from review.audit.models import Entry
from review.audit.verify import verify
from review.domain import refusals
from review.models import Permit, Proposal
from review.services.fall_silent import note_silent
from review.services.issue_permit import redeem
from review.services.report_outcome import report
from review.services.rule_outcome import rule_outcome
from review.services.spend_permit import spend
from tests.support import factories
from tests.support.api import Api
from tests.support.pages import browser
from tests.support.review_acts import MAIL, at, call, mail, vote
from tests.support.tampering import guards_down

pytestmark = pytest.mark.django_db
ORDER = {"order": "20817"}
SILENCE = timedelta(minutes=15)


@pytest.fixture
def approved(cast: factories.Team) -> Proposal:
    return vote(cast.alice, call(cast.scout)).proposal


@pytest.fixture
def permit(cast: factories.Team, approved: Proposal) -> Permit:
    return redeem(approved.id, by=cast.scout, arguments=ORDER)


def status_of(proposal: Proposal) -> str:
    proposal.refresh_from_db()
    return str(proposal.status)


def _part(number: int, token: str) -> dict[str, Any]:
    part = token.split(".")[number]
    return dict(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))))


def entries(action: str) -> int:
    return Entry.objects.filter(action=action).count()


# The way back.


@pytest.mark.parametrize("name", ["alice", "carol", "bob"])
def test_an_approved_call_can_be_rejected_also_by_who_approved_it(
    cast: factories.Team, approved: Proposal, name: str
) -> None:
    vote(getattr(cast, name), approved, "reject")
    assert status_of(approved) == "rejected" and entries("permit.voided") == 1
    with pytest.raises(refusals.NotApproved):
        redeem(approved.id, by=cast.scout, arguments=ORDER)


def test_the_page_of_what_is_approved_offers_the_way_back(cast: factories.Team, approved: Proposal) -> None:
    page = browser(cast.alice).get(f"/proposals/{approved.id}/").content.decode()
    assert 'value="reject"' in page and 'name="verdict" value="approve"' not in page


def test_what_was_redeemed_has_no_way_back(cast: factories.Team, permit: Permit) -> None:
    with pytest.raises(refusals.AlreadyDecided):
        vote(cast.alice, permit.proposal, "reject")
    assert not entries("permit.voided")


# Stopping.


def test_stopping_an_agent_voids_what_it_may_still_run(cast: factories.Team, permit: Permit) -> None:
    second = vote(cast.alice, call(cast.scout, arguments={"order": "2"})).proposal
    stop_agent(cast.scout.agent.id, reason="It repeats itself.", by=cast.dana)
    assert status_of(second) == "withdrawn" and status_of(permit.proposal) == "running"
    assert entries("permit.voided") == 1
    with pytest.raises(AgentStopped):
        spend(permit.token, ORDER, by=cast.scout)
    resume_agent(cast.scout.agent.id, by=cast.erin)
    with pytest.raises(refusals.BadPermit):
        spend(permit.token, ORDER, by=cast.scout)


def test_a_spent_permit_stays_spent_when_its_agent_is_stopped(cast: factories.Team, permit: Permit) -> None:
    spend(permit.token, ORDER, by=cast.scout)
    stop_agent(cast.scout.agent.id, reason="It repeats itself.", by=cast.dana)
    permit.refresh_from_db()
    assert permit.voided_at is None and not entries("permit.voided")


# Silence.


def test_fifteen_minutes_without_a_report_make_it_unknown(cast: factories.Team, permit: Permit) -> None:
    with at(permit.issued_at + SILENCE - timedelta(seconds=1)):
        assert note_silent() == 0 and status_of(permit.proposal) == "running"
    with at(permit.issued_at + SILENCE):
        assert note_silent() == 1 and note_silent() == 0
    assert status_of(permit.proposal) == "unknown"
    assert entries("outcome.unknown") == entries("permit.expired") == 1
    assert not verify().faults


def test_a_permit_that_was_spent_did_not_expire(cast: factories.Team, permit: Permit) -> None:
    spend(permit.token, ORDER, by=cast.scout)
    with at(permit.issued_at + SILENCE):
        note_silent()
    assert entries("outcome.unknown") == 1 and not entries("permit.expired")


def test_the_agent_that_asks_meets_the_silence_first(cast: factories.Team, permit: Permit) -> None:
    with at(permit.issued_at + SILENCE):
        told = Api(cast.scout).get(f"/proposals/{permit.proposal_id}").json()
    assert told["status"] == "unknown" and told["outcome"]["result"] == "unknown"


def test_the_worker_notes_the_silence(cast: factories.Team, permit: Permit) -> None:
    with at(permit.issued_at + SILENCE):
        call_command("worker", once=True)
    assert status_of(permit.proposal) == "unknown"


def test_unknown_is_a_view_of_its_own_noted_or_not(cast: factories.Team, permit: Permit) -> None:
    alice = browser(cast.alice)
    assert str(permit.proposal_id) not in alice.get("/?view=unknown").content.decode()
    with guards_down():
        Permit.objects.update(issued_at=timezone.now() - SILENCE, expires_at=timezone.now())
    assert str(permit.proposal_id) in alice.get("/?view=unknown").content.decode()
    note_silent()
    assert str(permit.proposal_id) in alice.get("/?view=unknown").content.decode()
    assert str(permit.proposal_id) not in browser(cast.nina).get("/?view=unknown").content.decode()


def test_one_late_report_is_taken(cast: factories.Team, permit: Permit) -> None:
    with at(permit.issued_at + SILENCE):
        note_silent()
        report(permit.proposal_id, by=cast.scout, result="failed", jti=permit.jti)
        with pytest.raises(refusals.AlreadyReported):
            report(permit.proposal_id, by=cast.scout, result="succeeded", jti=permit.jti)
    assert status_of(permit.proposal) == "failed"


# A ruling.


@pytest.fixture
def unknown(cast: factories.Team, permit: Permit) -> Proposal:
    report(permit.proposal_id, by=cast.scout, result="unknown", jti=permit.jti)
    return permit.proposal


def test_one_person_rules_on_the_page_and_it_is_final(cast: factories.Team, unknown: Proposal) -> None:
    alice, url = browser(cast.alice), f"/proposals/{unknown.id}/"
    assert "Nobody has said how it ended" in alice.get(url).content.decode()
    answer = alice.post(f"{url}rule/", {"result": "succeeded", "reason": "The refund is in the books."})
    assert answer.status_code == 200 and "you ruled that it succeeded" in answer.content.decode()
    assert status_of(unknown) == "succeeded" and entries("outcome.ruled") == 1 and not verify().faults
    assert "A person" in alice.get(url).content.decode()
    with pytest.raises(refusals.AlreadyReported):
        rule_outcome(unknown.id, by=cast.carol, result="failed", reason="No.")
    with pytest.raises(refusals.AlreadyReported):
        report(unknown.id, by=cast.scout, result="failed", jti=unknown.permit.jti)


def test_silence_that_nobody_noted_yet_can_be_ruled_on(cast: factories.Team, permit: Permit) -> None:
    with at(permit.issued_at + SILENCE):
        rule_outcome(permit.proposal_id, by=cast.alice, result="failed", reason="Nothing in the books.")
    assert status_of(permit.proposal) == "failed" and entries("outcome.unknown") == 1


@pytest.mark.parametrize(
    ("name", "result", "reason", "code"),
    [
        ("alice", "unknown", "I saw.", (422, "bad_verdict")),
        ("alice", "approved", "I saw.", (422, "bad_verdict")),
        ("alice", "failed", " ", (422, "reason_required")),
        ("dana", "failed", "I saw.", (403, "not_eligible")),
        ("mallory", "failed", "I saw.", (404, "")),
    ],
)
def test_a_ruling_is_refused_and_keeps_what_was_typed(
    cast: factories.Team, unknown: Proposal, name: str, result: str, reason: str, code: tuple[int, str]
) -> None:
    answer = browser(getattr(cast, name)).post(
        f"/proposals/{unknown.id}/rule/", {"result": result, "reason": reason}
    )
    found = re.search(r'data-problem="([a-z_]+)"', answer.content.decode())
    assert (answer.status_code, found[1] if found and code[1] else "") == code
    assert status_of(unknown) == "unknown"


def test_what_still_runs_cannot_be_ruled_on(cast: factories.Team, permit: Permit) -> None:
    with pytest.raises(refusals.NotRunning):
        rule_outcome(permit.proposal_id, by=cast.alice, result="failed", reason="I saw.")
    page = browser(cast.alice).get(f"/proposals/{permit.proposal_id}/").content.decode()
    assert "Nobody has said how it ended" not in page


# Drift.


def test_a_drift_is_shown_with_its_difference(cast: factories.Team, approved: Proposal) -> None:
    alice, url = browser(cast.alice), f"/proposals/{approved.id}/"
    assert "was about to run something else" not in alice.get(url).content.decode()
    with pytest.raises(refusals.ArgumentsDrifted):
        redeem(approved.id, by=cast.scout, arguments={"order": "2081\u202e7", "again": True})
    page = alice.get(url).content.decode()
    assert "scout was about to run something else" in page and 'id="drift"' in page
    assert "/again" in page and "U+202E" in page and status_of(approved) == "approved"


def test_a_drift_when_the_permit_is_spent_is_shown_too(cast: factories.Team) -> None:
    mailer = factories.agent("mailer", cast.acme, owner=cast.erin)
    proposal = mail(cast.scout)
    for person in (cast.alice, cast.carol):
        vote(person, proposal)
    permit = redeem(proposal.id, by=cast.scout, arguments=MAIL)
    with pytest.raises(refusals.ArgumentsDrifted):
        spend(permit.token, {**MAIL, "amount": "18400"}, by=mailer)
    page = browser(cast.alice).get(f"/proposals/{proposal.id}/").content.decode()
    assert "mailer was about to run something else" in page and "/amount" in page
    refused = Entry.objects.get(action="permit.refused")
    assert "18400" not in refused.canonical and "arguments_drifted" in refused.canonical


# Rotation.


def test_a_new_key_signs_and_the_old_one_is_still_good_for_checking(
    cast: factories.Team, permit: Permit
) -> None:
    before = _part(0, permit.token)["kid"]
    call_command("rotate_key", "permit")
    assert entries("key.rotated") == 1
    spend(permit.token, ORDER, by=cast.scout)
    other = vote(cast.alice, call(cast.scout, arguments={"order": "2"})).proposal
    after = _part(0, redeem(other.id, by=cast.scout, binding=other.binding).token)["kid"]
    published = {key["kid"] for key in Client().get("/.well-known/huqan-keys.json").json()["keys"]}
    assert before != after and {before, after} <= published


def test_the_logs_key_rotates_and_the_log_still_verifies(
    cast: factories.Team, approved: Proposal, settings: Any, tmp_path: Path
) -> None:
    settings.HUQAN_KEYS_DIR = shutil.copytree(settings.HUQAN_KEYS_DIR, tmp_path / "keys")
    call_command("rotate_key", "log")
    vote(cast.alice, call(cast.scout, arguments={"order": "2"}))
    assert not verify().faults and len(Keyring(settings.HUQAN_KEYS_DIR).public_keys("log")) == 2


def test_no_other_key_is_rotated_by_that_command() -> None:
    with pytest.raises(Exception, match="invalid choice"):
        call_command("rotate_key", "tombstone")


def test_the_claims_of_a_permit_are_those_of_the_contract(cast: factories.Team, permit: Permit) -> None:
    head, claims = _part(0, permit.token), _part(1, permit.token)
    proposal = permit.proposal
    assert set(head) == {"alg", "kid", "typ"} and head["typ"] == "huqan-permit+jwt"
    assert claims["exp"] - claims["iat"] <= 300 and claims["nbf"] == claims["iat"]
    assert (claims["ws"], claims["prop"], claims["rev"]) == (str(cast.acme.id), str(proposal.id), 1)
    assert (claims["agent"], claims["tool"], claims["bind"]) == (
        str(cast.scout.agent.id),
        "payments.refund",
        proposal.binding,
    )
    assert claims["aud"] == "scout" and claims["jti"] == str(permit.jti)
    assert claims["args"] == permit.arguments_digest
