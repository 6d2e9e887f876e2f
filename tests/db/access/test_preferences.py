"""The language of the pages and the switch for keys: each person's own, with JavaScript or without."""

from __future__ import annotations

import pytest
from django.test import Client

from review.access.models import User
from tests.support.api import Api
from tests.support.factories import Team, team

TURKISH = {"HTTP_ACCEPT_LANGUAGE": "tr,en;q=0.5"}


@pytest.fixture
def cast(db: None) -> Team:
    return team()


def browser(person: object) -> Client:
    client = Client()
    client.force_login(person.user)  # type: ignore[attr-defined]
    return client


def language_of(client: Client, path: str = "/accounts/login/", **headers: str) -> str:
    return client.get(path, **headers).content.decode().split('<html lang="', 1)[1].split('"', 1)[0]


def test_a_stranger_gets_the_language_his_browser_asks_for(db: None) -> None:
    assert language_of(Client()) == "en"
    assert language_of(Client(), **TURKISH) == "tr"


def test_a_language_that_we_do_not_speak_is_answered_in_english(db: None) -> None:
    assert language_of(Client(), HTTP_ACCEPT_LANGUAGE="fi") == "en"


def test_a_stranger_chooses_a_language_at_the_foot_and_comes_back_to_where_he_was(db: None) -> None:
    client = Client()
    answer = client.post(
        "/language/", {"language": "tr"}, HTTP_REFERER="http://testserver/accounts/login/?next=/memory/"
    )
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/memory/")
    assert language_of(client) == "tr"


def test_the_form_of_the_foot_works_with_the_token_that_stands_in_it(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    page = client.get("/accounts/login/").content.decode()
    token = page.split('action="/language/"', 1)[1].split('value="', 1)[1].split('"', 1)[0]
    client.post("/language/", {"language": "tr", "csrfmiddlewaretoken": token})
    assert language_of(client) == "tr"


@pytest.mark.parametrize("referer", ["https://elsewhere.example/x", "//elsewhere.example", ""])
def test_choosing_leads_to_no_other_host(db: None, referer: str) -> None:
    assert Client().post("/language/", {"language": "tr"}, HTTP_REFERER=referer)["Location"] == "/"


def test_a_language_of_nobody_changes_nothing(cast: Team) -> None:
    client = browser(cast.alice)
    assert client.post("/language/", {"language": "xx"}).status_code == 302
    assert User.objects.get(id=cast.alice.user.id).language == ""
    assert language_of(client, "/") == "en"


def test_her_language_is_kept_with_her_account_and_goes_before_the_browsers(cast: Team) -> None:
    browser(cast.alice).post("/language/", {"language": "tr"})
    assert language_of(browser(cast.alice), "/", HTTP_ACCEPT_LANGUAGE="en") == "tr"
    assert language_of(browser(cast.carol), "/", HTTP_ACCEPT_LANGUAGE="en") == "en"


def test_the_language_is_in_no_address(cast: Team) -> None:
    client = browser(cast.alice)
    client.post("/language/", {"language": "tr"})
    assert "/tr/" not in client.get("/").content.decode()


def test_the_language_is_not_changed_by_opening_an_address(cast: Team) -> None:
    assert browser(cast.alice).get("/language/").status_code == 405


def test_programs_are_answered_in_english_whatever_they_accept(cast: Team) -> None:
    scout = Api(cast.scout)
    for path in ("/proposals/0190a0a0-0000-7000-8000-000000000000", "/nothing", "/memory/query?query="):
        english, turkish = scout.get(path).json(), scout.get(path, **TURKISH).json()
        assert {**english, "request_id": ""} == {**turkish, "request_id": ""}


def test_what_the_gate_says_of_a_proposal_is_english_for_its_agent(cast: Team) -> None:
    body = {"tool": "payments.refund", "arguments": {"order": "20817"}}
    answer = Api(cast.scout).post("/proposals", body, **TURKISH)
    assert answer.status_code == 201
    assert "The policy of this workspace has people review this tool." in answer.content.decode()


def test_she_switches_the_keys_off_for_every_browser(cast: Team) -> None:
    client = browser(cast.alice)
    assert 'data-keys="off"' not in client.get("/").content.decode()
    assert client.post("/account/keys/", {}).status_code == 302
    assert 'data-keys="off"' in browser(cast.alice).get("/").content.decode()
    assert 'data-keys="off"' not in browser(cast.carol).get("/").content.decode()
    client.post("/account/keys/", {"keys": "on"})
    assert 'data-keys="off"' not in client.get("/").content.decode()


def test_the_switch_in_an_open_page_leaves_the_page_as_it_is(cast: Team) -> None:
    assert browser(cast.alice).post("/account/keys/", {}, HTTP_HX_REQUEST="true").status_code == 204


def test_nobody_switches_keys_who_is_not_signed_in(db: None) -> None:
    assert Client().post("/account/keys/", {}).status_code == 403
