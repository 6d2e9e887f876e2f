"""Setting up people: the list, one person's page, and who is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from review.access import queries
from review.access.actors import PersonActor
from review.access.models import Membership, User
from review.access.refusals import AlreadyGranted, BadGroup, EndsTooSoon
from review.access.roles import Role
from review.access.services.memberships import grant_membership, revoke_membership
from review.access.services.passwords import choose_password
from review.access.services.people import disable_person
from review.access.staffing import gaps
from tests.db.access.house import OPERATOR, House, person
from tests.support.factories import set_policy

PASSWORD = "correct horse battery staple"
Browsers = Callable[[PersonActor], Client]


@pytest.fixture
def dana_alone(house: House) -> None:
    """Dana is acme's only manager."""
    Membership.objects.filter(person=house.erin.person).delete()


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


def page_of(who: PersonActor) -> str:
    return f"/people/{who.person.id}/"


def missing(house: House) -> list[str]:
    return [gap.title for gap in gaps(house.acme)]


# Roles that end.


def test_a_role_ends_by_itself_at_its_time_and_not_before(house: House) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=1), tick=False) as clock:
        nina, end = person("nina"), timezone.now() + timedelta(days=1)
        grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.dana, until=end)
        with pytest.raises(AlreadyGranted):
            grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.dana)
        clock.move_to(end - timedelta(seconds=1))
        assert queries.is_member(nina.person.id, house.acme.id, timezone.now())
        clock.move_to(end)
        assert not queries.is_member(nina.person.id, house.acme.id, timezone.now())
        assert grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.dana)


def test_a_role_that_will_end_can_be_ended_sooner(house: House) -> None:
    end = timezone.now() + timedelta(days=1)
    nina = person("nina")
    held = grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.dana, until=end)
    revoke_membership(held.id, by=house.dana)
    assert not queries.is_member(nina.person.id, house.acme.id, timezone.now())


@pytest.mark.parametrize("too_soon", [timedelta(0), timedelta(seconds=1), timedelta(days=400)])
def test_a_role_does_not_end_before_it_begins(house: House, too_soon: timedelta) -> None:
    nina = person("nina")
    until = timezone.now() - too_soon
    with time_machine.travel(until + too_soon, tick=False), pytest.raises(EndsTooSoon):
        grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.dana, until=until)


@pytest.mark.parametrize("groups", [["a,b"], [""], ["x" * 65], ["a\u202eb"], [f"g{n}" for n in range(21)]])
def test_a_group_has_a_name_that_a_policy_can_have(house: House, groups: list[str]) -> None:
    nina = person("nina")
    with pytest.raises(BadGroup):
        grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.dana, groups=groups)
    assert grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.dana, groups=["güvenlik"])


# The pages.


def test_a_person_is_invited_with_roles_groups_and_an_end(house: House, browser_of: Browsers) -> None:
    end = (timezone.now() + timedelta(days=30)).strftime("%Y-%m-%dT%H:%M")
    sent = {"workspace": str(house.acme.id), "name": "Nina", "username": "nina", "until": end}
    more = {"roles": ["reviewer", "manager"], "groups": "security, legal,"}
    assert browser_of(house.dana).post("/people/invite/", {**sent, **more}).status_code == 200
    held = Membership.objects.filter(person__accounts__username="nina").order_by("role")
    assert [(one.role, one.groups) for one in held] == [
        ("manager", ["legal", "security"]),
        ("reviewer", ["legal", "security"]),
    ]
    assert {one.until.strftime("%Y-%m-%dT%H:%M") for one in held if one.until} == {end}
    page = browser_of(house.dana).get("/people/").content.decode()
    assert "legal, security" in page


def test_an_invitation_without_a_role_makes_nobody(house: House, browser_of: Browsers) -> None:
    sent = {"workspace": str(house.acme.id), "name": "Nina", "username": "nina"}
    assert browser_of(house.dana).post("/people/invite/", sent).status_code == 422
    assert queries.account("nina") is None


def test_an_invitation_is_mailed_too_where_there_is_an_address(
    house: House, browser_of: Browsers, settings: Any
) -> None:
    settings.HUQAN_MAIL_URL = "memory:"
    sent = {"workspace": str(house.acme.id), "name": "Nina", "username": "nina", "roles": ["reviewer"]}
    page = (
        browser_of(house.dana).post("/people/invite/", {**sent, "email": "nina@example.org"}).content.decode()
    )
    [letter] = mail.outbox
    found = re.search(r"/set-up/[\w-]+/", str(letter.body))
    assert found
    assert found[0] in page
    assert "It was mailed to nina@example.org" in page


def test_the_list_says_when_each_last_signed_in(house: House, browser_of: Browsers) -> None:
    User.objects.filter(username="alice").update(last_login="2026-03-04T05:06:07Z")
    page = browser_of(house.dana).get("/people/").content.decode()
    assert 'datetime="2026-03-04T05:06:07Z"' in page
    assert "never" in page


def test_a_manager_opens_the_page_of_his_people_and_of_nobody_else(
    house: House, browser_of: Browsers
) -> None:
    dana = browser_of(house.dana)
    assert dana.get(page_of(house.alice)).status_code == 200
    assert dana.get(page_of(house.mallory)).status_code == 404
    assert browser_of(house.mallory).get(page_of(house.alice)).status_code == 404
    assert browser_of(house.alice).get(page_of(house.alice)).status_code == 403


def test_the_page_of_somebody_who_has_left_stays_open_to_his_managers(
    house: House, browser_of: Browsers
) -> None:
    disable_person(house.alice.person.id, by=OPERATOR)
    answer = browser_of(house.dana).get(page_of(house.alice))
    assert "Disabled" in answer.content.decode()
    assert "Reset the password" not in answer.content.decode()


def test_a_reset_link_is_shown_once_ends_the_sessions_and_vouches(house: House, browser_of: Browsers) -> None:
    alice, dana = browser_of(house.alice), browser_of(house.dana)
    answer = dana.post(f"{page_of(house.alice)}accounts/alice/reset/").content.decode()
    found = re.search(r"/set-up/([\w-]+)/", answer)
    assert found
    assert found[0] not in dana.get(page_of(house.alice)).content.decode()
    assert alice.get("/account/").status_code == 302
    choose_password(found[1], PASSWORD)
    assert User.objects.get(username="alice").vouched_by == house.dana.person
    assert dana.post(f"{page_of(house.alice)}accounts/dana/reset/").status_code == 404
    assert dana.post(f"{page_of(house.mallory)}accounts/mallory/reset/").status_code == 404


def test_two_accounts_are_linked_on_the_page(house: House, browser_of: Browsers) -> None:
    nina, dana = person("nina"), browser_of(house.dana)
    grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.dana)
    sent = {"username": "nina"}
    assert dana.post(f"{page_of(house.alice)}link/", sent).status_code == 302
    assert "nina" in dana.get(page_of(house.alice)).content.decode()
    assert User.objects.get(username="nina").person == house.alice.person
    for name, status in (("nobody", 422), ("mallory", 404), ("dana", 403), ("nina", 409)):
        assert dana.post(f"{page_of(house.alice)}link/", {"username": name}).status_code == status, name


def test_another_account_is_made_and_its_link_shown_once(house: House, browser_of: Browsers) -> None:
    dana = browser_of(house.dana)
    answer = dana.post(f"{page_of(house.alice)}accounts/", {"username": "alice.field"})
    assert "/set-up/" in answer.content.decode()
    assert User.objects.get(username="alice.field").person == house.alice.person
    assert dana.post(f"{page_of(house.alice)}accounts/", {"username": "ALICE"}).status_code == 409


@pytest.mark.usefixtures("dana_alone")
def test_a_person_is_disabled_on_the_page_and_the_last_manager_is_not(
    house: House, browser_of: Browsers
) -> None:
    dana = browser_of(house.dana)
    assert dana.post(f"{page_of(house.alice)}disable/").status_code == 302
    assert not queries.is_member(house.alice.person.id, house.acme.id, timezone.now())
    answer = dana.post(f"{page_of(house.dana)}disable/")
    assert answer.status_code == 409
    assert 'data-problem="last_manager"' in answer.content.decode()
    assert dana.get("/people/").status_code == 200


# Who is missing.


@pytest.mark.usefixtures("dana_alone")
def test_the_page_says_who_is_missing(house: House, browser_of: Browsers) -> None:
    assert missing(house) == ["There is 1 manager."]
    disable_person(house.bob.person.id, by=OPERATOR)
    assert "Only 1 person can decide." in missing(house)
    page = browser_of(house.dana).get("/people/").content.decode()
    assert "Only 1 person can decide." in page
    disable_person(house.alice.person.id, by=OPERATOR)
    assert "Nobody can decide." in missing(house)


@pytest.mark.usefixtures("dana_alone")
def test_a_second_manager_fills_the_gap_until_he_alone_is_left_with_an_end(house: House) -> None:
    nina, soon = person("nina"), timezone.now() + timedelta(days=1)
    grant_membership(nina.person.id, house.acme.id, Role.MANAGER, by=house.dana, until=soon)
    assert missing(house) == []
    revoke_membership(
        Membership.objects.get(person=house.dana.person, workspace=house.acme).id, by=house.dana
    )
    assert "Every manager's role ends by itself." in missing(house)


@pytest.mark.usefixtures("dana_alone")
def test_a_group_that_the_policy_names_and_too_few_are_in_is_said(house: House) -> None:
    rule = {"tool": "mail.send", "groups": [{"name": "security", "approvals": 1}]}
    set_policy(house.acme, {"rules": [rule]})
    assert "The group security has 0 of 1 people." in missing(house)
    nina = person("nina")
    grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=OPERATOR, groups=["security"])
    assert missing(house) == ["There is 1 manager."]


@pytest.mark.usefixtures("dana_alone")
def test_an_agent_that_nobody_independent_could_decide_for_is_said(house: House) -> None:
    """Dana mints scout's token and granted alice her role: alice counts for nothing that scout proposes."""
    house.mint()
    assert missing(house) == ["There is 1 manager."]
    Membership.objects.filter(person=house.alice.person).update(granted_by=house.dana.person)
    assert "Nobody can approve what scout proposes." in missing(house)


def test_the_list_asks_as_often_for_many_as_for_few(
    house: House, browser_of: Browsers, django_assert_num_queries: Any
) -> None:
    dana = browser_of(house.dana)
    with CaptureQueriesContext(connection) as few:
        dana.get("/people/")
    for number in range(5):
        grant_membership(person(f"p{number}").person.id, house.acme.id, Role.REVIEWER, by=OPERATOR)
    with django_assert_num_queries(len(few)):
        assert dana.get("/people/").status_code == 200
