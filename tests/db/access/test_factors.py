"""Second factors: enrolled by their owner alone, asked for at the sign-in and where a rule asks for a fresh one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from review.access import factors
from review.access.actors import PersonActor
from review.access.models import User
from review.access.refusals import AlreadyEnrolled, NotFound, NotManager, StepUpNeeded, WrongCode
from review.access.services.factors import enrol_app, remove_app, remove_factors, renew_recovery_codes
from review.access.services.passwords import choose_password
from review.access.services.people import create_person_with_account
from review.audit.models import Entry
from tests.db.access.house import OPERATOR

PASSWORD = "correct horse battery staple"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
LOGIN, CODE = "/accounts/login/", "/accounts/login/code/"


@pytest.fixture(autouse=True)
def clock(db: None) -> Iterator[Any]:
    """The time stands still, so that a code that was made is still the one that is shown."""
    cache.clear()
    with time_machine.travel(datetime(2026, 12, 1, 10, tzinfo=UTC), tick=False) as clock:
        yield clock
    cache.clear()


@pytest.fixture
def nina(clock: Any) -> PersonActor:
    user = choose_password(create_person_with_account("nina", "nina", by=OPERATOR).secret, PASSWORD)
    return PersonActor(user.person, user, "s", ("password",), auth_time=timezone.now())


def shown(secret: str = SECRET) -> str:
    """The code that the app shows now."""
    return format_hotp_value(hotp_value(secret, int(timezone.now().timestamp()) // 30))


def enrol(nina: PersonActor) -> list[str]:
    return enrol_app(SECRET, shown(), by=nina)


def actions() -> list[str]:
    return list(Entry.objects.order_by("seq").values_list("action", flat=True))


def is_signed_in(browser: Client) -> bool:
    return bool(browser.get("/account/").status_code == 200)


def test_a_person_enrols_an_app_and_the_log_has_both_factors(nina: PersonActor) -> None:
    codes = enrol(nina)
    assert len(set(codes)) == 10
    assert factors.enrolled(nina.user) == (True, 10)
    assert actions()[-2:] == ["factor.enrolled", "factor.enrolled"]
    with pytest.raises(AlreadyEnrolled):
        enrol(nina)


def test_a_wrong_code_enrols_nothing(nina: PersonActor) -> None:
    with pytest.raises(WrongCode):
        enrol_app(SECRET, "000000", by=nina)
    assert not factors.has_second(nina.user)
    assert enrol(nina)


def test_changing_factors_takes_a_fresh_one(nina: PersonActor, clock: Any) -> None:
    clock.shift(timedelta(minutes=5))
    enrol(nina)
    clock.shift(timedelta(seconds=1))
    for change in (lambda: renew_recovery_codes(by=nina), lambda: remove_app(by=nina)):
        with pytest.raises(StepUpNeeded):
            change()
    assert factors.enrolled(nina.user) == (True, 10)


def test_the_secrets_of_factors_lie_nowhere_in_the_clear(nina: PersonActor) -> None:
    codes = enrol(nina)
    stored = json.dumps(list(Authenticator.objects.values_list("data", flat=True)))
    assert SECRET not in stored
    assert not [code for code in codes if code in stored]
    assert not [
        entry for entry in Entry.objects.all() if SECRET in entry.canonical or codes[0] in entry.canonical
    ]


def test_the_sign_in_asks_for_the_code_too(nina: PersonActor, client: Client) -> None:
    enrol(nina)
    answer = client.post(LOGIN, {"login": "nina", "password": PASSWORD})
    assert answer["Location"] == CODE
    assert not is_signed_in(client)
    assert client.post(CODE, {"code": "000000"}).status_code == 200
    assert not is_signed_in(client)
    assert actions()[-1] == "sign_in.failed"
    client.post(CODE, {"code": shown()})
    assert is_signed_in(client)
    entry = json.loads(Entry.objects.get(action="sign_in.succeeded").canonical)
    assert entry["actor"]["methods"] == ["password", "mfa"]


def test_without_the_password_there_is_nothing_to_type_a_code_into(nina: PersonActor, client: Client) -> None:
    enrol(nina)
    assert client.post(CODE, {"code": shown()})["Location"].startswith(LOGIN)
    assert not is_signed_in(client)


def test_a_code_works_once(nina: PersonActor, client: Client) -> None:
    enrol(nina)
    code = shown()
    for browser, signed_in in ((client, True), (Client(), False)):
        browser.post(LOGIN, {"login": "nina", "password": PASSWORD})
        browser.post(CODE, {"code": code})
        assert is_signed_in(browser) is signed_in


def test_a_recovery_code_works_once_in_place_of_the_phone(nina: PersonActor, client: Client) -> None:
    [code, *_] = enrol(nina)
    for browser, signed_in in ((client, True), (Client(), False)):
        browser.post(LOGIN, {"login": "nina", "password": PASSWORD})
        browser.post(CODE, {"code": code})
        assert is_signed_in(browser) is signed_in
    assert factors.enrolled(nina.user).recovery_codes == 9


def test_new_recovery_codes_end_the_earlier_ones(nina: PersonActor) -> None:
    old, new = enrol(nina), renew_recovery_codes(by=nina)
    assert factors.matching(nina.user, old[0]) is None
    assert factors.matching(nina.user, new[0])


def test_the_operator_removes_factors_for_somebody_who_lost_them_all(nina: PersonActor) -> None:
    enrol(nina)
    with pytest.raises(NotManager):
        remove_factors("nina", by=nina)
    printed = StringIO()
    call_command("reset_password", "nina", "--and-second-factor", stdout=printed)
    assert "second factor" in printed.getvalue()
    assert not factors.has_second(nina.user)
    assert actions()[-3:] == ["password.reset", "factor.removed", "factor.removed"]
    with pytest.raises(NotFound):
        remove_factors("nina", by=OPERATOR)


def test_who_had_no_second_factor_gets_his_link_all_the_same(nina: PersonActor) -> None:
    printed = StringIO()
    call_command("reset_password", "nina", "--and-second-factor", stdout=printed)
    assert "There was no second factor." in printed.getvalue()
    assert "/set-up/" in printed.getvalue()
    with pytest.raises(CommandError, match="No active account is called nobody"):
        call_command("reset_password", "nobody")


def test_a_person_sets_it_up_on_his_own_page_and_sees_the_codes_once(nina: PersonActor) -> None:
    browser = Client()
    browser.post(LOGIN, {"login": "nina", "password": PASSWORD})
    page = browser.get("/account/second-factor/")
    secret = browser.session["mfa.totp.secret"]
    assert secret in page.content.decode()
    wrong = browser.post("/account/second-factor/enrol/", {"code": "000000", "password": PASSWORD})
    assert (wrong.status_code, browser.session["mfa.totp.secret"]) == (403, secret)
    answer = browser.post("/account/second-factor/enrol/", {"code": shown(secret), "password": PASSWORD})
    assert "Recovery codes, shown this once" in answer.content.decode()
    assert "Recovery codes, shown this once" not in browser.get("/account/second-factor/").content.decode()
    assert User.objects.get(username="nina").authenticator_set.count() == 2
    assert browser.post("/account/second-factor/remove/", {"password": PASSWORD}).status_code == 403
    time = time_machine.travel(timezone.now() + timedelta(minutes=2), tick=False)
    with time:
        removed = browser.post("/account/second-factor/remove/", {"password": shown(secret)})
    assert removed["Location"] == "/account/"
    assert not factors.has_second(nina.user)
