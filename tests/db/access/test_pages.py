"""The pages of setting up: who may open them, and what they show once and never again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from review.access import limits, queries, roster, tokens
from review.access.actors import PersonActor
from review.access.models import Agent, AgentToken, Delegation, Membership
from review.access.services.passwords import choose_password, reset_password
from review.access.services.people import create_person_with_account
from tests.db.access.house import OPERATOR, House

PASSWORD = "correct horse battery staple"
Browsers = Callable[[PersonActor], Client]


@pytest.fixture
def browser_of(house: House) -> Iterator[Browsers]:
    """Give a browser in which that person is signed in."""
    cache.clear()

    def signed_in(who: PersonActor) -> Client:
        client = Client()
        client.force_login(who.user)
        return client

    yield signed_in
    cache.clear()


def code_of(answer: Any) -> str | None:
    """Return the code of the refusal that a page tells of."""
    found = re.search(r'data-problem="([a-z_]+)"', answer.content.decode())
    return found[1] if found else None


@pytest.mark.parametrize("page", ["/agents/", "/people/"])
def test_managers_open_the_pages_of_setting_up_and_nobody_else(
    house: House, browser_of: Browsers, page: str
) -> None:
    assert browser_of(house.dana).get(page).status_code == 200
    answer = browser_of(house.alice).get(page)
    assert answer.status_code == 403
    assert 'data-problem="not_manager"' in answer.content.decode()
    assert Client().get(page).status_code == 302


def test_a_manager_sees_the_agents_of_his_workspaces_only(house: House, browser_of: Browsers) -> None:
    assert "scout" in browser_of(house.dana).get("/agents/").content.decode()
    assert "scout" not in browser_of(house.mallory).get("/agents/").content.decode()


def test_a_token_is_shown_once(house: House, browser_of: Browsers) -> None:
    dana = browser_of(house.dana)
    answer = dana.post(f"/agents/{house.scout.id}/tokens/", {"scopes": ["propose", "read"], "days": "30"})
    found = re.search(r"hqn_[0-9a-f]{12}_[0-9a-f]{48}", answer.content.decode())
    assert found
    assert tokens.authenticate([f"Bearer {found[0]}"], now=timezone.now()).agent == house.scout
    assert found[0] not in dana.get("/agents/").content.decode()
    assert answer["Cache-Control"] == "no-store"


def test_a_manager_sees_whether_a_token_is_in_use(house: House) -> None:
    token, other, now = house.mint().token, house.mint().token, timezone.now()
    limits.count_request(token, now=now)
    [row] = roster.agent_rows([house.acme])
    used = {shown.token: shown.last_used_at for shown in row.tokens}
    assert used == {token: now.replace(second=0, microsecond=0), other: None}


def test_listing_agents_asks_as_often_for_many_as_for_few(
    house: House, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        house.mint()
    with django_assert_max_num_queries(5):
        assert len(roster.agent_rows([house.acme])[0].tokens) == 3


@pytest.mark.parametrize("sent", [{"days": "91"}, {"days": "30"}, {"scopes": "approve", "days": "30"}, {}])
def test_a_token_with_a_wrong_term_is_not_minted(
    house: House, browser_of: Browsers, sent: dict[str, str]
) -> None:
    answer = browser_of(house.dana).post(f"/agents/{house.scout.id}/tokens/", sent)
    assert (answer.status_code, code_of(answer)) == (422, "invalid")
    assert not AgentToken.objects.exists()


def test_a_reviewer_or_a_stranger_mints_nothing_by_posting_either(house: House, browser_of: Browsers) -> None:
    sent = {"scopes": ["read"], "days": "30"}
    assert browser_of(house.alice).post(f"/agents/{house.scout.id}/tokens/", sent).status_code == 403
    assert browser_of(house.mallory).post(f"/agents/{house.scout.id}/tokens/", sent).status_code == 404
    assert not AgentToken.objects.exists()


def test_a_manager_revokes_stops_and_resumes(house: House, browser_of: Browsers) -> None:
    dana, token = browser_of(house.dana), house.mint().token
    dana.post(f"/agents/tokens/{token.id}/revoke/")
    token.refresh_from_db()
    assert token.revoked_at
    assert dana.post(f"/agents/{house.scout.id}/stop/", {"reason": " "}).status_code == 422
    assert Agent.objects.get(id=house.scout.id).stopped_at is None
    dana.post(f"/agents/{house.scout.id}/stop/", {"reason": "It mails too much."})
    assert Agent.objects.get(id=house.scout.id).stopped_at
    assert "Stopped" in dana.get("/agents/").content.decode()
    assert "It mails too much." in dana.get(f"/agents/{house.scout.id}/").content.decode()
    refused = dana.post(f"/agents/{house.scout.id}/resume/")
    assert refused.status_code == 403 and 'data-problem="own_stop"' in refused.content.decode()
    browser_of(house.erin).post(f"/agents/{house.scout.id}/resume/")
    assert Agent.objects.get(id=house.scout.id).stopped_at is None


def test_a_manager_adds_an_agent(house: House, browser_of: Browsers) -> None:
    dana = browser_of(house.dana)
    sent = {"workspace": str(house.acme.id), "name": "ranger", "owner": str(house.alice.person.id)}
    assert dana.post("/agents/", sent).status_code == 302
    assert Agent.objects.get(name="ranger").workspace == house.acme
    again = dana.post("/agents/", sent)
    assert again.status_code == 409
    assert 'data-problem="name_taken"' in again.content.decode()
    foreign = {**sent, "name": "spy", "workspace": str(house.globex.id)}
    refused = dana.post("/agents/", foreign)
    assert (refused.status_code, code_of(refused)) == (422, "invalid")
    assert not Agent.objects.filter(name="spy").exists()


def test_a_manager_invites_somebody_whose_link_is_shown_once(house: House, browser_of: Browsers) -> None:
    dana = browser_of(house.dana)
    sent = {"workspace": str(house.acme.id), "name": "Nina", "username": "nina", "roles": ["reviewer"]}
    found = re.search(r"/set-up/[\w-]+/", dana.post("/people/invite/", sent).content.decode())
    assert found
    assert found[0] not in dana.get("/people/").content.decode()
    stranger = Client()
    assert stranger.get(found[0]).status_code == 200
    assert stranger.get(found[0]).status_code == 200
    assert stranger.post(found[0], {"password": PASSWORD, "again": PASSWORD}).status_code == 200
    assert stranger.get(found[0]).status_code == 410
    stranger.post("/accounts/login/", {"login": "nina", "password": PASSWORD})
    assert "reviewer" in stranger.get("/account/").content.decode()


def test_a_manager_ends_a_role_and_grants_it_to_somebody_else(house: House, browser_of: Browsers) -> None:
    dana, held = browser_of(house.dana), Membership.objects.get(person=house.alice.person)
    assert dana.post(f"/people/roles/{held.id}/revoke/").status_code == 302
    assert not queries.is_member(house.alice.person.id, house.acme.id, timezone.now())
    sent = {"workspace": str(house.acme.id), "username": "alice", "role": "reviewer"}
    assert dana.post("/people/grant/", sent).status_code == 302
    assert queries.is_member(house.alice.person.id, house.acme.id, timezone.now())
    assert dana.post("/people/grant/", {**sent, "username": "dana"}).status_code == 403
    assert dana.post("/people/grant/", {**sent, "username": "nobody"}).status_code == 422
    assert browser_of(house.mallory).post(f"/people/roles/{held.id}/revoke/").status_code == 404
    page = dana.get("/people/").content.decode()
    ids = re.findall(r'id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_a_link_that_never_was_is_answered_like_one_that_is_spent(house: House) -> None:
    answer = Client().get("/set-up/never-was/")
    assert (answer.status_code, code_of(answer)) == (410, "link_spent")


def test_passwords_that_differ_leave_the_link_good(house: House) -> None:
    secret = create_person_with_account("nina", "nina", by=OPERATOR).secret
    page = f"/set-up/{secret}/"
    for first, second, code in ((PASSWORD, "another", "invalid"), ("short", "short", "weak_password")):
        refused = Client().post(page, {"password": first, "again": second})
        assert (refused.status_code, code_of(refused)) == (422, code)
    assert Client().post(page, {"password": PASSWORD, "again": PASSWORD}).status_code == 200


def test_a_person_changes_his_password_and_stays_signed_in_here_alone(house: House) -> None:
    cache.clear()
    choose_password(reset_password("alice", by=OPERATOR).secret, PASSWORD)
    here, elsewhere = Client(), Client()
    for client in (here, elsewhere):
        client.post("/accounts/login/", {"login": "alice", "password": PASSWORD})
        assert client.get("/account/").status_code == 200
    new = "another long password"
    wrong = {"current": "guessed", "password": new, "again": new}
    refused = here.post("/account/password/", wrong)
    assert (refused.status_code, code_of(refused)) == (403, "wrong_password")
    assert here.post("/account/password/", {**wrong, "current": PASSWORD}).status_code == 302
    assert here.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    cache.clear()


def test_a_person_lets_an_agent_act_for_him_on_his_own_page(house: House, browser_of: Browsers) -> None:
    alice = browser_of(house.alice)
    assert "scout" in alice.get("/account/").content.decode()
    assert alice.post("/account/delegations/", {"agent": str(house.scout.id)}).status_code == 302
    delegation = Delegation.objects.get()
    assert delegation.person == house.alice.person
    undo = f"/account/delegations/{delegation.id}/revoke/"
    assert browser_of(house.dana).post(undo).status_code == 404
    assert alice.post(undo).status_code == 302
    assert not queries.may_act_for(house.scout.id, house.alice.person.id, timezone.now())


def test_an_agent_of_another_workspace_cannot_be_let_act_for_one(house: House, browser_of: Browsers) -> None:
    sent = {"agent": str(house.scout.id)}
    assert browser_of(house.mallory).post("/account/delegations/", sent).status_code == 422
    assert not Delegation.objects.exists()


def test_reading_changes_nothing(house: House, browser_of: Browsers) -> None:
    dana = browser_of(house.dana)
    for path in (f"/agents/{house.scout.id}/stop/", "/people/invite/", "/account/delegations/"):
        assert dana.get(path).status_code == 405
    assert Agent.objects.get(id=house.scout.id).stopped_at is None
