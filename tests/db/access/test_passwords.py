"""A password is chosen by its person alone, through a link that works once."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone

from review.access import queries
from review.access.actors import PersonActor, SystemActor
from review.access.models import SetUpLink
from review.access.refusals import LinkSpent, NameTaken, NotFound, NotManager, WeakPassword, WrongPassword
from review.access.services import links
from review.access.services.passwords import change_password, choose_password, reset_password
from review.access.services.people import create_person_with_account, disable_person
from review.access.services.workspaces import create_workspace
from review.audit.models import Entry
from tests.db.access.house import OPERATOR, House

GOOD = "correct horse battery staple"


def invited(name: str = "nina") -> tuple[PersonActor, str]:
    user, secret = create_person_with_account(name, name, by=SystemActor())
    return PersonActor(person=user.person, user=user, session="s"), secret


def actions() -> list[str]:
    return list(Entry.objects.order_by("seq").values_list("action", flat=True))


@pytest.mark.django_db
def test_a_new_account_opens_nothing_until_its_person_has_chosen_a_password() -> None:
    nina, secret = invited()
    assert not nina.user.has_usable_password()
    user = choose_password(secret, GOOD)
    assert user.check_password(GOOD)
    assert user.password.startswith("argon2$argon2id$")
    assert actions()[-1] == "password.changed"


@pytest.mark.django_db
def test_a_link_works_once_and_only_its_digest_is_kept() -> None:
    _, secret = invited()
    assert secret not in str(SetUpLink.objects.values().get())
    choose_password(secret, GOOD)
    with pytest.raises(LinkSpent):
        choose_password(secret, "another long password")
    user = queries.account("nina")
    assert user is not None
    assert user.check_password(GOOD)


@pytest.mark.django_db
def test_a_weak_password_leaves_the_link_good() -> None:
    _, secret = invited()
    for weak in ("short", "eleven-char", "qwerty123456"):
        with pytest.raises(WeakPassword):
            choose_password(secret, weak)
    assert choose_password(secret, GOOD)


@pytest.mark.django_db
def test_a_link_ends_after_72_hours() -> None:
    with time_machine.travel("2026-12-01T10:00:00Z", tick=False) as clock:
        _, secret = invited()
        clock.shift(timedelta(hours=72) - timedelta(seconds=1))
        assert links.owner_of(secret, timezone.now())
        clock.shift(timedelta(seconds=1))
        with pytest.raises(LinkSpent):
            choose_password(secret, GOOD)


@pytest.mark.django_db
def test_a_newer_link_ends_the_older_one() -> None:
    _, secret = invited()
    newer = reset_password("nina", by=OPERATOR).secret
    with pytest.raises(LinkSpent):
        choose_password(secret, GOOD)
    assert choose_password(newer, GOOD)


@pytest.mark.django_db
def test_a_disabled_person_cannot_use_a_link() -> None:
    nina, secret = invited()
    disable_person(nina.person.id, by=OPERATOR)
    with pytest.raises(LinkSpent):
        choose_password(secret, GOOD)
    with pytest.raises(NotFound):
        reset_password("nina", by=OPERATOR)


@pytest.mark.django_db
def test_changing_a_password_needs_the_current_one() -> None:
    nina, secret = invited()
    user = choose_password(secret, GOOD)
    nina = PersonActor(person=nina.person, user=user, session="s")
    with pytest.raises(WrongPassword):
        change_password("guessed", "another long password", by=nina)
    assert change_password(GOOD, "another long password", by=nina).check_password("another long password")
    assert actions()[-1] == "password.changed"


def test_a_manager_resets_only_whom_he_manages_everywhere(house: House) -> None:
    assert reset_password("alice", by=house.dana).secret
    assert actions()[-1] == "password.reset"
    for by in (house.bob, house.mallory):
        with pytest.raises((NotManager, NotFound)):
            reset_password("alice", by=by)
    with pytest.raises(NotFound):
        reset_password("root", by=house.dana)


@pytest.mark.django_db
def test_a_workspace_is_opened_with_a_manager_who_chooses_his_own_password() -> None:
    opened = create_workspace("initech", "peter", by=OPERATOR)
    assert queries.is_manager(opened.manager.person_id, opened.workspace.id, timezone.now())
    assert opened.secret is not None
    assert choose_password(opened.secret, GOOD)
    second = create_workspace("initrode", "peter", by=OPERATOR)
    assert (second.manager, second.secret) == (opened.manager, None)
    with pytest.raises(NameTaken):
        create_workspace("INITECH", "peter", by=OPERATOR)


@pytest.mark.django_db
def test_the_operator_opens_a_workspace_by_command() -> None:
    printed = StringIO()
    call_command("create_workspace", "initech", "--manager", "peter", stdout=printed)
    secret = printed.getvalue().strip().split("/")[-2]
    assert choose_password(secret, GOOD).username == "peter"
    with pytest.raises(CommandError, match="name is in use"):
        call_command("create_workspace", "initech", "--manager", "peter", stdout=printed)


@pytest.mark.django_db
def test_the_operator_resets_a_password_by_command() -> None:
    _, secret = invited()
    choose_password(secret, GOOD)
    printed = StringIO()
    call_command("reset_password", "nina", stdout=printed)
    user = queries.account("nina")
    assert user is not None
    assert not user.check_password(GOOD)
    assert choose_password(printed.getvalue().strip().split("/")[-2], "another long password")
    with pytest.raises(CommandError):
        call_command("reset_password", "nobody", stdout=printed)
