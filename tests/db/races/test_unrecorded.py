"""What cannot be recorded does not happen: of each use case, entry by entry, nothing stays (I18, I25)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from huqan_site.lib.problems import Refusal
from memory.gateway.ask import ask_to_lift, ask_to_resolve
from memory.models import RecordConflict, Tombstone
from review.access.models import Membership
from review.access.roles import Role, Scope
from review.access.services.agents import create_agent, resume_agent, stop_agent, transfer_agent
from review.access.services.delegations import grant_delegation, revoke_delegation
from review.access.services.memberships import grant_membership, revoke_membership
from review.access.services.minting import mint_token, revoke_token
from review.access.services.people import create_person_with_account, disable_person
from review.audit.models import Entry
from review.audit.refusals import Unavailable
from review.models import Proposal
from review.services.activate_policy import activate_first
from review.services.expire import expire
from review.services.fall_silent import fall_silent
from review.services.issue_permit import redeem
from review.services.report_outcome import report
from review.services.spend_permit import spend
from review.services.withdraw import withdraw
from review.webhooks.services import register_own_webhook
from tests.db.races.stage import deciding
from tests.support import factories
from tests.support.factories import Team
from tests.support.memory_acts import arguments_of, asked, doubtful, known, remember, retracting, reword
from tests.support.memory_acts import reject as reject_memory
from tests.support.policy_acts import proposed, with_rule
from tests.support.refusing import no_entry_of, picture
from tests.support.review_acts import at, call, mail, vote

PORT = "The staging port is 7443."
Act = Callable[[], Any]


class Case(NamedTuple):
    """What is done, after what was there before, and the entries that it makes, in order."""

    prepare: Callable[[Team], Act]
    entries: tuple[str, ...]


CASES: dict[str, Case] = {}


def case(*entries: str) -> Callable[[Callable[[Team], Act]], Callable[[Team], Act]]:
    """Register the decorated function: it prepares the ground and returns what is then done."""

    def register(prepare: Callable[[Team], Act]) -> Callable[[Team], Act]:
        CASES[prepare.__name__] = Case(prepare, entries)
        return prepare

    return register


@case("proposal.proposed")
def propose(team: Team) -> Act:
    return lambda: call(team.scout, key="once", rationale="The ticket says so.")


@case("proposal.proposed", "memory.quarantined", "proposal.quarantined")
def propose_what_is_held(team: Team) -> Act:
    return lambda: doubtful(team.scout, PORT)


@case("proposal.proposed", "proposal.auto_approved", "proposal.approved")
def propose_what_the_policy_allows(team: Team) -> Act:
    return lambda: call(team.scout, "search.web")


@case("proposal.refused")
def propose_what_is_blocked(team: Team) -> Act:
    return lambda: call(team.scout, "shell.run")


@case("proposal.revised")
def revise(team: Team) -> Act:
    proposal = remember(team.scout, PORT)
    return lambda: reword(team.scout, proposal, "The staging port is 7444.")


@case("proposal.withdrawn")
def take_back(team: Team) -> Act:
    proposal = call(team.scout)
    return lambda: withdraw(proposal.id, by=team.scout, reason="Not needed.")


@case("memory.discarded", "proposal.withdrawn")
def take_back_what_is_held(team: Team) -> Act:
    proposal = doubtful(team.scout, PORT)
    return lambda: withdraw(proposal.id, by=team.scout)


@case("decision.approved")
def approve_as_the_first_of_two(team: Team) -> Act:
    return deciding(team.alice, mail(team.scout))


@case("decision.approved", "proposal.approved")
def approve_a_call(team: Team) -> Act:
    return deciding(team.alice, call(team.scout))


@case("decision.approved", "memory.written", "proposal.executed")
def approve_a_memory(team: Team) -> Act:
    return deciding(team.alice, remember(team.scout, PORT))


@case("decision.approved", "memory.written", "conflict.opened", "proposal.executed")
def approve_a_memory_that_contradicts_another(team: Team) -> Act:
    about = {"subject": "staging port", "predicate": "is"}
    known(team.scout, PORT, team.carol, **about)
    return deciding(team.alice, remember(team.scout, "It is 7444.", **about))


@case("decision.approved", "memory.retracted", "tombstone.created", "conflict.resolved", "proposal.executed")
def resolve_a_conflict(team: Team) -> Act:
    about = {"subject": "staging port", "predicate": "is"}
    for text in (PORT, "It is 7444."):
        known(team.scout, text, team.carol, **about)
    terms = {"answer": "keep_new"}
    conflict = RecordConflict.objects.get()
    return deciding(team.alice, ask_to_resolve(conflict.id, by=team.carol, reason="It moved.", terms=terms))


@case("decision.approved", "memory.corroborated", "proposal.executed")
def approve_a_memory_that_is_known(team: Team) -> Act:
    known(team.scout, PORT, team.carol)
    return deciding(team.alice, remember(team.scout, PORT.upper()))


@case("decision.approved", "memory.released", "proposal.executed")
def release(team: Team) -> Act:
    return deciding(team.alice, vote(team.carol, doubtful(team.scout, PORT)).proposal)


@case("decision.rejected", "proposal.rejected")
def reject(team: Team) -> Act:
    return deciding(team.alice, call(team.scout), "reject")


@case("decision.rejected", "proposal.rejected", "tombstone.created")
def reject_for_good(team: Team) -> Act:
    return deciding(team.alice, remember(team.scout, PORT), "reject", tombstone=True)


@case("decision.rejected", "proposal.rejected", "memory.discarded", "tombstone.created")
def discard(team: Team) -> Act:
    return deciding(team.alice, doubtful(team.scout, PORT), "reject")


@case("decision.changes_requested")
def send_back(team: Team) -> Act:
    return deciding(team.alice, call(team.scout), "request_changes")


@case("decision.refused")
def approve_ones_own(team: Team) -> Act:
    return deciding(team.bob, call(team.scout))


@case("permit.issued")
def take_a_permit(team: Team) -> Act:
    proposal = call(team.scout, "search.web")
    return lambda: redeem(proposal.id, by=team.scout, binding=proposal.binding, key="once")


@case("permit.refused")
def take_a_permit_for_something_else(team: Team) -> Act:
    proposal = call(team.scout, "search.web")
    return lambda: redeem(proposal.id, by=team.scout, binding="0" * 64)


@case("permit.redeemed")
def spend_a_permit(team: Team) -> Act:
    proposal = call(team.scout, "search.web")
    permit = redeem(proposal.id, by=team.scout, binding=proposal.binding)
    return lambda: spend(permit.token, arguments_of(proposal), by=team.scout)


@case("outcome.reported")
def report_how_it_went(team: Team) -> Act:
    proposal = call(team.scout, "search.web")
    permit = redeem(proposal.id, by=team.scout, binding=proposal.binding)
    return lambda: report(proposal.id, by=team.scout, result="succeeded", jti=permit.jti, detail="Sent.")


@case("proposal.expired")
def run_out(team: Team) -> Act:
    proposal = call(team.scout)

    def at_its_end() -> None:
        with at(_end(proposal)):
            expire(proposal.id)

    return at_its_end


def _end(proposal: Proposal) -> Any:
    assert proposal.expires_at is not None
    return proposal.expires_at + timedelta(seconds=1)


@case("policy.activated")
def put_a_policy_into_force(team: Team) -> Act:
    without = factories.workspace("without", None)
    return lambda: activate_first(without, dict(factories.POLICY), by=team.dana)


@case("agent.created")
def bring_an_agent(team: Team) -> Act:
    return lambda: create_agent(team.acme.id, "newcomer", owner=team.bob.person.id, by=team.dana)


@case("proposal.withdrawn", "agent.stopped")
def stop_an_agent(team: Team) -> Act:
    call(team.scout)
    return lambda: stop_agent(team.scout.agent.id, reason="It went wrong.", by=team.dana)


@case("permit.voided", "agent.stopped")
def stop_an_agent_that_was_let_run(team: Team) -> Act:
    redeem(vote(team.alice, call(team.scout)).proposal.id, by=team.scout)
    return lambda: stop_agent(team.scout.agent.id, reason="It went wrong.", by=team.dana)


@case("token.minted")
def mint(team: Team) -> Act:
    return lambda: mint_token(team.scout.agent.id, scopes=[Scope.READ], by=team.dana)


@case("token.revoked")
def revoke(team: Team) -> Act:
    return lambda: revoke_token(team.scout.token.id, by=team.bob)


@case("membership.granted")
def grant_a_role(team: Team) -> Act:
    return lambda: grant_membership(team.nina.person.id, team.acme.id, Role.REVIEWER, by=team.dana)


@case("delegation.granted")
def let_an_agent_act_for_one(team: Team) -> Act:
    return lambda: grant_delegation(team.scout.agent.id, by=team.alice)


@case("membership.revoked")
def end_a_role(team: Team) -> Act:
    held = Membership.objects.get(person=team.carol.person)
    return lambda: revoke_membership(held.id, by=team.dana)


@case("delegation.revoked")
def let_it_act_no_longer(team: Team) -> Act:
    given = grant_delegation(team.scout.agent.id, by=team.alice)
    return lambda: revoke_delegation(given.id, by=team.alice)


@case("agent.transferred")
def hand_an_agent_over(team: Team) -> Act:
    return lambda: transfer_agent(team.scout.agent.id, to=team.carol.person.id, by=team.dana)


@case("agent.resumed")
def let_an_agent_go_on(team: Team) -> Act:
    stop_agent(team.scout.agent.id, reason="It went wrong.", by=team.dana)
    return lambda: resume_agent(team.scout.agent.id, by=team.erin)


@case("person.created", "membership.granted")
def bring_a_person(team: Team) -> Act:
    terms: dict[str, Any] = {"workspace": team.acme.id, "roles": [Role.REVIEWER]}
    return lambda: create_person_with_account("Frank", "frank", by=team.dana, **terms)


@case("person.disabled")
def disable_a_person(team: Team) -> Act:
    return lambda: disable_person(team.carol.person.id, by=team.dana)


@case("decision.approved", "policy.activated", "proposal.executed")
def change_the_policy(team: Team) -> Act:
    document = with_rule(team.acme, "calendar.book", approvals=2)
    return deciding(team.erin, proposed(team.dana, team.acme, document))


@case("webhook.registered")
def have_oneself_told(team: Team) -> Act:
    return lambda: register_own_webhook("https://8.8.8.8/told", by=team.alice)


@case("decision.approved", "memory.archived", "proposal.executed")
def archive(team: Team) -> Act:
    record = known(team.scout, PORT, team.carol)
    return deciding(team.alice, asked(team.carol, "memory.archive", record))


@case("decision.approved", "memory.retracted", "tombstone.created", "proposal.executed")
def retract(team: Team) -> Act:
    record = known(team.scout, PORT, team.carol)
    return deciding(team.alice, retracting(team.scout, record))


@case("decision.approved", "tombstone.lifted", "proposal.executed")
def lift(team: Team) -> Act:
    reject_memory(remember(team.scout, PORT), team.alice, tombstone=True)
    asking = ask_to_lift(Tombstone.objects.get().id, by=team.carol, reason="It is right again.")
    return deciding(team.alice, asking)


@case(
    *("decision.approved", "memory.erased", "tombstone.created"),
    *(
        "memory.erased",
        "proposal.executed",
        "memory.erased",
    ),  # the record, what proposed it, and the asking itself
)
def erase(team: Team) -> Act:
    record = known(team.scout, PORT, team.carol)
    return deciding(team.alice, vote(team.bob, asked(team.carol, "memory.erase", record)).proposal)


@case("proposal.proposed", "memory.quarantined", "proposal.quarantined")
def set_a_memory_aside(team: Team) -> Act:
    record = known(team.scout, PORT, team.carol)
    return lambda: asked(team.alice, "memory.release", record)


@case("permit.expired", "outcome.unknown")
def hear_nothing(team: Team) -> Act:
    proposal = call(team.scout, "search.web")
    permit = redeem(proposal.id, by=team.scout, binding=proposal.binding)

    def much_later() -> None:
        with at(permit.issued_at + timedelta(hours=1)):
            fall_silent(proposal.id)

    return much_later


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_recorded_leaves_nothing(name: str, transactional_db: None) -> None:
    team, (prepare, entries) = factories.team(), CASES[name]
    act = prepare(team)
    before, length = picture(), Entry.objects.count()
    for action in entries:
        with no_entry_of(action), pytest.raises(Unavailable):
            act()
        assert picture() == before, f"Something stayed without {action}."
    with suppress(Refusal):
        act()
    made = Entry.objects.filter(seq__gte=length).order_by("seq").values_list("action", flat=True)
    assert tuple(made) == entries
