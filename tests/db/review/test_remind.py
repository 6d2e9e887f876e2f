"""One plain mail: how much needs this person, to him alone, and no more often than he chose."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone

from review.access.actors import PersonActor
from review.access.models import Person, User
from review.access.roles import Reminders
from review.access.services.factors import choose_reminders
from review.access.services.people import disable_person
from review.services.remind import send_reminders
from tests.support.factories import Team, team
from tests.support.review_acts import MAIL, call, vote


@pytest.fixture
def cast(db: None, settings: Any) -> Team:
    settings.HUQAN_MAIL_URL = "memory:"
    settings.HUQAN_BASE_URL = "https://console.example"
    cast = team()
    for name in ("alice", "bob", "carol", "dana", "mallory"):
        User.objects.filter(username=name).update(email=f"{name}@example.org")
    return cast


@pytest.fixture(autouse=True)
def clock() -> Iterator[Any]:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        yield clock


def told() -> list[str]:
    """Send what is due, and return who got a mail."""
    mail.outbox.clear()
    send_reminders()
    return sorted(letter.to[0].partition("@")[0] for letter in mail.outbox)


def wants(who: PersonActor, often: Reminders) -> None:
    choose_reminders(often, by=who)


def test_who_can_decide_is_told_and_nobody_else(cast: Team) -> None:
    """Bob owns the agent, dana only manages, mallory is of another workspace, and mail of others waits too."""
    call(cast.scout)
    assert told() == ["alice", "carol"]


def test_the_mail_says_how_many_and_where_and_nothing_else(cast: Team) -> None:
    call(cast.scout, "mail.send", MAIL, rationale="The customer asked.")
    told()
    letter = mail.outbox[0]
    assert letter.subject == "1 needs you"
    assert str(letter.body).splitlines()[:3] == ["1 needs you.", "", "https://console.example/"]
    for word in ("mail.send", "scout", "kuzey", "Contract", "customer", "acme"):
        assert word not in f"{letter.subject} {letter.body}"
    call(cast.scout)
    Person.objects.update(reminded_at=None)
    told()
    assert mail.outbox[0].subject == "2 need you"


def test_what_he_approved_already_or_what_was_decided_needs_him_no_more(cast: Team) -> None:
    refund, sent = call(cast.scout), call(cast.scout, "mail.send", MAIL)
    vote(cast.alice, sent)
    assert told() == ["alice", "carol"]
    assert {letter.to[0]: letter.subject for letter in mail.outbox} == {
        "alice@example.org": "1 needs you",
        "carol@example.org": "2 need you",
    }
    vote(cast.carol, refund)
    Person.objects.update(reminded_at=None)
    assert told() == ["carol"]


def test_daily_is_at_most_once_a_day(cast: Team, clock: Any) -> None:
    call(cast.scout)
    assert told() == ["alice", "carol"]
    call(cast.scout, arguments={"order": "2"})
    clock.shift(timedelta(hours=24) - timedelta(seconds=1))
    assert told() == []
    clock.shift(timedelta(seconds=1))
    assert told() == ["alice", "carol"]


def test_soon_is_at_most_every_quarter_of_an_hour_and_only_of_something_new(cast: Team, clock: Any) -> None:
    wants(cast.alice, Reminders.SOON)
    wants(cast.carol, Reminders.OFF)
    call(cast.scout)
    assert told() == ["alice"]
    clock.shift(timedelta(minutes=5))
    call(cast.scout, arguments={"order": "2"})
    clock.shift(timedelta(minutes=9))
    assert told() == []
    clock.shift(timedelta(minutes=1))
    assert told() == ["alice"]
    clock.shift(timedelta(hours=3))
    assert told() == []


def test_nobody_is_mailed_who_is_gone_or_has_no_address_or_wants_none(cast: Team) -> None:
    call(cast.scout)
    wants(cast.alice, Reminders.OFF)
    assert told() == ["carol"]
    Person.objects.update(reminded_at=None)
    User.objects.filter(username="carol").update(email="")
    assert told() == []
    wants(cast.alice, Reminders.DAILY)
    disable_person(cast.alice.person.id, by=cast.dana)
    assert told() == []


def test_a_mail_server_that_fails_stops_no_other_step_and_is_not_flooded(
    cast: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def fails(_server: EmailBackend, letters: list[mail.EmailMessage]) -> int:
        tried.extend(letters[0].to)
        raise OSError("refused")

    monkeypatch.setattr(EmailBackend, "send_messages", fails)
    call(cast.scout)
    assert (send_reminders(), send_reminders()) == (0, 0)
    assert sorted(tried) == ["alice@example.org", "carol@example.org"]


def test_without_a_mail_server_nothing_is_sent_and_nobody_counts_as_reminded(
    cast: Team, settings: Any
) -> None:
    settings.HUQAN_MAIL_URL = ""
    call(cast.scout)
    assert told() == []
    assert not Person.objects.filter(reminded_at__isnull=False).exists()
