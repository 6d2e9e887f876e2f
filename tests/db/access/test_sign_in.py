"""Signing in: by name and password alone, recorded, and gone the moment the person is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client, RequestFactory
from django.urls import Resolver404, resolve

from review.access import adapter, queries, sessions
from review.access.services.passwords import choose_password, reset_password
from review.access.services.people import create_person_with_account, disable_person
from review.audit.models import Entry, PrivateText
from tests.db.access.house import OPERATOR

PASSWORD = "correct horse battery staple"
LOGIN = "/accounts/login/"


@pytest.fixture(autouse=True)
def nina(db: None) -> Iterator[None]:
    cache.clear()
    choose_password(create_person_with_account("nina", "nina", by=OPERATOR).secret, PASSWORD)
    yield
    cache.clear()


def sign_in(browser: Client, name: str = "nina", password: str = PASSWORD, **more: str) -> Any:
    return browser.post(LOGIN, {"login": name, "password": password, **more})


def is_signed_in(browser: Client) -> bool:
    return bool(browser.get("/account/").status_code == 200)


def last(action: str) -> dict[str, Any]:
    entry = Entry.objects.filter(action=action).order_by("-seq").first()
    assert entry is not None
    return dict(json.loads(entry.canonical))


def test_a_person_signs_in_and_the_log_says_how(client: Client) -> None:
    assert sign_in(client).status_code == 302
    assert is_signed_in(client)
    user = queries.account("nina")
    assert user is not None
    actor = last("sign_in.succeeded")["actor"]
    assert actor["account"] == "nina"
    assert actor["person"] == str(user.person_id)
    assert actor["methods"] == ["password"]
    assert datetime.fromisoformat(actor["auth_time"])
    assert actor["session"] == sessions.session_reference(client.session.session_key or "")
    assert (client.session.session_key or "") not in json.dumps(actor)


def test_the_letter_case_of_the_name_does_not_matter(client: Client) -> None:
    sign_in(client, "NINA")
    assert is_signed_in(client)


def test_a_wrong_password_signs_nobody_in_and_is_recorded(client: Client) -> None:
    assert "Not signed in" in sign_in(client, password="wrong").content.decode()
    assert not is_signed_in(client)
    assert last("sign_in.failed")["actor"]["account"] == "nina"
    assert "person" not in last("sign_in.failed")["actor"]


def test_what_was_typed_as_an_unknown_name_is_only_committed_to(client: Client) -> None:
    sign_in(client, "hunter2-my-password")
    entry = last("sign_in.failed")
    assert "hunter2" not in json.dumps(entry)
    assert "account" not in entry["actor"]
    kept = PrivateText.objects.get(seq=entry["seq"], name="account")
    assert kept.text == "hunter2-my-password"


def test_a_disabled_person_is_answered_like_a_wrong_password(client: Client) -> None:
    user = queries.account("nina")
    assert user is not None
    disable_person(user.person_id, by=OPERATOR)
    assert "name and password do not fit" in sign_in(client).content.decode()
    assert not is_signed_in(client)
    assert last("sign_in.failed")["actor"]["account"] == "nina"


def test_disabling_a_person_ends_the_open_session(client: Client) -> None:
    sign_in(client)
    assert is_signed_in(client)
    user = queries.account("nina")
    assert user is not None
    disable_person(user.person_id, by=OPERATOR)
    assert not is_signed_in(client)


def test_resetting_a_password_ends_the_open_session(client: Client) -> None:
    sign_in(client)
    assert is_signed_in(client)
    reset_password("nina", by=OPERATOR)
    assert not is_signed_in(client)


def test_signing_out_is_recorded_and_needs_a_form(client: Client) -> None:
    sign_in(client)
    client.get("/accounts/logout/")
    assert is_signed_in(client)
    client.post("/accounts/logout/")
    assert not is_signed_in(client)
    assert last("sign_out.done")["actor"]["account"] == "nina"


def test_without_an_entry_nobody_is_signed_in(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(adapter.log, "record", fails)
        answer = sign_in(client)
        assert answer.status_code == 503
        assert answer["Retry-After"]
        assert "disk I/O" not in answer.content.decode()
        assert not Session.objects.exists()
    assert not is_signed_in(client)
    sign_in(client)
    assert is_signed_in(client)


@pytest.mark.parametrize(
    ("asked", "led"),
    [
        ("/account/", "/account/"),
        ("/audit/?from=2026", "/audit/?from=2026"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("http://localhost/", "/"),
        ("http://testserver.evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("\\\\evil.example", "/"),
    ],
)
def test_a_sign_in_leads_to_a_page_of_this_host_only(client: Client, asked: str, led: str) -> None:
    assert sign_in(client, next=asked)["Location"] == led


def test_an_address_that_tries_too_often_is_told_to_wait(client: Client, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login": "2/m/ip", "login_failed": "10/m/ip"}
    for _ in range(2):
        assert sign_in(client, password="wrong").status_code == 200
    answer = sign_in(client)
    assert answer.status_code == 429
    assert 'data-problem="rate_limited"' in answer.content.decode()
    assert not is_signed_in(client)


@pytest.mark.parametrize("page", ["signup/", "password/reset/", "email/", "2fa/", "confirm-email/"])
def test_of_allauth_only_signing_in_and_out_is_there(page: str) -> None:
    assert resolve("/accounts/login/")
    with pytest.raises(Resolver404):
        resolve(f"/accounts/{page}")


def test_a_signed_out_reader_is_led_to_the_sign_in_and_back(client: Client) -> None:
    answer = client.get("/account/?x=1")
    assert answer["Location"] == "/accounts/login/?next=/account/%3Fx%3D1"
    htmx = client.get("/account/", headers={"HX-Request": "true"})
    assert htmx["HX-Redirect"] == "/accounts/login/?next=%2Faccount%2F"


def test_whoever_was_signed_out_while_a_page_was_open_is_led_back_to_that_page(client: Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/?risk=high"}
    assert (
        client.get("/queue/new/", headers=headers)["HX-Redirect"] == "/accounts/login/?next=%2F%3Frisk%3Dhigh"
    )
    headers["HX-Current-URL"] = "https://elsewhere.example/?risk=high"
    assert client.get("/account/", headers=headers)["HX-Redirect"] == "/accounts/login/?next=%2Faccount%2F"


def test_what_a_signed_out_person_sends_is_not_thrown_away_in_silence(client: Client) -> None:
    answer = client.post("/account/delegations/", {"agent": "x"})
    assert answer.status_code == 403
    assert 'data-problem="signed_out"' in answer.content.decode()


def test_a_bearer_token_signs_nobody_in_on_a_page(client: Client) -> None:
    answer = client.get("/account/", headers={"authorization": "Bearer hqn_000000000000_" + "0" * 48})
    assert answer.status_code == 302


def test_who_guesses_is_stopped_where_he_is_and_locks_nobody_else_out(client: Client) -> None:
    """Wrong passwords count by address and account: their owner signs in elsewhere, and he signs in as others."""
    choose_password(create_person_with_account("oscar", "oscar", by=OPERATOR).secret, PASSWORD)
    for name in ("nina", "NINA", "nina", "Nina", "nina"):
        sign_in(client, name, "wrong")
    for name in ("nina", "nInA"):
        assert "too many wrong attempts" in sign_in(client, name).content.decode()
    assert not is_signed_in(client)
    elsewhere = Client(REMOTE_ADDR="203.0.113.9")
    sign_in(elsewhere)
    assert is_signed_in(elsewhere)
    sign_in(client, "oscar")
    assert is_signed_in(client)


def test_right_passwords_do_not_wipe_out_the_wrong_ones(client: Client) -> None:
    for password in ("wrong", "wrong", PASSWORD, "wrong", "wrong", "wrong"):
        sign_in(Client(), password=password)
    sign_in(client)
    assert not is_signed_in(client)


def from_address(forwarded: str, trusted: int, settings: Any) -> str:
    settings.HUQAN_TRUSTED_PROXIES = trusted
    request = RequestFactory().post(LOGIN, headers={"X-Forwarded-For": forwarded}, REMOTE_ADDR="192.0.2.1")
    return adapter.AccountAdapter().get_client_ip(request)


@pytest.mark.parametrize(
    ("forwarded", "trusted", "address"),
    [
        ("203.0.113.9", 0, "192.0.2.1"),  # nothing is believed unless the operator says so
        ("203.0.113.9", 1, "203.0.113.9"),
        ("10.9.8.7, 203.0.113.9", 1, "203.0.113.9"),  # what the client wrote himself stands further left
        ("10.9.8.7, 203.0.113.9, 198.51.100.2", 2, "203.0.113.9"),
        ("203.0.113.9", 2, "192.0.2.1"),  # it did not come through both
        ("nonsense", 1, "192.0.2.1"),
        ("", 1, "192.0.2.1"),
        ("2001:db8::7", 1, "2001:db8::7"),
    ],
)
def test_an_address_is_believed_only_as_far_as_our_proxies_wrote_it(
    forwarded: str, trusted: int, address: str, settings: Any
) -> None:
    assert from_address(forwarded, trusted, settings) == address
