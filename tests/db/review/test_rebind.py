"""A rule changed while something was open under it: bound anew, its votes outdated, and nobody let through by that."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from memory.models import MemoryRecord
from review.access.actors import PersonActor
from review.access.models import Membership
from review.audit.models import Entry
from review.domain import refusals
from review.domain.independence import Reason
from review.models import Conflict, Decision, Proposal, Revision
from review.queries.cases import case_of
from review.queries.policies import in_force
from review.services import rebind as service
from review.services.issue_permit import redeem
from review.services.rebind import rebind, rebind_outdated
from tests.support import factories
from tests.support.policy_acts import changed, proposed, with_rule
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db
ORDER = {"order": "20817"}


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The request that changes the policy binds nothing anew: it is met later."""
    monkeypatch.setattr(service, "AT_ONCE", 0)


def held(cast: factories.Team) -> Proposal:
    return call(cast.scout, "memory.write", {"content": "The staging port is 7443.", "untrusted": True})


def rebound(proposal: Proposal) -> list[dict[str, Any]]:
    rows = Entry.objects.filter(action="proposal.rebound", proposal=proposal.id).order_by("seq")
    return [json.loads(row.canonical) for row in rows]


def test_what_waits_is_bound_anew_with_the_same_arguments_and_its_votes_are_outdated(
    cast: factories.Team,
) -> None:
    proposal = mail(cast.scout)
    before = Revision.objects.get(proposal=proposal)
    vote(cast.alice, proposal)
    changed(cast, "mail.*", risk="high", approvals=2, ttl_seconds=3_600)
    proposal.refresh_from_db()
    after = Revision.objects.get(proposal=proposal, number=2)
    assert (proposal.status, proposal.revision, proposal.approvals_given) == ("pending", 2, 0)
    assert after.binding == proposal.binding != before.binding
    assert (after.arguments, after.token, after.author_person) == (before.arguments, before.token, None)
    assert proposal.expires_at == (before.created_at + timedelta(hours=1)).replace(microsecond=0)
    (entry,) = rebound(proposal)
    assert entry["policy"] == after.rule_digest and entry["object"]["revision"] == 2
    assert entry["actor"]["kind"] == "system" and entry["before"] == {"status": "pending"}
    vote(cast.alice, proposal)
    vote(cast.carol, proposal)
    proposal.refresh_from_db()
    assert proposal.status == "approved"


def test_changing_another_rule_touches_nothing(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    vote(cast.alice, proposal)
    changed(cast, "payments.*", risk="high", approvals=2)
    proposal.refresh_from_db()
    assert (proposal.revision, proposal.approvals_given, rebound(proposal)) == (1, 1, [])
    vote(cast.carol, proposal)


def test_what_is_approved_and_not_yet_run_waits_for_people_again(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal)
    changed(cast, "payments.*", risk="high", approvals=2)
    proposal.refresh_from_db()
    assert (proposal.status, proposal.decided_at, proposal.approvals_required) == ("pending", None, 2)
    with pytest.raises(refusals.NotApproved):
        redeem(proposal.id, by=cast.scout, arguments=ORDER)


@pytest.mark.parametrize("status", ["pending", "quarantined", "approved"])
def test_what_the_new_rule_blocks_ends_with_that_reason(cast: factories.Team, status: str) -> None:
    proposal = held(cast) if status == "quarantined" else call(cast.scout)
    if status == "approved":
        vote(cast.alice, proposal)
    proposal.refresh_from_db()
    assert proposal.status == status
    changed(cast, proposal.tool, route="block")
    proposal.refresh_from_db()
    assert proposal.status == "rejected" and proposal.reason and proposal.reason.startswith("blocked: ")
    assert not MemoryRecord.objects.filter(lifecycle="active").exists()


def test_what_the_new_schema_would_have_refused_ends_and_says_where(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    changed(cast, "payments.*", schema={"properties": {"order": {"type": "integer"}}})
    proposal.refresh_from_db()
    assert (proposal.status, proposal.fields) == ("rejected", ["/order"])
    assert proposal.reason and proposal.reason.startswith("invalid: ")


def test_a_rule_that_now_allows_lets_nothing_through_that_people_were_asked_about(
    cast: factories.Team,
) -> None:
    waits, approved = call(cast.scout), call(cast.scout, arguments={"order": "2"})
    vote(cast.alice, approved)
    changed(cast, "payments.*", route="allow", risk="low")
    for proposal in (waits, approved):
        proposal.refresh_from_db()
        assert (proposal.status, proposal.revision) == ("pending", 2)
    assert call(cast.scout, arguments={"order": "3"}).status == "approved"


def test_what_is_held_stays_held_when_its_own_rule_changes(cast: factories.Team) -> None:
    proposal = held(cast)
    vote(cast.alice, proposal)
    changed(cast, "memory.write", risk="medium", approvals=1)
    proposal.refresh_from_db()
    assert (proposal.status, proposal.revision, proposal.expires_at) == ("quarantined", 2, None)
    assert (proposal.risk, proposal.approvals_required, proposal.approvals_given) == ("medium", 2, 0)
    assert [s["code"] for s in Revision.objects.get(proposal=proposal, number=2).gate["signals"]].count(
        "untrusted_source"
    ) == 1
    assert MemoryRecord.objects.count() == 1


def test_what_is_held_is_bound_anew_when_the_rule_of_its_release_changes(cast: factories.Team) -> None:
    proposal, other = held(cast), call(cast.scout, "memory.write", {"content": "The train leaves at 14:00."})
    vote(cast.alice, proposal)
    changed(cast, "memory.release", risk="high", approvals=3)
    for one in (proposal, other):
        one.refresh_from_db()
    assert (proposal.revision, proposal.approvals_required, proposal.approvals_given) == (2, 3, 0)
    assert other.revision == 1


# Until it is bound anew


@pytest.mark.usefixtures("later")
def test_until_then_no_verdict_counts_and_whoever_meets_it_has_it_bound(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    changed(cast, "payments.*", risk="high", approvals=2)
    proposal.refresh_from_db()
    assert proposal.revision == 1
    with pytest.raises(refusals.PolicyChanged):
        vote(cast.alice, proposal)
    proposal.refresh_from_db()
    assert (proposal.revision, proposal.approvals_required) == (2, 2)
    assert not Decision.objects.filter(proposal=proposal).exists()
    vote(cast.alice, proposal)


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("verdict", ["approve", "reject", "request_changes"])
def test_every_verdict_waits_for_the_new_binding(cast: factories.Team, verdict: str) -> None:
    proposal = call(cast.scout)
    changed(cast, "payments.*", risk="high", approvals=2)
    with pytest.raises(refusals.PolicyChanged):
        vote(cast.alice, proposal, verdict)


@pytest.mark.usefixtures("later")
def test_until_then_nothing_is_redeemed(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal)
    changed(cast, "payments.*", risk="high", approvals=2)
    with pytest.raises(refusals.PolicyChanged):
        redeem(proposal.id, by=cast.scout, arguments=ORDER)
    with pytest.raises(refusals.NotApproved):
        redeem(proposal.id, by=cast.scout, arguments=ORDER)


@pytest.mark.usefixtures("later")
def test_a_held_one_waits_too_when_only_the_rule_of_its_release_changed(cast: factories.Team) -> None:
    proposal = held(cast)
    changed(cast, "memory.release", risk="high", approvals=3)
    with pytest.raises(refusals.PolicyChanged):
        vote(cast.alice, proposal)
    vote(cast.alice, proposal)


@pytest.mark.usefixtures("later")
def test_the_worker_binds_the_rest_in_batches_and_each_once(cast: factories.Team) -> None:
    proposals = [call(cast.scout, arguments={"order": str(number)}) for number in range(3)]
    changed(cast, "payments.*", risk="high", approvals=2)
    assert rebind_outdated(limit=2) == 2
    call_command("worker", once=True)
    assert rebind_outdated() == 0
    for proposal in proposals:
        proposal.refresh_from_db()
        assert proposal.revision == 2


def test_one_that_is_bound_already_is_left_alone(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    rebind(proposal.id)
    proposal.refresh_from_db()
    assert proposal.revision == 1


@pytest.mark.usefixtures("later")
def test_what_is_over_is_over(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    changed(cast, "payments.*", ttl_seconds=60)
    assert proposal.expires_at
    with at(proposal.expires_at):
        rebind(proposal.id)
    proposal.refresh_from_db()
    assert (proposal.status, proposal.revision) == ("expired", 1)


def test_a_shorter_time_counts_from_the_day_it_was_submitted(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    with at(timezone.now() + timedelta(hours=2)):
        changed(cast, "payments.*", ttl_seconds=3_600)
        with pytest.raises(refusals.Expired):
            vote(cast.alice, proposal)


# Who changed it


def reviewer_too(who: PersonActor, cast: factories.Team) -> None:
    since = Membership.objects.filter(person=who.person).values_list("since", flat=True)[0]
    Membership.objects.create(person=who.person, workspace=cast.acme, role="reviewer", since=since)


@pytest.mark.parametrize("who", ["dana", "erin"], ids=["who wrote it", "who approved it"])
def test_who_changed_the_rule_does_not_decide_what_was_open_under_it(cast: factories.Team, who: str) -> None:
    reviewer_too(getattr(cast, who), cast)
    proposal = call(cast.scout)
    changed(cast, "payments.*", risk="high", approvals=1)
    with pytest.raises(refusals.SelfApproval):
        vote(getattr(cast, who), proposal)
    stored = Conflict.objects.get(proposal=proposal, person=getattr(cast, who).person)
    assert stored.reason == Reason.RULE_CHANGER
    vote(cast.alice, proposal)


def test_who_changed_another_rule_does(cast: factories.Team) -> None:
    reviewer_too(cast.dana, cast)
    proposal = call(cast.scout)
    changed(cast, "crm.*", risk="high", approvals=1)
    vote(cast.dana, proposal)


def test_who_changed_it_before_does(cast: factories.Team) -> None:
    reviewer_too(cast.dana, cast)
    changed(cast, "payments.*", risk="high", approvals=1)
    vote(cast.dana, call(cast.scout))


def test_who_changed_the_rule_of_release_does_not_release_what_was_held(cast: factories.Team) -> None:
    reviewer_too(cast.dana, cast)
    proposal, other = held(cast), call(cast.scout)
    changed(cast, "memory.release", risk="high", approvals=2, step_up=True)
    with pytest.raises(refusals.SelfApproval):
        vote(cast.dana, proposal)
    vote(cast.dana, other)


@pytest.mark.usefixtures("later")
def test_he_is_found_anew_when_nothing_was_stored_yet(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    changed(cast, "payments.*", risk="high", approvals=1)
    proposal.refresh_from_db()
    case = case_of(proposal, timezone.now())
    assert {cast.dana.person.id, cast.erin.person.id} <= set(case.electorate.conflicts)
    assert case.rule_changed


def test_an_open_change_of_the_policy_is_bound_anew_like_all_else_and_is_overtaken(
    cast: factories.Team,
) -> None:
    factories.person("frida", cast.acme, ["manager"])
    waits = proposed(cast.erin, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    changed(cast, "policy.change", approvals=1, step_up=True)
    waits.refresh_from_db()
    assert (waits.status, waits.revision) == ("pending", 2)
    assert in_force(cast.acme.id).version == 2
    assert case_of(waits, timezone.now()).overtaken
