"""What this app says and hands out, without a database."""

from __future__ import annotations

import re

import pytest
from django.test import RequestFactory

from huqan_site.lib.problems import Refusal
from review.access import refusals, sessions, tokens
from review.access.forms import Mint, NewPassword
from review.access.refusals import BadName
from review.access.services import rules

REFUSALS = [
    found
    for found in vars(refusals).values()
    if isinstance(found, type) and issubclass(found, Refusal) and "code" in vars(found)
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_says_in_full_sentences_why(refusal: type[Refusal]) -> None:
    assert refusal.detail.endswith(".")
    assert 400 <= refusal.status < 500
    said = f"{refusal.title} {refusal.detail} {getattr(refusal, 'advice', '')}"
    assert not re.search(r"\b(please|oops|successfully|sorry)\b", said, re.IGNORECASE)


def test_no_two_refusals_share_a_code() -> None:
    codes = [refusal.code for refusal in REFUSALS]
    assert len(set(codes)) == len(codes) >= 15


def test_two_tokens_share_nothing() -> None:
    first, second = tokens.new_token(), tokens.new_token()
    assert re.fullmatch(r"hqn_[0-9a-f]{12}_[0-9a-f]{48}", first.text)
    assert first.handle != second.handle
    assert first.digest != second.digest
    assert first.digest == tokens.digest(first.text.split("_")[2])


def test_a_session_is_named_in_the_log_by_what_leads_back_to_no_cookie() -> None:
    reference = sessions.session_reference("the-key-of-the-cookie")
    assert re.fullmatch(r"[0-9a-f]{32}", reference)
    assert reference != sessions.session_reference("another-key")


def test_a_password_is_typed_twice_and_never_trimmed() -> None:
    typed = NewPassword({"password": " correct horse ", "again": " correct horse "})
    assert typed.is_valid()
    assert typed.cleaned_data["password"] == " correct horse "
    assert not NewPassword({"password": " correct horse ", "again": "correct horse"}).is_valid()


@pytest.mark.parametrize("days", ["0", "91", "1.5", "", "ninety"])
def test_a_token_lasts_from_1_to_90_days(days: str) -> None:
    assert Mint({"scopes": ["read"], "days": "90"}).is_valid()
    assert not Mint({"scopes": ["read"], "days": days}).is_valid()


@pytest.mark.parametrize("name", ["scout", "Scout-2", "a_b", "7", "a" * 64])
def test_names_of_workspaces_and_agents_are_plain(name: str) -> None:
    assert rules.slug(name) == name


@pytest.mark.parametrize("name", ["", "-a", "a b", "a.b", "ağent", "a" * 65, "a\n", "а"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(BadName):
        rules.slug(name)


def test_a_request_is_asked_once_who_sent_it() -> None:
    request = RequestFactory().get("/")
    request.user = None  # type: ignore[assignment]
    assert sessions.person_actor(request) is None
    del request.user
    assert sessions.person_actor(request) is None
    sessions.forget(request)
    with pytest.raises(AttributeError):
        sessions.person_actor(request)
