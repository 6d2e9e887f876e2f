"""Somebody loses a right in the moment in which he uses it: the log has both in an order in which both were right."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from review.access.actors import AgentActor, PersonActor
from review.access.models import Membership
from review.access.roles import Role
from review.access.services.agents import resume_agent, stop_agent
from review.access.services.memberships import grant_membership, revoke_membership
from review.access.services.minting import mint_token, revoke_token
from review.access.services.people import disable_person
from review.audit.actions import Action
from review.audit.models import Entry
from review.models import Proposal, Status
from review.services.issue_permit import redeem
from review.services.propose import Draft, propose
from review.services.withdraw import withdraw_own
from tests.db.access.house import OPERATOR
from tests.db.races.stage import FEW, ROUNDS, Stage, deciding
from tests.support import factories
from tests.support.memory_acts import remember
from tests.support.policy_acts import proposed, revised, with_rule
from tests.support.review_acts import call


def test_an_agent_that_is_stopped_while_it_proposes_leaves_nothing_open(stage: Stage) -> None:
    dana = factories.person("dana", stage.scout.agent.workspace, ["manager"])
    for number in range(ROUNDS):
        stage.race(
            partial(propose, Draft("payments.refund", {"order": number}), by=stage.scout),
            partial(stop_agent, stage.scout.agent.id, reason="It went wrong.", by=dana),
        )
        resume_agent(stage.scout.agent.id, by=OPERATOR)
    stage.must_have_gone(("done", "done"), ("agent_stopped", "done"))
    assert not Proposal.objects.exclude(status=Status.WITHDRAWN).exists()


def test_an_agent_that_is_stopped_while_its_memory_is_approved_keeps_nobody_waiting(stage: Stage) -> None:
    dana = factories.person("dana", stage.scout.agent.workspace, ["manager"])
    for proposal in stage.memories(FEW):
        stage.race(
            deciding(stage.alice, proposal),
            partial(stop_agent, stage.scout.agent.id, reason="It went wrong.", by=dana),
        )
        resume_agent(stage.scout.agent.id, by=OPERATOR)
    stage.must_have_gone(("done", "done"), ("already_decided", "done"))


def test_a_token_that_is_revoked_while_it_is_used_keeps_nobody_waiting(stage: Stage) -> None:
    dana = factories.person("dana", stage.scout.agent.workspace, ["manager"])
    for number in range(FEW):
        minted = mint_token(stage.scout.agent.id, scopes=list(stage.scout.token.scopes), by=dana).token
        agent = type(stage.scout)(stage.scout.agent, minted)
        stage.race(
            partial(remember, agent, f"Door {number} opens to the north."),
            partial(revoke_token, minted.id, by=dana),
        )
    stage.must_have_gone(("done", "done"))


def test_no_approval_stands_in_the_log_after_its_giver_lost_his_role(stage: Stage) -> None:
    acme = stage.scout.agent.workspace
    dana = factories.person("dana", acme, ["manager"])
    for proposal in stage.mails():
        held = Membership.objects.get(person=stage.carol.person, until__isnull=True)
        stage.race(deciding(stage.carol, proposal), partial(revoke_membership, held.id, by=dana))
        last = Entry.objects.order_by("-seq").values_list("action", flat=True)[0]
        assert last != Action.DECISION_APPROVED
        grant_membership(stage.carol.person.id, acme.id, Role.REVIEWER, by=dana)
        Membership.objects.filter(until__isnull=True).update(since=held.since)
    stage.must_have_gone(("done", "done"), ("not_found", "done"))


def test_a_policy_that_is_rewritten_while_it_is_approved_runs_as_it_was_approved(stage: Stage) -> None:
    acme = stage.scout.agent.workspace
    dana, erin = (factories.person(name, acme, ["manager"]) for name in ("dana", "erin"))
    for number in range(FEW):
        change = proposed(dana, acme, with_rule(acme, f"crm.{number}", risk="low"))
        other = with_rule(acme, f"crm.{number}", risk="high", approvals=2)
        stage.race(deciding(erin, change), partial(revised, dana, change, other))
        change.refresh_from_db()
        assert (change.status, change.revision) in {("executed", 1), ("pending", 2)}
        withdraw_if_open(change, dana)
    stage.must_have_gone(("done", "already_decided"), ("stale_binding", "done"))


def withdraw_if_open(change: Proposal, by: PersonActor) -> None:
    if change.status == Status.PENDING:
        withdraw_own(change.id, by=by)


def test_nothing_is_taken_back_in_the_log_after_its_author_lost_his_role(stage: Stage) -> None:
    acme = stage.scout.agent.workspace
    dana, _ = (factories.person(name, acme, ["manager"]) for name in ("dana", "erin"))
    for number in range(FEW):
        author = factories.person(f"author-{number}", acme, ["manager"])
        change = proposed(author, acme, with_rule(acme, f"crm.{number}", risk="low"))
        held = Membership.objects.get(person=author.person)
        stage.race(partial(withdraw_own, change.id, by=author), partial(revoke_membership, held.id, by=dana))
        assert last() != Action.PROPOSAL_WITHDRAWN
    stage.must_have_gone(("done", "done"), ("not_found", "done"))


Loss = Callable[[PersonActor, PersonActor], object]


def disabled(owner: PersonActor, by: PersonActor) -> object:
    return disable_person(owner.person.id, by=by)


def without_a_role(owner: PersonActor, by: PersonActor) -> object:
    return revoke_membership(Membership.objects.get(person=owner.person).id, by=by)


def owned(stage: Stage, number: int) -> tuple[PersonActor, AgentActor]:
    acme = stage.scout.agent.workspace
    owner = factories.person(f"owner-{number}", acme, ["reviewer"])
    return owner, factories.agent(f"agent-{number}", acme, owner=owner)


def last() -> str:
    return Entry.objects.order_by("-seq").values_list("action", flat=True)[0]


@pytest.mark.parametrize("loses", [disabled, without_a_role])
def test_no_permit_stands_in_the_log_after_the_agent_lost_its_last_owner(stage: Stage, loses: Loss) -> None:
    dana = factories.person("dana", stage.scout.agent.workspace, ["manager"])
    for number in range(FEW):
        owner, agent = owned(stage, number)
        proposal = call(agent, "calendar.read", {"day": number})
        stage.race(partial(redeem, proposal.id, by=agent), partial(loses, owner, dana))
        assert last() != Action.PERMIT_ISSUED
    stage.must_have_gone(("done", "done"), ("agent_stopped", "done"))


@pytest.mark.parametrize("loses", [disabled, without_a_role])
def test_no_proposal_stands_in_the_log_after_the_agent_lost_its_last_owner(stage: Stage, loses: Loss) -> None:
    dana = factories.person("dana", stage.scout.agent.workspace, ["manager"])
    for number in range(FEW):
        owner, agent = owned(stage, number)
        stage.race(partial(call, agent, "payments.refund", {"order": number}), partial(loses, owner, dana))
        assert last() != Action.PROPOSAL_PROPOSED
    stage.must_have_gone(("done", "done"), ("agent_stopped", "done"))
