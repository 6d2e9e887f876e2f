"""Deciding, through the service that page, command and test share."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from review.access.models import Membership, Ownership, Person, User
from review.audit.models import Entry
from review.domain import refusals
from review.models import Decision, Proposal, Revision
from review.services.decide import decide
from tests.support import factories
from tests.support.review_acts import at, ballot, call, mail, vote
from tests.support.tampering import guards_down

pytestmark = pytest.mark.django_db


def status(proposal: Proposal) -> str:
    return Proposal.objects.get(pk=proposal.pk).status


def actions(proposal: Proposal) -> list[str]:
    return list(Entry.objects.filter(proposal=proposal.pk).order_by("seq").values_list("action", flat=True))


def test_an_independent_reviewer_approves_and_the_call_may_run_once(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal)
    assert status(proposal) == "approved"
    assert actions(proposal) == ["proposal.proposed", "decision.approved", "proposal.approved"]


def test_an_owner_cannot_approve_her_own_agents_proposal(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    with pytest.raises(refusals.SelfApproval):
        vote(cast.bob, proposal)
    assert status(proposal) == "pending"
    assert actions(proposal)[-1] == "decision.refused"


def test_an_owner_can_reject_her_own_agents_proposal(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.bob, proposal, "reject")
    assert status(proposal) == "rejected"


def test_a_second_account_of_the_owner_is_still_the_owner(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    other = User.objects.create(
        person=cast.bob.person, username="bobby", password="!", date_joined=timezone.now()
    )
    with pytest.raises(refusals.SelfApproval):
        vote(factories.PersonActor(cast.bob.person, other, "another session"), proposal)


def test_whoever_became_owner_after_the_proposal_cannot_approve(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    Ownership.objects.create(agent=cast.scout.agent, person=cast.alice.person, since=timezone.now())
    with pytest.raises(refusals.SelfApproval):
        vote(cast.alice, proposal)
    vote(cast.carol, proposal)
    assert status(proposal) == "approved"


def test_whoever_owned_the_agent_when_it_proposed_cannot_approve_later(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    Ownership.objects.filter(agent=cast.scout.agent).update(until=timezone.now())
    with pytest.raises(refusals.SelfApproval):
        vote(cast.bob, proposal)


def test_whoever_minted_the_token_cannot_approve_what_it_proposed(cast: factories.Team) -> None:
    token = factories.token(cast.scout.agent, cast.alice, ["propose"])
    proposal = call(factories.AgentActor(cast.scout.agent, token))
    with pytest.raises(refusals.SelfApproval):
        vote(cast.alice, proposal)


def test_a_manager_without_a_reviewer_role_has_no_vote(cast: factories.Team) -> None:
    with pytest.raises(refusals.NotEligible):
        vote(cast.dana, call(cast.scout))


def test_a_superuser_has_no_vote(cast: factories.Team) -> None:
    root = factories.person("root")
    root.user.is_superuser = True
    root.user.save()
    with pytest.raises(refusals.NotFound):
        vote(root, call(cast.scout))


def test_a_superuser_who_owns_the_agent_cannot_approve_either(cast: factories.Team) -> None:
    cast.bob.user.is_superuser = True
    cast.bob.user.save()
    with pytest.raises(refusals.SelfApproval):
        vote(cast.bob, call(cast.scout))


def test_for_somebody_of_another_workspace_the_proposal_does_not_exist(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    for person, pk in ((cast.mallory, proposal.id), (cast.alice, uuid4())):
        with pytest.raises(refusals.NotFound):
            decide(pk, by=person, ballot=ballot(person, proposal))
    assert status(proposal) == "pending"


def test_a_role_that_began_after_the_arguments_does_not_count(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    late = factories.person("late")
    Membership.objects.create(person=late.person, workspace=cast.acme, role="reviewer", since=timezone.now())
    with pytest.raises(refusals.RoleTooNew):
        vote(late, proposal)


def test_a_role_granted_by_the_agents_owner_does_not_count(cast: factories.Team) -> None:
    Membership.objects.filter(person=cast.alice.person).update(granted_by=cast.bob.person)
    with pytest.raises(refusals.NotEligible):
        vote(cast.alice, call(cast.scout))


def test_a_role_that_ended_between_page_and_click_does_not_count(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    form = ballot(cast.alice, proposal)
    Membership.objects.filter(person=cast.carol.person).update(until=timezone.now())
    with pytest.raises(refusals.NotFound):
        vote(cast.carol, proposal)
    decide(proposal.id, by=cast.alice, ballot=form)
    assert status(proposal) == "approved"


def test_two_different_people_are_two_votes_and_one_person_is_one(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    vote(cast.alice, proposal)
    assert status(proposal) == "pending"
    with pytest.raises(refusals.SamePerson):
        vote(cast.alice, proposal)
    vote(cast.carol, proposal)
    assert status(proposal) == "approved"


def test_a_first_vote_does_not_count_once_its_person_is_disabled(cast: factories.Team) -> None:
    dora = factories.person("dora", cast.acme, ["reviewer"])
    proposal = mail(cast.scout)
    vote(dora, proposal)
    Person.objects.filter(pk=dora.person.pk).update(disabled_at=timezone.now())
    vote(cast.alice, proposal)
    assert status(proposal) == "pending"
    vote(cast.carol, proposal)
    assert status(proposal) == "approved"


def test_two_people_approve_and_the_second_account_of_the_first_adds_nothing(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    vote(cast.alice, proposal)
    other = User.objects.create(
        person=cast.alice.person, username="Alicia", password="!", date_joined=timezone.now()
    )
    with pytest.raises(refusals.SamePerson):
        vote(factories.PersonActor(cast.alice.person, other, "elsewhere"), proposal)


def test_the_same_form_sent_twice_is_one_vote_and_the_same_answer(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    form = ballot(cast.alice, proposal)
    first = decide(proposal.id, by=cast.alice, ballot=form)
    again = decide(proposal.id, by=cast.alice, ballot=form)
    assert again.replayed and again.decision == first.decision
    assert Decision.objects.filter(proposal=proposal).count() == 1


def test_a_form_of_somebody_else_is_a_stale_page(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    with pytest.raises(refusals.StaleBinding):
        decide(proposal.id, by=cast.alice, ballot=ballot(cast.carol, proposal))
    for nonce in ("", "fresh-nonce-2"):
        with pytest.raises(refusals.StaleBinding):
            vote(cast.alice, proposal, nonce=nonce)


def test_a_binding_that_is_not_the_stored_one_is_stale(cast: factories.Team) -> None:
    with pytest.raises(refusals.StaleBinding):
        vote(cast.alice, call(cast.scout), binding="0" * 64)


def test_stored_text_that_was_changed_behind_the_binding_is_never_approved(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    with guards_down():
        Revision.objects.filter(proposal=proposal).update(arguments='{"order":"99999"}')
    with pytest.raises(refusals.StaleBinding):
        vote(cast.alice, proposal)


def test_a_form_on_another_base_than_the_reviewed_one_cannot_approve(cast: factories.Team) -> None:
    from review.services import nonce

    proposal = call(cast.scout)
    shown = nonce.Shown(cast.alice.person.id, proposal.id, proposal.binding, "other:none", "0" * 64)
    elsewhere = nonce.issue(shown, now=timezone.now())
    with pytest.raises(refusals.StaleBinding):
        vote(cast.alice, proposal, nonce=elsewhere)
    vote(cast.alice, proposal, "reject", nonce=elsewhere)
    assert status(proposal) == "rejected"


def test_a_decided_proposal_is_not_decided_again(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal, "reject")
    with pytest.raises(refusals.AlreadyDecided):
        vote(cast.carol, proposal)
    assert status(proposal) == "rejected"


def test_one_rejection_ends_it_although_somebody_approved(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    vote(cast.alice, proposal)
    vote(cast.carol, proposal, "reject")
    assert status(proposal) == "rejected"


def test_an_approved_call_that_nobody_ran_can_still_be_rejected_by_who_approved_it(
    cast: factories.Team,
) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal)
    vote(cast.alice, proposal, "reject")
    assert status(proposal) == "rejected"


def test_expiry_is_judged_from_the_row_at_the_very_second(cast: factories.Team) -> None:
    late, in_time = call(cast.scout, expires_in=60), call(cast.scout, expires_in=60)
    assert late.expires_at is not None and in_time.expires_at is not None
    with at(in_time.expires_at - timedelta(seconds=1)):
        vote(cast.alice, in_time)
    with at(late.expires_at), pytest.raises(refusals.Expired):
        vote(cast.alice, late)
    assert (status(in_time), status(late)) == ("approved", "expired")
    assert actions(late)[-2:] == ["proposal.expired", "decision.refused"]


def test_rejecting_and_high_risk_need_a_reason(cast: factories.Team) -> None:
    proposal, risky = call(cast.scout), mail(cast.scout)
    with pytest.raises(refusals.ReasonRequired):
        vote(cast.alice, proposal, "reject", reason=" ")
    with pytest.raises(refusals.ReasonRequired):
        vote(cast.alice, risky, reason="")
    vote(cast.alice, proposal, reason="")
    assert status(proposal) == "approved"


def test_an_unknown_or_missing_verdict_is_never_an_approval(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    for verdict in ("", "Approve", "yes", "approved"):
        with pytest.raises(refusals.BadVerdict):
            vote(cast.alice, proposal, verdict)
    assert status(proposal) == "pending"


def test_requested_changes_go_back_with_reason_and_fields(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal, "request_changes", reason="Which order?", fields=("/order",))
    proposal.refresh_from_db()
    assert (proposal.status, proposal.reason, proposal.fields) == (
        "changes_requested",
        "Which order?",
        ["/order"],
    )


def test_a_decision_keeps_who_how_and_what_was_shown(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal)
    cast_vote = Decision.objects.get(proposal=proposal)
    assert (cast_vote.person, cast_vote.user) == (cast.alice.person, cast.alice.user)
    assert (cast_vote.binding, cast_vote.shown) == (proposal.binding, "0" * 64)
    assert cast_vote.session and cast_vote.methods == ["password"] and cast_vote.auth_time


def test_the_database_itself_refuses_a_second_approval_of_one_person(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    vote(cast.alice, proposal)
    twin = Decision.objects.get(proposal=proposal)
    twin.pk, twin.nonce = uuid4(), "another"
    with (
        guards_down(),  # on SQLite the guard against REPLACE would answer first
        pytest.raises(IntegrityError, match=r"one_approval_per_person_and_binding|UNIQUE"),
        transaction.atomic(),
    ):
        twin.save(force_insert=True)
