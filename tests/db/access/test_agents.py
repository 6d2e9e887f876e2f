"""Agents are answered for by people, stopped by those who answer, and act for nobody who did not say so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from review.access import queries, tokens
from review.access.actors import PersonActor
from review.access.models import Agent, AgentToken, Membership, Ownership, Person, User
from review.access.refusals import (
    AgentStopped,
    AlreadyGranted,
    BadName,
    BadTerm,
    NameTaken,
    NotAMember,
    NotFound,
    NotManager,
    OwnStop,
    ReasonMissing,
    Unanswered,
)
from review.access.roles import Scope
from review.access.services import agents
from review.access.services.agents import (
    create_agent,
    resume_agent,
    stop_agent,
    stop_all,
    stop_unanswered,
    transfer_agent,
)
from review.access.services.delegations import grant_delegation, revoke_delegation
from review.access.services.memberships import revoke_membership
from review.access.services.minting import mint_token, revoke_token
from review.access.services.people import disable_person, link_account
from review.audit.models import Entry, PrivateText
from tests.db.access.house import OPERATOR, House, person


def actions() -> list[str]:
    return list(Entry.objects.order_by("seq").values_list("action", flat=True))


def test_a_manager_makes_an_agent_for_a_member(house: House) -> None:
    agent = create_agent(house.acme.id, "ranger", owner=house.alice.person.id, by=house.dana)
    assert queries.owners(agent.id, timezone.now()) == {house.alice.person.id}
    assert actions()[-1] == "agent.created"


def test_nobody_who_has_no_role_there_answers_for_an_agent(house: House) -> None:
    for stranger in (house.mallory, person("nina")):
        with pytest.raises(NotAMember):
            create_agent(house.acme.id, "ranger", owner=stranger.person.id, by=house.dana)


def test_a_reviewer_makes_no_agent(house: House) -> None:
    with pytest.raises(NotManager):
        create_agent(house.acme.id, "ranger", owner=house.alice.person.id, by=house.alice)
    with pytest.raises(NotFound):
        create_agent(house.acme.id, "ranger", owner=house.alice.person.id, by=house.mallory)


def test_an_agents_name_is_one_in_its_workspace_whatever_the_letter_case(house: House) -> None:
    with pytest.raises(NameTaken):
        create_agent(house.acme.id, "SCOUT", owner=house.bob.person.id, by=house.dana)
    assert create_agent(house.globex.id, "scout", owner=house.mallory.person.id, by=house.mallory)
    with pytest.raises(BadName):
        create_agent(house.acme.id, "the scout", owner=house.bob.person.id, by=house.dana)


def test_past_owners_of_an_agent_stay_known(house: House) -> None:
    before = timezone.now()
    transfer_agent(house.scout.id, to=house.alice.person.id, by=house.dana)
    assert queries.owners(house.scout.id, before) == {house.bob.person.id}
    assert queries.owners(house.scout.id, timezone.now()) == {house.alice.person.id}
    transfer_agent(house.scout.id, to=house.bob.person.id, by=house.dana)
    assert queries.owners(house.scout.id, timezone.now()) == {house.bob.person.id}
    assert Entry.objects.filter(action="agent.transferred").count() == 2


def test_an_owner_cannot_hand_his_agent_over_himself(house: House) -> None:
    with pytest.raises(NotManager):
        transfer_agent(house.scout.id, to=house.alice.person.id, by=house.bob)
    assert queries.owners(house.scout.id, timezone.now()) == {house.bob.person.id}


def test_an_owner_may_stop_his_agent_and_only_a_manager_resumes_it(house: House) -> None:
    with pytest.raises(NotManager):
        stop_agent(house.scout.id, reason="It went wrong.", by=house.alice)
    with pytest.raises(NotFound):
        stop_agent(house.scout.id, reason="It went wrong.", by=house.mallory)
    assert stop_agent(house.scout.id, reason="It went wrong.", by=house.bob).stopped_by == house.bob.person
    with pytest.raises(NotManager):
        resume_agent(house.scout.id, by=house.bob)
    assert resume_agent(house.scout.id, by=house.erin).stopped_at is None
    assert actions()[-2:] == ["agent.stopped", "agent.resumed"]


def test_a_stop_is_lifted_by_another_manager_than_the_one_who_stopped(house: House) -> None:
    stop_agent(house.scout.id, reason="It went wrong.", by=house.dana)
    with pytest.raises(OwnStop):
        resume_agent(house.scout.id, by=house.dana)
    linked = link_account(house.dana.person.id, "dana-too", by=OPERATOR).user
    with pytest.raises(OwnStop):
        resume_agent(house.scout.id, by=PersonActor(linked.person, linked, session="other"))
    Person.objects.filter(id=house.erin.person.id).update(same_as=house.dana.person)
    with pytest.raises(OwnStop):
        resume_agent(house.scout.id, by=house.erin)
    Person.objects.filter(id=house.erin.person.id).update(same_as=None)
    with pytest.raises(NotManager):
        resume_agent(house.scout.id, by=house.alice)
    with pytest.raises(NotFound):
        resume_agent(house.scout.id, by=house.mallory)
    assert resume_agent(house.scout.id, by=house.erin).stopped_at is None


def test_a_stop_needs_a_reason_which_the_next_person_reads(house: House) -> None:
    for reason in ("", "  \n"):
        with pytest.raises(ReasonMissing):
            stop_agent(house.scout.id, reason=reason, by=house.dana)
        with pytest.raises(ReasonMissing):
            stop_all(house.acme.id, reason=reason, by=house.dana)
    stopped = stop_agent(house.scout.id, reason=" It mailed the wrong people. ", by=house.dana)
    assert stopped.stop_reason == "It mailed the wrong people."
    entry = Entry.objects.get(action="agent.stopped")
    assert "mailed" not in entry.canonical
    assert PrivateText.objects.get(seq=entry.seq).text == "It mailed the wrong people."


def test_all_agents_of_a_workspace_are_stopped_in_one_step_and_no_other(house: House) -> None:
    ranger = create_agent(house.acme.id, "ranger", owner=house.alice.person.id, by=house.dana)
    prowler = create_agent(house.globex.id, "prowler", owner=house.mallory.person.id, by=house.mallory)
    for by, refusal in ((house.bob, NotManager), (house.mallory, NotFound)):
        with pytest.raises(refusal):
            stop_all(house.acme.id, reason="Leak.", by=by)
    assert {agent.id for agent in stop_all(house.acme.id, reason="Leak.", by=house.dana)} == {
        ranger.id,
        house.scout.id,
    }
    assert actions().count("agent.stopped") == 2
    assert stop_all(house.acme.id, reason="Leak.", by=house.erin) == []
    assert Agent.objects.get(id=prowler.id).stopped_at is None


def ways_to_lose_the_owner() -> dict[str, Callable[[House], object]]:
    def runs_out(house: House) -> None:
        Membership.objects.filter(person=house.bob.person).update(until=timezone.now())

    def closes(house: House) -> None:
        User.objects.filter(person=house.bob.person).update(is_active=False)

    def revoked(house: House) -> None:
        [held] = queries.memberships_of(house.bob.person.id, timezone.now())
        revoke_membership(held.id, by=house.dana)

    return {
        "he was disabled": lambda house: disable_person(house.bob.person.id, by=house.dana),
        "his role was revoked": revoked,
        "his role ran out": runs_out,
        "his account was closed": closes,
    }


@pytest.mark.parametrize("way", ways_to_lose_the_owner())
def test_an_agent_whose_owner_is_there_no_more_is_stopped(house: House, way: str) -> None:
    minted, now = house.mint(), timezone.now
    actor = tokens.authenticate([f"Bearer {minted.text}"], now=now())
    tokens.require_running(actor, now=now())
    assert stop_unanswered() == 0
    ways_to_lose_the_owner()[way](house)
    with pytest.raises(AgentStopped):
        tokens.require_running(actor, now=now())
    stop_unanswered()
    scout = Agent.objects.get(id=house.scout.id)
    assert scout.stopped_at and scout.stopped_by is None and scout.stop_reason
    assert actions().count("agent.stopped") == 1 and stop_unanswered() == 0
    with pytest.raises(Unanswered):
        resume_agent(scout.id, by=house.dana)
    transfer_agent(scout.id, to=house.alice.person.id, by=house.dana)
    assert resume_agent(scout.id, by=house.dana).stopped_at is None


def test_an_agent_with_two_owners_runs_while_one_of_them_is_there(house: House) -> None:
    Ownership.objects.create(agent=house.scout, person=house.alice.person, since=timezone.now())
    disable_person(house.bob.person.id, by=house.dana)
    assert stop_unanswered() == 0
    disable_person(house.alice.person.id, by=house.dana)
    stop_unanswered()
    assert Agent.objects.get(id=house.scout.id).stopped_at


def test_stopping_twice_is_stopping_once(house: House) -> None:
    first = stop_agent(house.scout.id, reason="It went wrong.", by=house.dana).stopped_at
    assert stop_agent(house.scout.id, reason="It went wrong.", by=house.dana).stopped_at == first
    assert actions().count("agent.stopped") == 1


def test_what_follows_from_a_stop_happens_with_it_or_not_at_all(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[Agent] = []
    monkeypatch.setattr(agents, "_when_stopped", [])
    agents.when_stopped(lambda agent, by, now: stopped.append(agent))
    stop_agent(house.scout.id, reason="It went wrong.", by=house.dana)
    assert stopped == [house.scout]
    resume_agent(house.scout.id, by=house.erin)

    @agents.when_stopped
    def fails(*_: object) -> None:
        raise NotFound

    with pytest.raises(NotFound):
        stop_agent(house.scout.id, reason="It went wrong.", by=house.dana)
    assert Agent.objects.get(id=house.scout.id).stopped_at is None
    assert actions()[-1] == "agent.resumed"


def test_a_token_is_minted_by_a_manager_for_at_most_ninety_days(house: House) -> None:
    minted = mint_token(house.scout.id, scopes=[Scope.READ], days=90, by=house.dana)
    assert minted.token.expires_at - minted.token.created_at == timedelta(days=90)
    assert minted.token.minted_by == house.dana.person
    for days in (0, 91, -1):
        with pytest.raises(BadTerm):
            mint_token(house.scout.id, scopes=[Scope.READ], days=days, by=house.dana)
    with pytest.raises(BadTerm):
        mint_token(house.scout.id, scopes=[], by=house.dana)
    with pytest.raises(BadTerm):
        mint_token(house.scout.id, scopes=["approve"], by=house.dana)  # type: ignore[list-item]


def test_nobody_else_mints_and_the_secret_is_nowhere_in_the_log(house: House) -> None:
    for by in (house.bob, house.alice, house.mallory):
        with pytest.raises((NotManager, NotFound)):
            mint_token(house.scout.id, scopes=[Scope.READ], by=by)
    minted = house.mint()
    _, handle, secret = minted.text.split("_")
    entry = Entry.objects.get(action="token.minted")
    assert handle in entry.canonical
    assert secret not in entry.canonical


def test_an_owner_may_revoke_his_agents_token_and_a_stranger_may_not(house: House) -> None:
    minted = house.mint()
    for by in (house.alice, house.mallory):
        with pytest.raises((NotManager, NotFound)):
            revoke_token(minted.token.id, by=by)
    revoke_token(minted.token.id, by=house.bob)
    assert AgentToken.objects.get(id=minted.token.id).revoked_at is not None


def test_a_person_lets_an_agent_act_for_himself_alone(house: House) -> None:
    now = timezone.now
    alice, dana = house.alice.person.id, house.dana.person.id
    delegation = grant_delegation(house.scout.id, by=house.alice)
    assert queries.may_act_for(house.scout.id, alice, now())
    assert not queries.may_act_for(house.scout.id, dana, now())
    with pytest.raises(AlreadyGranted):
        grant_delegation(house.scout.id, by=house.alice)
    with pytest.raises(NotFound):
        revoke_delegation(delegation.id, by=house.dana)
    revoke_delegation(delegation.id, by=house.alice)
    assert not queries.may_act_for(house.scout.id, alice, now())
    assert actions()[-2:] == ["delegation.granted", "delegation.revoked"]


def test_nobody_delegates_to_an_agent_of_a_workspace_that_is_not_his(house: House) -> None:
    with pytest.raises(NotFound):
        grant_delegation(house.scout.id, by=house.mallory)


def test_an_agent_acts_no_more_for_somebody_disabled(house: House) -> None:
    grant_delegation(house.scout.id, by=house.alice)
    disable_person(house.alice.person.id, by=house.dana)
    assert not queries.may_act_for(house.scout.id, house.alice.person.id, timezone.now())


def test_a_manager_who_lost_the_role_manages_nothing(house: House) -> None:
    [held] = queries.memberships_of(house.dana.person.id, timezone.now())
    assert house.mint()
    revoke_membership(held.id, by=OPERATOR)
    with pytest.raises(NotFound):
        house.mint()


def test_nothing_is_written_when_its_entry_cannot_be(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise NotFound

    with monkeypatch.context() as patch:
        patch.setattr(agents.log, "record", fails)
        with pytest.raises(NotFound):
            create_agent(house.acme.id, "ranger", owner=house.bob.person.id, by=house.dana)
    assert not Agent.objects.filter(name="ranger").exists()
    assert create_agent(house.acme.id, "ranger", owner=house.bob.person.id, by=house.dana)
