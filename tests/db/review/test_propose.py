"""Proposing: policy, gate, limits and idempotency, through the service that every door shares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from review.access.models import Agent, Delegation, Membership
from review.access.refusals import AgentStopped
from review.access.services.agents import stop_agent
from review.access.services.delegations import grant_delegation, revoke_delegation
from review.audit.models import Entry, PrivateText
from review.audit.transaction import write
from review.domain import refusals
from review.models import Proposal, Revision
from review.services import settle
from review.services.propose import KEY_KEPT, Draft, propose
from review.services.revise import revise
from review.services.withdraw import withdraw
from tests.support import factories
from tests.support.memory_acts import doubtful
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db


def last_action() -> Entry:
    return Entry.objects.order_by("seq").last()  # type: ignore[return-value]


def test_what_an_agent_proposes_waits_for_people(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    assert (proposal.status, proposal.risk, proposal.approvals_required) == ("pending", "high", 2)
    assert proposal.expires_at == (proposal.created_at + timedelta(days=1)).replace(microsecond=0)


def test_a_low_risk_call_that_the_policy_allows_is_approved_at_once_and_said_to_be(
    cast: factories.Team,
) -> None:
    proposal = call(cast.scout, "search.web", {"q": "ports"})
    assert proposal.status == "approved"
    assert Entry.objects.filter(proposal=proposal.pk, action="proposal.auto_approved").exists()


def test_a_blocked_tool_makes_no_proposal_and_the_attempt_is_recorded(cast: factories.Team) -> None:
    with pytest.raises(refusals.Blocked):
        call(cast.scout, "shell.run", {"cmd": "cat /etc/shadow"})
    entry = last_action()
    assert (entry.action, entry.tool, Proposal.objects.count()) == ("proposal.refused", "shell.run", 0)
    assert (
        "shadow" not in entry.canonical and not PrivateText.objects.filter(text__contains="shadow").exists()
    )


@pytest.mark.parametrize(
    "tool", ["memory.release", "Memory.Release", "memory.erase", "tombstone.lift", "policy.change"]
)
def test_what_only_people_may_start_is_blocked_for_agents(cast: factories.Team, tool: str) -> None:
    with pytest.raises(refusals.Blocked):
        call(cast.scout, tool, {})


def test_the_same_key_and_body_is_the_same_proposal(cast: factories.Team) -> None:
    draft = Draft("mail.send", {"to": "a@example.org"}, key="k1", body_digest="sha256:1")
    first, again = propose(draft, by=cast.scout), propose(draft, by=cast.scout)
    assert first.proposal == again.proposal and again.replayed and not first.replayed


def test_the_same_key_with_another_body_is_refused(cast: factories.Team) -> None:
    propose(Draft("mail.send", {}, key="k1", body_digest="sha256:1"), by=cast.scout)
    with pytest.raises(refusals.KeyReused):
        propose(Draft("mail.send", {}, key="k1", body_digest="sha256:2"), by=cast.scout)


def test_a_key_is_its_agents_own(cast: factories.Team) -> None:
    draft = Draft("mail.send", {}, key="k1", body_digest="sha256:1")
    assert propose(draft, by=cast.scout).proposal != propose(draft, by=cast.prowler).proposal


def test_run_and_call_together_are_a_key(cast: factories.Team) -> None:
    draft = Draft("mail.send", {}, run_id="r", tool_call_id="c", body_digest="sha256:1")
    assert propose(draft, by=cast.scout).proposal == propose(draft, by=cast.scout).proposal
    alone = Draft("mail.send", {}, run_id="r", body_digest="sha256:1")
    assert propose(alone, by=cast.scout).proposal != propose(alone, by=cast.scout).proposal


def test_a_stopped_agent_proposes_nothing(cast: factories.Team) -> None:
    call(cast.scout)
    Agent.objects.filter(pk=cast.scout.agent.pk).update(stopped_at=timezone.now())
    with pytest.raises(AgentStopped):
        call(cast.scout)


def test_an_agent_that_nobody_answers_for_proposes_nothing(cast: factories.Team) -> None:
    cast.scout.agent.ownerships.update(until=timezone.now())
    with pytest.raises(AgentStopped):
        call(cast.scout)


def test_too_many_open_proposals_push_back(cast: factories.Team, settings: Any) -> None:
    settings.HUQAN_MAX_OPEN_PROPOSALS = 2
    call(cast.scout), call(cast.scout, arguments={"order": "2"})
    with pytest.raises(refusals.TooManyPending):
        call(cast.scout, arguments={"order": "3"})
    withdraw(Proposal.objects.first().id, by=cast.scout)  # type: ignore[union-attr]
    call(cast.scout, arguments={"order": "3"})


def test_what_too_few_independent_people_could_decide_is_refused_at_once(cast: factories.Team) -> None:
    Membership.objects.filter(person=cast.carol.person).update(until=timezone.now())
    with pytest.raises(refusals.Unsatisfiable):
        mail(cast.scout)
    call(cast.scout)


def test_an_agent_acts_for_a_person_only_once_he_granted_it(cast: factories.Team) -> None:
    with pytest.raises(refusals.NotDelegated):
        call(cast.scout, on_behalf_of="carol")
    Delegation.objects.create(agent=cast.scout.agent, person=cast.carol.person, since=timezone.now())
    proposal = call(cast.scout, on_behalf_of="carol")
    assert proposal.principal == cast.carol.person.id
    with pytest.raises(refusals.SelfApproval):
        vote(cast.carol, proposal)


def test_the_same_call_right_after_a_rejection_is_refused_naming_it(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal, "reject")
    with pytest.raises(refusals.RecentlyRejected) as refused:
        call(cast.scout)
    assert refused.value.extra == {"proposal": str(proposal.id)}
    with pytest.raises(refusals.RecentlyRejected):
        call(cast.scout, "Payments.Refund")
    call(cast.scout, arguments={"order": "20818"})
    with at(timezone.now() + timedelta(minutes=16)):
        call(cast.scout)


def test_a_revision_outdates_the_votes_and_needs_everybody_again(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    vote(cast.alice, proposal)
    revised = revise(proposal.id, by=cast.scout, replaces=1, arguments={"to": "b@example.org"})
    assert (revised.revision, revised.approvals_given) == (2, 0) and revised.binding != proposal.binding
    vote(cast.carol, proposal)
    proposal.refresh_from_db()
    assert proposal.status == "pending"
    vote(cast.alice, proposal)
    proposal.refresh_from_db()
    assert proposal.status == "approved"


def test_after_thirty_days_a_key_makes_a_proposal_again_and_not_a_moment_sooner(cast: factories.Team) -> None:
    first = call(cast.scout, key="k", body_digest="one")
    with at(first.created_at + KEY_KEPT - timedelta(microseconds=1)):
        assert call(cast.scout, key="k", body_digest="one") == first
        with pytest.raises(refusals.KeyReused):
            call(cast.scout, key="k", body_digest="another")
    with at(first.created_at + KEY_KEPT):
        second = call(cast.scout, arguments={"order": "1"}, key="k", body_digest="another")
        assert second != first and call(cast.scout, key="k", body_digest="another") == second


def test_an_agent_writes_no_revision_in_the_name_of_somebody_who_has_taken_that_back(
    cast: factories.Team,
) -> None:
    granted = grant_delegation(cast.scout.agent.id, by=cast.carol)
    proposal = call(cast.scout, on_behalf_of="carol")
    revise(proposal.id, by=cast.scout, replaces=1, arguments={"order": "1"})
    revoke_delegation(granted.id, by=cast.carol)
    with pytest.raises(refusals.NotDelegated):
        revise(proposal.id, by=cast.scout, replaces=2, arguments={"order": "2"})
    proposal.refresh_from_db()
    assert proposal.revision == 2
    with pytest.raises(refusals.SelfApproval):
        vote(cast.carol, proposal)


def test_a_delegation_that_is_taken_back_while_the_proposal_waits_for_its_turn_is_taken_back(
    cast: factories.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted = grant_delegation(cast.scout.agent.id, by=cast.carol)

    @contextmanager
    def waited_for() -> Iterator[Any]:
        revoke_delegation(granted.id, by=cast.carol)
        with write() as opened:
            yield opened

    monkeypatch.setattr(settle, "write", waited_for)
    with pytest.raises(refusals.NotDelegated):
        call(cast.scout, on_behalf_of="carol")
    assert not Proposal.objects.exists()


def test_a_form_of_the_revision_before_is_stale(cast: factories.Team) -> None:
    from review.services.decide import decide
    from tests.support.review_acts import ballot

    proposal = call(cast.scout)
    old = ballot(cast.alice, proposal)
    revise(proposal.id, by=cast.scout, replaces=1, arguments={"order": "1"})
    with pytest.raises(refusals.StaleBinding):
        decide(proposal.id, by=cast.alice, ballot=old)


def test_a_revision_of_another_than_the_current_one_is_refused(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    revise(proposal.id, by=cast.scout, replaces=1, arguments={"order": "1"})
    with pytest.raises(refusals.StaleRevision):
        revise(proposal.id, by=cast.scout, replaces=1, arguments={"order": "2"})
    assert Revision.objects.filter(proposal=proposal).count() == 2


def test_another_agent_can_neither_revise_nor_withdraw(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    with pytest.raises(refusals.NotFound):
        revise(proposal.id, by=cast.prowler, replaces=1, arguments={})
    with pytest.raises(refusals.NotFound):
        withdraw(proposal.id, by=cast.prowler)
    assert withdraw(proposal.id, by=cast.scout, reason="Not needed.").status == "withdrawn"


def test_what_is_withdrawn_stays_withdrawn(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    withdraw(proposal.id, by=cast.scout)
    with pytest.raises(refusals.AlreadyDecided):
        withdraw(proposal.id, by=cast.scout)
    with pytest.raises(refusals.AlreadyDecided):
        vote(cast.alice, proposal)


def test_the_agents_words_are_kept_outside_the_chain(cast: factories.Team) -> None:
    proposal = call(cast.scout, rationale="Because the customer asked twice.")
    entry = Entry.objects.get(proposal=proposal.pk, action="proposal.proposed")
    assert "asked twice" not in entry.canonical
    assert PrivateText.objects.get(seq=entry.seq).text == "Because the customer asked twice."


def test_stopping_an_agent_takes_back_what_is_open_and_not_yet_run(cast: factories.Team) -> None:
    pending, approved, held = (
        call(cast.scout),
        call(cast.scout, arguments={"order": "1"}),
        doubtful(cast.scout, "Maybe."),
    )
    theirs = call(cast.prowler)
    vote(cast.alice, approved)
    stop_agent(cast.scout.agent.id, reason="It went wrong.", by=cast.dana)
    for proposal in (pending, approved, held):
        proposal.refresh_from_db()
        assert (proposal.status, proposal.reason) == ("withdrawn", "Its agent was stopped.")
    theirs.refresh_from_db()
    assert theirs.status == "pending"


def test_a_secret_in_a_memory_is_told_in_words_in_every_list(cast: factories.Team) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    proposal = call(cast.scout, "memory.write", {"content": f"The key is {secret}, keep it."})
    assert proposal.status == "quarantined"
    assert secret not in proposal.summary and "The key is [AWS access key" in proposal.summary


@pytest.mark.parametrize("tool", ["Memory.Learn", "facts.optimise"])
def test_a_tool_of_the_consoles_own_that_it_cannot_carry_out_is_never_left_to_others(
    cast: factories.Team, tool: str
) -> None:
    with pytest.raises(refusals.Invalid) as refused:
        call(cast.scout, tool, {"record": "x"})
    assert refused.value.errors[0].pointer == "/tool"
