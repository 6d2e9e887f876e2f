"""A forgotten password: a link to the stored address alone, and not a word about whether there is one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.cache import cache
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils import timezone

from review.access.actors import PersonActor
from review.access.models import ResetRequest, SetUpLink, User
from review.access.services import resets
from review.access.services.factors import set_address
from review.access.services.passwords import choose_password, reset_password
from review.access.services.people import create_person_with_account, disable_person
from review.access.services.resets import ask_for_reset, send_resets
from review.audit.models import Entry
from tests.db.access.house import OPERATOR, House

PASSWORD, NEW = "correct horse battery staple", "another long password"
PAGE = "/accounts/forgotten/"


@pytest.fixture(autouse=True)
def nina(db: None, settings: Any) -> Iterator[User]:
    settings.HUQAN_MAIL_URL = "memory:"
    settings.HUQAN_BASE_URL = "https://console.example"
    cache.clear()
    invited = create_person_with_account("nina", "nina", by=OPERATOR, email="nina@example.org")
    yield choose_password(invited.secret, PASSWORD)
    cache.clear()


def link_in(letter: mail.EmailMessage) -> str:
    found = re.search(r"https://console\.example(/set-up/\S+)", str(letter.body))
    assert found
    return found[1]


def test_the_mail_goes_to_the_stored_address_with_a_link_of_our_own_host(client: Client) -> None:
    client.post(PAGE, {"username": "NINA", "email": "evil@example.com"}, headers={"host": "localhost"})
    assert not mail.outbox
    assert send_resets() == 1
    [letter] = mail.outbox
    assert letter.to == ["nina@example.org"]
    assert "localhost" not in str(letter.body)
    assert Client().get(link_in(letter)).status_code == 200


def shown(answer: Any) -> str:
    """The page without the token of its form at the foot, which is another one each time."""
    return re.sub(r'(csrfmiddlewaretoken" value=")[^"]+', r"\1", answer.content.decode())


def test_the_answer_is_the_same_for_every_name(client: Client) -> None:
    create_person_with_account("oscar", "oscar", by=OPERATOR)
    gone = create_person_with_account("peter", "peter", by=OPERATOR, email="peter@example.org").user
    disable_person(gone.person_id, by=OPERATOR)
    names = ["nina", "oscar", "peter", "nobody", "nina@example.org"]
    answers = {shown(client.post(PAGE, {"username": name})) for name in names}
    assert len(answers) == 1
    assert ResetRequest.objects.count() == len(names)
    assert send_resets() == 1
    assert [letter.to for letter in mail.outbox] == [["nina@example.org"]]
    assert not ResetRequest.objects.exists()


def test_asking_changes_nothing_and_ends_no_session_and_no_other_link(client: Client) -> None:
    client.post("/accounts/login/", {"login": "nina", "password": PASSWORD})
    ask_for_reset("nina")
    send_resets()
    assert client.get("/account/").status_code == 200
    invited = create_person_with_account("oscar", "oscar", by=OPERATOR, email="o@example.org")
    ask_for_reset("oscar")
    send_resets()
    assert choose_password(invited.secret, NEW)


def test_opening_the_link_uses_nothing_up_and_the_new_password_ends_every_session(client: Client) -> None:
    elsewhere = Client()
    elsewhere.post("/accounts/login/", {"login": "nina", "password": PASSWORD})
    ask_for_reset("nina")
    send_resets()
    link = link_in(mail.outbox[0])
    for scanner in (client.get, client.head, client.get):
        assert scanner(link).status_code == 200
    assert elsewhere.get("/account/").status_code == 200
    assert client.post(link, {"password": NEW, "again": NEW}).status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    assert client.post(link, {"password": NEW, "again": NEW}).status_code == 410
    entry = Entry.objects.order_by("-seq").first()
    assert entry is not None
    assert entry.action == "password.reset"
    assert '"methods":["mailed_link"]' in entry.canonical


def test_a_mailed_link_lasts_an_hour_and_a_newer_one_ends_it() -> None:
    with time_machine.travel("2026-12-01T10:00:00Z", tick=False) as clock:
        for _ in range(2):
            ask_for_reset("nina")
            send_resets()
        older, newer = (link_in(letter) for letter in mail.outbox)
        assert Client().get(older).status_code == 410
        clock.shift(timedelta(minutes=59))
        assert Client().get(newer).status_code == 200
        clock.shift(timedelta(minutes=1))
        assert Client().get(newer).status_code == 410


def test_who_chose_his_password_by_mail_is_vouched_for_by_nobody() -> None:
    dana = create_person_with_account("dana", "dana", by=OPERATOR).user
    User.objects.filter(username="nina").update(vouched_by=dana.person)
    ask_for_reset("nina")
    send_resets()
    secret = link_in(mail.outbox[0]).split("/")[2]
    choose_password(secret, NEW)
    assert User.objects.get(username="nina").vouched_by is None


def forget(username: str) -> User:
    """Choose a password by a mail to the address of `username`."""
    ask_for_reset(username)
    send_resets()
    return choose_password(link_in(mail.outbox[-1]).split("/")[2], NEW)


def fresh(username: str) -> PersonActor:
    """Return whoever is signed in as `username`, and proved it a moment ago."""
    user = User.objects.select_related("person").get(username=username)
    return PersonActor(person=user.person, user=user, session="s", auth_time=timezone.now())


def test_a_mail_to_an_address_that_somebody_else_named_proves_no_more_than_he_does(house: House) -> None:
    """Dana invites a person whose mail may be her own; the operator's word for an address is enough."""
    make = create_person_with_account
    make("paul", "paul", by=house.dana, workspace=house.acme.id, email="p@example.org")
    make("olga", "olga", by=OPERATOR, email="o@example.org")
    forget("paul")
    forget("olga")
    assert User.objects.get(username="paul").vouched_by == house.dana.person
    assert User.objects.get(username="olga").vouched_by is None


def test_an_address_set_by_whoever_made_the_link_does_not_wash_his_hands_of_it(house: House) -> None:
    """Dana resets alice's password, signs in as alice, and has the mail come to herself."""
    choose_password(reset_password("alice", by=house.dana).secret, PASSWORD)
    set_address("hers@example.org", by=fresh("alice"))
    forget("alice")
    assert User.objects.get(username="alice").vouched_by == house.dana.person

    choose_password(reset_password("alice", by=OPERATOR).secret, PASSWORD)
    set_address("hers@example.org", by=fresh("alice"))  # she says so again, and nobody else could have
    forget("alice")
    assert User.objects.get(username="alice").vouched_by is None


def test_no_link_lies_in_a_table_while_the_mail_waits() -> None:
    before = SetUpLink.objects.count()
    ask_for_reset("nina")
    assert SetUpLink.objects.count() == before


def test_a_mail_that_fails_fails_no_request_and_is_tried_again_a_few_times(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ConnectionRefusedError("nina@example.org refused")

    monkeypatch.setattr(EmailBackend, "send_messages", fails)
    assert client.post(PAGE, {"username": "nina"}).status_code == 200
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for attempt in range(resets.ATTEMPTS):
            assert ResetRequest.objects.exists(), attempt
            assert send_resets() == 0
            assert send_resets() == 0  # not before it is due again
            clock.shift(timedelta(hours=1))
    assert not ResetRequest.objects.exists()
    assert "could not be sent" in caplog.text
    assert "nina" not in caplog.text
    assert "set-up" not in caplog.text


def test_one_name_is_mailed_5_times_an_hour_and_the_answer_stays_the_same(client: Client) -> None:
    answers = {shown(client.post(PAGE, {"username": "nina"})) for _ in range(7)}
    assert len(answers) == 1
    assert ResetRequest.objects.count() == 5


def test_without_a_mail_server_the_page_says_who_else_can_help(client: Client, settings: Any) -> None:
    settings.HUQAN_MAIL_URL = ""
    for answer in (client.get(PAGE), client.post(PAGE, {"username": "nina"})):
        assert "A manager of your workspace can make you a link" in answer.content.decode()
    assert not ResetRequest.objects.exists()
    assert send_resets() == 0
    assert not mail.outbox


def test_the_sign_in_page_leads_there(client: Client) -> None:
    assert f'href="{PAGE}"' in client.get("/accounts/login/").content.decode()


def test_a_person_sets_his_address_with_his_password(client: Client) -> None:
    client.post("/accounts/login/", {"login": "nina", "password": PASSWORD})
    stale = timezone.now() + timedelta(minutes=6)
    with time_machine.travel(stale):
        sent = {"address": "new@example.org"}
        assert client.post("/account/address/", sent).status_code == 422
        assert client.post("/account/address/", {**sent, "password": "guessed"}).status_code == 403
        assert User.objects.get(username="nina").email == "nina@example.org"
        assert client.post("/account/address/", {**sent, "password": PASSWORD}).status_code == 302
    assert User.objects.get(username="nina").email == "new@example.org"
    entry = Entry.objects.order_by("-seq").first()
    assert entry is not None
    assert entry.action == "factor.enrolled"
    assert "new@example.org" not in entry.canonical


def test_the_mail_is_in_the_language_of_the_account() -> None:
    for language in ("tr", ""):
        User.objects.filter(username="nina").update(language=language)
        ask_for_reset("nina")
        send_resets()
    assert [letter.subject for letter in mail.outbox] == ["Başka bir parola seçin", "Choose another password"]
