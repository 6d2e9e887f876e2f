"""Giving the password again where a rule asks for a fresh sign-in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.http import HttpRequest
from django.test import RequestFactory
from django.utils import timezone

from review.access import sessions
from review.access.models import User
from review.access.refusals import TooManyAttempts, WrongPassword
from review.access.services.passwords import choose_password
from review.access.services.people import create_person_with_account
from review.access.step_up import step_up
from review.audit.models import Entry
from tests.db.access.house import OPERATOR

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def fresh_counters(db: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def nina(db: None) -> User:
    return choose_password(create_person_with_account("nina", "nina", by=OPERATOR).secret, PASSWORD)


def request_of(user: User) -> HttpRequest:
    request = RequestFactory().post("/")
    request.user, request.session = user, SessionStore()
    request.session.create()
    return request


def last_entry() -> dict[str, Any]:
    entry = Entry.objects.order_by("-seq").first()
    assert entry is not None
    return dict(json.loads(entry.canonical))


def test_the_right_password_makes_the_sign_in_fresh(nina: User) -> None:
    request, before = request_of(nina), timezone.now()
    known = sessions.person_actor(request)
    assert known is not None
    assert known.auth_time is None
    actor = step_up(request, PASSWORD)
    assert actor.auth_time is not None
    assert actor.auth_time >= before
    assert sessions.person_actor(request) == actor
    assert last_entry()["action"] == "step_up.succeeded"


def test_a_wrong_password_leaves_it_as_old_as_it_was_and_is_recorded(nina: User) -> None:
    request = request_of(nina)
    with pytest.raises(WrongPassword):
        step_up(request, "guessed")
    known = sessions.person_actor(request)
    assert known is not None
    assert known.auth_time is None
    assert last_entry()["action"] == "step_up.failed"
    assert last_entry()["actor"]["account"] == "nina"


def test_a_password_cannot_be_guessed_by_trying(nina: User, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"reauthenticate": "2/m/user"}
    request = request_of(nina)
    for _ in range(2):
        with pytest.raises(WrongPassword):
            step_up(request, "guessed")
    with pytest.raises(TooManyAttempts):
        step_up(request, PASSWORD)
