"""Giving the password again where a rule asks for a fresh sign-in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.http import HttpRequest
from django.test import RequestFactory
from django.utils import timezone

from review.access import sessions
from review.access.actors import PersonActor
from review.access.models import User
from review.access.refusals import TooManyAttempts, WrongCode, WrongPassword
from review.access.services.factors import enrol_app
from review.access.services.passwords import choose_password
from review.access.services.people import create_person_with_account, link_account
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
    settings.ACCOUNT_RATE_LIMITS = {"step_up": "2/m/key"}
    request = request_of(nina)
    for _ in range(2):
        with pytest.raises(WrongPassword):
            step_up(request, "guessed")
    with pytest.raises(TooManyAttempts):
        step_up(request, PASSWORD)


def test_5_wrong_ones_lock_the_person_for_5_minutes_from_every_account_and_say_so(nina: User) -> None:
    other = link_account(nina.person_id, "nina2", by=OPERATOR)
    second = choose_password(other.secret, PASSWORD)
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for user in (nina, second, nina, second, nina):
            with pytest.raises(WrongPassword):
                step_up(request_of(user), "guessed")
        for user in (nina, second):
            with pytest.raises(TooManyAttempts, match="5 minutes"):
                step_up(request_of(user), PASSWORD)
        assert last_entry()["after"] == {"code": "too_many_attempts"}
        clock.shift(timedelta(minutes=5, seconds=1))
        assert step_up(request_of(nina), PASSWORD)


def test_a_right_one_forgives_the_wrong_ones_before_it(nina: User) -> None:
    for given in ("guessed", "guessed", "guessed", "guessed", PASSWORD, "guessed", "guessed", PASSWORD):
        with suppress(WrongPassword):
            step_up(request_of(nina), given)
    assert last_entry()["action"] == "step_up.succeeded"


def test_who_has_a_second_factor_gives_a_code_and_not_the_password(nina: User) -> None:
    secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    with time_machine.travel(timezone.now(), tick=False) as clock:
        holder = PersonActor(nina.person, nina, "s", auth_time=timezone.now())
        code = format_hotp_value(hotp_value(secret, int(timezone.now().timestamp()) // 30))
        recovery = enrol_app(secret, code, by=holder)
        clock.shift(timedelta(minutes=10))
        code = format_hotp_value(hotp_value(secret, int(timezone.now().timestamp()) // 30))
        for wrong in (PASSWORD, "000000", ""):
            with pytest.raises(WrongCode):
                step_up(request_of(nina), wrong)
        for right in (code, recovery[0]):
            actor = step_up(request_of(nina), right)
            assert (actor.methods, actor.auth_time) == (("mfa",), timezone.now())
        with pytest.raises(WrongCode):
            step_up(request_of(nina), code)
