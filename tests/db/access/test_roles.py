"""Roles come from managers and from nobody else, least of all from oneself."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from review.access import queries
from review.access.actors import PersonActor
from review.access.models import Membership
from review.access.refusals import (
    AlreadyGranted,
    BadName,
    Disabled,
    NameTaken,
    NotFound,
    NotManager,
    OwnRole,
)
from review.access.roles import Role
from review.access.services.memberships import grant_membership, revoke_membership
from review.access.services.people import create_person_with_account, disable_person, link_account
from review.audit.models import Entry
from tests.db.access.house import OPERATOR, House, person


def roles(house: House, who: PersonActor) -> set[str]:
    return {membership.role for membership in queries.memberships_of(who.person.id, timezone.now())}


def entries(action: str) -> list[Entry]:
    return list(Entry.objects.filter(action=action).order_by("seq"))


def test_a_manager_grants_a_role_and_the_log_has_it(house: House) -> None:
    nina = person("nina")
    membership = grant_membership(
        nina.person.id, house.acme.id, Role.REVIEWER, by=house.dana, groups=["security"]
    )
    assert roles(house, nina) == {"reviewer"}
    assert membership.granted_by == house.dana.person
    last = entries("membership.granted")[-1]
    found = [str(part) for part in (last.person, last.workspace, last.object_id)]
    assert found == [str(house.dana.person.id), str(house.acme.id), str(nina.person.id)]


def test_a_reviewer_grants_nothing(house: House) -> None:
    nina = person("nina")
    with pytest.raises(NotManager):
        grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.alice)
    assert roles(house, nina) == set()


def test_a_manager_of_another_workspace_finds_nothing_here(house: House) -> None:
    nina = person("nina")
    with pytest.raises(NotFound):
        grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=house.mallory)
    assert grant_membership(nina.person.id, house.globex.id, Role.REVIEWER, by=house.mallory)


def test_nobody_grants_himself_a_role_not_even_through_a_second_account(house: House) -> None:
    other = link_account(house.dana.person.id, "dana2", by=OPERATOR).user
    second = PersonActor(person=other.person, user=other, session="s")
    for by in (house.dana, second):
        with pytest.raises(OwnRole):
            grant_membership(house.dana.person.id, house.acme.id, Role.REVIEWER, by=by)
    assert roles(house, house.dana) == {"manager"}


def test_the_database_too_lets_nobody_grant_himself_a_role(house: House) -> None:
    dana = house.dana.person
    granted = {"workspace": house.acme, "role": Role.REVIEWER, "since": timezone.now()}
    with pytest.raises(IntegrityError, match="nobody_grants_himself_a_role"), transaction.atomic():
        Membership.objects.create(person=dana, granted_by=dana, **granted)
    assert Membership.objects.create(person=dana, granted_by=house.alice.person, **granted)


def test_a_superuser_is_nobody_here(house: House) -> None:
    user = create_person_with_account("root", "root", by=OPERATOR, is_superuser=True).user
    root, nina = PersonActor(person=user.person, user=user, session="s"), person("nina")
    with pytest.raises(NotFound):
        grant_membership(nina.person.id, house.acme.id, Role.REVIEWER, by=root)


def test_a_role_that_ended_counts_no_more_and_can_be_granted_anew(house: House) -> None:
    membership = Membership.objects.get(person=house.alice.person)
    with pytest.raises(AlreadyGranted):
        grant_membership(house.alice.person.id, house.acme.id, Role.REVIEWER, by=house.dana)
    revoke_membership(membership.id, by=house.dana)
    assert roles(house, house.alice) == set()
    again = grant_membership(house.alice.person.id, house.acme.id, Role.REVIEWER, by=house.dana)
    assert again.since > membership.since
    assert len(entries("membership.revoked")) == 1


def test_a_role_can_be_ended_once(house: House) -> None:
    membership = Membership.objects.get(person=house.alice.person)
    revoke_membership(membership.id, by=house.dana)
    with pytest.raises(NotFound):
        revoke_membership(membership.id, by=house.dana)


def test_a_role_holds_from_its_beginning_until_just_before_its_end(house: House) -> None:
    membership = Membership.objects.get(person=house.alice.person)
    end = membership.since + timedelta(days=1)
    Membership.objects.filter(id=membership.id).update(until=end)
    alice, acme = house.alice.person.id, house.acme.id
    moments = [membership.since - timedelta(seconds=1), membership.since, end - timedelta(seconds=1), end]
    assert [queries.has_role(alice, acme, Role.REVIEWER, at) for at in moments] == [False, True, True, False]


def test_a_disabled_person_has_no_roles_and_gets_none(house: House) -> None:
    assert roles(house, house.alice) == {"reviewer"}
    disable_person(house.alice.person.id, by=house.dana)
    assert roles(house, house.alice) == set()
    house.alice.user.refresh_from_db()
    assert not house.alice.user.is_active
    with pytest.raises(Disabled):
        grant_membership(house.alice.person.id, house.acme.id, Role.MANAGER, by=house.dana)


def test_a_manager_disables_only_whom_he_manages_everywhere(house: House) -> None:
    grant_membership(house.alice.person.id, house.globex.id, Role.REVIEWER, by=house.mallory)
    for by in (house.dana, house.mallory, house.bob):
        with pytest.raises((NotFound, NotManager)):
            disable_person(house.alice.person.id, by=by)
    assert disable_person(house.bob.person.id, by=house.dana).disabled_at


def test_an_account_name_is_one_whatever_the_letter_case(house: House) -> None:
    with pytest.raises(NameTaken):
        create_person_with_account("Another", "ALICE", by=OPERATOR)
    assert create_person_with_account("Another", "alice2", by=OPERATOR)


@pytest.mark.parametrize("name", ["", "al ice", "аlice", "alice\u202e", "-alice", "a" * 151])
def test_an_account_name_that_could_pass_for_another_is_refused(house: House, name: str) -> None:
    with pytest.raises(BadName):
        create_person_with_account("Somebody", name, by=OPERATOR)


def test_a_manager_invites_into_his_workspace_only(house: House) -> None:
    invited = create_person_with_account(
        "Nina", "nina", by=house.dana, workspace=house.acme.id, roles=[Role.REVIEWER]
    )
    assert queries.is_member(invited.user.person_id, house.acme.id, timezone.now())
    with pytest.raises(NotFound):
        create_person_with_account("Oscar", "oscar", by=house.dana, workspace=house.globex.id)
    with pytest.raises(NotManager):
        create_person_with_account("Oscar", "oscar", by=house.dana)
    assert queries.account("oscar") is None


def test_a_persons_name_is_kept_outside_the_chain(house: House) -> None:
    create_person_with_account("Ninotchka Ivanoff", "nina", by=OPERATOR)
    assert "Ninotchka" not in entries("person.created")[-1].canonical


def test_two_accounts_of_one_person_are_one_member(house: House) -> None:
    link_account(house.alice.person.id, "alice.second", by=house.dana)
    found = queries.members(house.acme.id, timezone.now())
    alice = next(member for member in found if member.person == house.alice.person)
    assert alice.accounts == ["alice", "alice.second"]
    assert [member.person.name for member in found] == ["alice", "bob", "dana", "erin"]


def test_listing_members_asks_as_often_for_many_as_for_few(
    house: House, django_assert_num_queries: object
) -> None:
    for number in range(5):
        grant_membership(person(f"p{number}").person.id, house.acme.id, Role.REVIEWER, by=house.dana)
    with django_assert_num_queries(2):  # type: ignore[operator]
        assert len(queries.members(house.acme.id, timezone.now())) == 9


def test_somebody_who_does_not_exist_is_not_found(house: House) -> None:
    with pytest.raises(NotFound):
        grant_membership(uuid4(), house.acme.id, Role.REVIEWER, by=house.dana)
    with pytest.raises(NotFound):
        disable_person(uuid4(), by=OPERATOR)
