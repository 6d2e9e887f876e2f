"""The log cannot be written: agents and people are told to come back, and what they asked for did not happen (I25).

tests/db/races/test_unrecorded.py goes through the use cases entry by entry; here it is what each door says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

import pytest

from review.access.models import Delegation, Membership
from review.access.services.delegations import grant_delegation
from review.services.issue_permit import redeem
from tests.support import factories
from tests.support.api import Api, problem
from tests.support.factories import Team
from tests.support.memory_acts import arguments_of, doubtful, known, remember
from tests.support.pages import browser
from tests.support.refusing import no_entry_of, picture
from tests.support.review_acts import ballot, call, vote

PORT = "The staging port is 7443."
Send = Callable[[], Any]


class Door(NamedTuple):
    """What is sent, after what was there before, and the entry that cannot be written."""

    prepare: Callable[[Team], Send]
    action: str


AGENTS: dict[str, Door] = {}
PEOPLE: dict[str, Door] = {}


def door(doors: dict[str, Door], action: str) -> Callable[[Callable[[Team], Send]], Callable[[Team], Send]]:
    """Register the decorated function: it prepares the ground and returns what is then sent."""

    def register(prepare: Callable[[Team], Send]) -> Callable[[Team], Send]:
        doors[prepare.__name__] = Door(prepare, action)
        return prepare

    return register


@door(AGENTS, "proposal.proposed")
def propose(team: Team) -> Send:
    return lambda: Api(team.scout).propose()


@door(AGENTS, "proposal.revised")
def revise(team: Team) -> Send:
    path, sent = f"/proposals/{call(team.scout).id}/revisions", {"revision": 1, "arguments": {"order": "2"}}
    return lambda: Api(team.scout).post(path, sent)


@door(AGENTS, "proposal.withdrawn")
def withdraw(team: Team) -> Send:
    path = f"/proposals/{call(team.scout).id}/withdraw"
    return lambda: Api(team.scout).post(path, {})


@door(AGENTS, "permit.issued")
def take_a_permit(team: Team) -> Send:
    proposal = call(team.scout, "search.web")
    path, sent = f"/proposals/{proposal.id}/redeem", {"binding": proposal.binding}
    return lambda: Api(team.scout).post(path, sent)


@door(AGENTS, "permit.redeemed")
def spend_a_permit(team: Team) -> Send:
    proposal = call(team.scout, "search.web")
    permit = redeem(proposal.id, by=team.scout, binding=proposal.binding)
    sent = {"permit": permit.token, "arguments": arguments_of(proposal)}
    return lambda: Api(team.scout).post("/permits/redeem", sent)


@door(AGENTS, "outcome.reported")
def report(team: Team) -> Send:
    proposal = call(team.scout, "search.web")
    permit = redeem(proposal.id, by=team.scout, binding=proposal.binding)
    sent = {"result": "succeeded", "jti": str(permit.jti)}
    return lambda: Api(team.scout).post(f"/proposals/{proposal.id}/outcome", sent)


def deciding(team: Team, proposal: Any, verdict: str = "approve") -> Send:
    """alice sends the form that she was shown."""
    proposal.refresh_from_db()
    alice, fields = browser(team.alice), asdict(ballot(team.alice, proposal, verdict))
    filled = {name: value for name, value in fields.items() if isinstance(value, str | int) and value}
    return lambda: alice.post(f"/proposals/{proposal.id}/decide/", filled)


@door(PEOPLE, "decision.approved")
def approve(team: Team) -> Send:
    return deciding(team, call(team.scout))


@door(PEOPLE, "decision.rejected")
def reject(team: Team) -> Send:
    return deciding(team, call(team.scout), "reject")


@door(PEOPLE, "memory.written")
def approve_a_memory(team: Team) -> Send:
    return deciding(team, remember(team.scout, PORT))


@door(PEOPLE, "memory.released")
def release(team: Team) -> Send:
    return deciding(team, vote(team.carol, doubtful(team.scout, PORT)).proposal)


@door(PEOPLE, "memory.discarded")
def discard(team: Team) -> Send:
    return deciding(team, doubtful(team.scout, PORT), "reject")


@door(PEOPLE, "memory.quarantined")
def put_into_quarantine(team: Team) -> Send:
    record, alice = known(team.scout, PORT, team.carol), browser(team.alice)
    return lambda: alice.post(f"/memory/{record.id}/quarantine/", {"reason": "It reads oddly."})


@door(PEOPLE, "membership.granted")
def grant_a_role(team: Team) -> Send:
    dana, sent = browser(team.dana), {"username": "nina", "workspace": str(team.acme.id), "role": "reviewer"}
    return lambda: dana.post("/people/grant/", sent)


@door(PEOPLE, "membership.revoked")
def revoke_a_role(team: Team) -> Send:
    dana, held = browser(team.dana), Membership.objects.get(person=team.carol.person)
    return lambda: dana.post(f"/people/roles/{held.id}/revoke/")


@door(PEOPLE, "person.disabled")
def disable_somebody(team: Team) -> Send:
    dana = browser(team.dana)
    return lambda: dana.post(f"/people/{team.carol.person.id}/disable/")


@door(PEOPLE, "person.created")
def invite(team: Team) -> Send:
    dana, sent = browser(team.dana), {"name": "Frank", "username": "frank", "workspace": str(team.acme.id)}
    return lambda: dana.post("/people/invite/", {**sent, "roles": "reviewer"})


@door(PEOPLE, "token.minted")
def mint(team: Team) -> Send:
    dana, sent = browser(team.dana), {"scopes": ["read"], "days": "30"}
    return lambda: dana.post(f"/agents/{team.scout.agent.id}/tokens/", sent)


@door(PEOPLE, "token.revoked")
def revoke_a_token(team: Team) -> Send:
    dana = browser(team.dana)
    return lambda: dana.post(f"/agents/tokens/{team.scout.token.id}/revoke/")


@door(PEOPLE, "agent.stopped")
def stop_an_agent(team: Team) -> Send:
    dana = browser(team.dana)
    return lambda: dana.post(f"/agents/{team.scout.agent.id}/stop/", {"reason": "It went wrong."})


@door(PEOPLE, "agent.transferred")
def hand_an_agent_over(team: Team) -> Send:
    dana, sent = browser(team.dana), {"owner": str(team.carol.person.id)}
    return lambda: dana.post(f"/agents/{team.scout.agent.id}/transfer/", sent)


@door(PEOPLE, "delegation.granted")
def let_an_agent_act_for_one(team: Team) -> Send:
    alice, sent = browser(team.alice), {"agent": str(team.scout.agent.id)}
    return lambda: alice.post("/account/delegations/", sent)


@door(PEOPLE, "delegation.revoked")
def let_it_no_longer(team: Team) -> Send:
    grant_delegation(team.scout.agent.id, by=team.alice)
    alice, given = browser(team.alice), Delegation.objects.get()
    return lambda: alice.post(f"/account/delegations/{given.id}/revoke/")


def must_have_left_nothing(send: Send, action: str) -> Any:
    """Send it while `action` cannot be recorded, and once more when it can; return the first answer."""
    before = _picture()
    with no_entry_of(action):
        refused = send()
    assert refused.status_code == 503, refused.content
    assert int(refused["Retry-After"]) > 0
    assert _picture() == before
    assert send().status_code < 400
    assert _picture() != before
    return refused


def _picture() -> dict[str, Any]:
    return {table: rows for table, rows in picture().items() if table != "access_requestcount"}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_told_to_come_back(name: str, transactional_db: None) -> None:
    prepare, action = AGENTS[name]
    refused = must_have_left_nothing(prepare(factories.team()), action)
    assert problem(refused) == (503, "unavailable")


@pytest.mark.parametrize("name", PEOPLE)
def test_a_person_is_told_to_come_back(name: str, transactional_db: None) -> None:
    prepare, action = PEOPLE[name]
    refused = must_have_left_nothing(prepare(factories.team()), action)
    assert 'data-problem="unavailable"' in refused.content.decode()
