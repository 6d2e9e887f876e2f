"""A stop takes back what the agent left open, and what was let run and has not run yet."""

from __future__ import annotations

import pytest

from review.access.refusals import AgentStopped
from review.access.services.agents import resume_agent, stop_agent
from review.audit.models import Entry
from review.domain.refusals import BadPermit, PermitSpent
from review.models import Permit, Proposal, Status
from review.services.issue_permit import redeem
from review.services.spend_permit import spend
from tests.support import factories
from tests.support.api import Api, problem
from tests.support.factories import Team
from tests.support.review_acts import MAIL, call, mail, vote


def approved_mail(cast: Team, subject: str) -> Proposal:
    proposal = call(cast.scout, "mail.send", {**MAIL, "subject": subject})
    vote(cast.alice, proposal)
    return vote(cast.carol, proposal).proposal


def test_a_permit_of_a_stopped_agent_is_never_spent(cast: Team) -> None:
    mailer = factories.agent("mailer", cast.acme, owner=cast.erin)
    first, second = (redeem(approved_mail(cast, name).id, by=cast.scout) for name in ("first", "second"))
    assert spend(first.token, {**MAIL, "subject": "first"}, by=mailer)
    stop_agent(cast.scout.agent.id, reason="It mails too much.", by=cast.dana)
    with pytest.raises(BadPermit):
        spend(second.token, {**MAIL, "subject": "second"}, by=mailer)
    voided = Permit.objects.get(voided_at__isnull=False)
    assert voided.jti == second.jti and voided.spent_at is None
    assert Entry.objects.get(action="permit.voided").proposal == str(second.proposal_id)


def test_a_permit_that_was_voided_is_not_given_out_again(cast: Team) -> None:
    proposal = vote(cast.alice, call(cast.scout)).proposal
    permit = redeem(proposal.id, by=cast.scout, key="k-1")
    assert redeem(proposal.id, by=cast.scout, key="k-1").jti == permit.jti
    stop_agent(cast.scout.agent.id, reason="It went wrong.", by=cast.dana)
    with pytest.raises(AgentStopped):
        redeem(proposal.id, by=cast.scout, key="k-1")
    resume_agent(cast.scout.agent.id, by=cast.erin)
    with pytest.raises(PermitSpent):
        redeem(proposal.id, by=cast.scout, key="k-1")


def test_what_waits_and_what_was_approved_is_withdrawn_and_others_is_not(cast: Team) -> None:
    waiting, ready, others = mail(cast.scout), approved_mail(cast, "ready"), call(cast.prowler)
    stop_agent(cast.scout.agent.id, reason="It went wrong.", by=cast.dana)
    for proposal in (waiting, ready):
        proposal.refresh_from_db()
        assert proposal.status == Status.WITHDRAWN
    others.refresh_from_db()
    assert others.status == Status.PENDING
    assert Entry.objects.filter(action="proposal.withdrawn").count() == 2


def test_every_call_that_changes_something_answers_agent_stopped_and_reading_goes_on(cast: Team) -> None:
    scout, proposal = Api(cast.scout), mail(cast.scout)
    assert scout.propose().status_code == 201
    stop_agent(cast.scout.agent.id, reason="It went wrong.", by=cast.dana)
    for answer in (
        scout.propose(),
        scout.post(f"/proposals/{proposal.id}/withdraw", {}),
        scout.post(f"/proposals/{proposal.id}/revisions", {"revision": 1, "arguments": {}}),
        scout.post(f"/proposals/{proposal.id}/redeem", {"binding": proposal.binding}),
        scout.post("/permits/redeem", {"permit": "a.b.c", "arguments": {}}),
        scout.post(f"/proposals/{proposal.id}/outcome", {"result": "failed", "jti": str(proposal.id)}),
    ):
        assert problem(answer) == (403, "agent_stopped")
    assert scout.get(f"/proposals/{proposal.id}").json()["status"] == "withdrawn"
