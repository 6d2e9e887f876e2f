"""People and their accounts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.utils import timezone

from review.access import queries
from review.access.actors import Actor, PersonActor
from review.access.models import Delegation, Ownership, Person, User
from review.access.refusals import AlreadyOne, NameTaken, NotFound, OwnAccount
from review.access.roles import Role
from review.access.services import rules
from review.access.services.agents import hold_agents_of
from review.access.services.links import new_link
from review.access.services.memberships import FOR_GOOD, Terms, add_membership, end_all, record_ended
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write


class Invited(NamedTuple):
    """A new account and the secret of the one-time link with which its person chooses a password."""

    user: User
    secret: str


def create_person_with_account(
    name: str,
    username: str,
    *,
    by: Actor,
    workspace: UUID | None = None,
    roles: Iterable[Role] = (),
    terms: Terms = FOR_GOOD,
    email: str = "",
    is_superuser: bool = False,
) -> Invited:
    """Make a person with one account, and with `roles` in `workspace` if one is given.

    The operator may, and a manager for his workspace. A superuser may do no more than anybody: what
    someone may do comes from memberships alone.

    Raises: BadName, NameTaken, NotFound, NotManager, BadGroup, EndsTooSoon.
    """
    with write():
        now = log.take_turn()
        _require_inviter(by, workspace, now)
        person, user = add_person(name, username, now, email=email, is_superuser=is_superuser)
        User.objects.filter(id=user.id).update(address_vouched_by=rules.person_behind(by))
        record_person(person, user, by=by, workspace=workspace)
        if workspace is not None:
            for role in roles:
                add_membership(person, workspace, role, now, by=by, terms=terms)
        return Invited(user, new_link(user, now, by=by))


def link_account(person_id: UUID, username: str, *, by: Actor) -> Invited:
    """Give a person another account. Both are one person to every rule.

    Raises: BadName, NameTaken, Disabled, NotFound, NotManager.
    """
    with write():
        person = _person(person_id)
        now = log.take_turn()
        rules.require_manager_of_all(by, person, now)
        rules.require_active(person)
        user = _add_account(person, username, now)
        _record_linked(person, [user], by)
        return Invited(user, new_link(user, now, by=by))


def link_people(person_id: UUID, double_id: UUID, *, by: Actor) -> Person:
    """Make two people one, who turned out to be: from now on `double_id` counts as `person_id`, everywhere.

    His accounts become accounts of `person_id`; what he decided, wrote, owned and minted stays as it was
    written and counts as that of one person, also in what is open: two votes of the two are one. His roles
    end, so that nobody gains any by being linked. Also somebody who was disabled can be linked, so that an
    account made anew stays who it was.

    Raises: OwnAccount, AlreadyOne, Disabled (`person_id`), NotFound, NotManager, LastManager.
    """
    now = timezone.now()
    with write():
        if person_id == double_id:
            raise AlreadyOne
        person, double = _two(person_id, double_id)
        if isinstance(by, PersonActor) and by.person.id in (person_id, double_id):
            raise OwnAccount
        for one in (person, double):
            rules.require_manager_of_ever(by, one, now)
        rules.require_active(person)
        if person.same_as_id or double.same_as_id:
            raise AlreadyOne
        rules.require_another_manager(queries.managed_ids(double.id, now), double.id, by)
        accounts = list(double.accounts.order_by("id"))
        ended = end_all(double, now)
        hold_agents_of(double.id)
        _become_one(person, double, now)
        asked_again = log.take_turn()  # every row is locked: he may have lost it while he waited
        for one in (person, double):
            rules.require_manager_of_ever(by, one, asked_again)
        record_ended(ended, by=by)
        _record_linked(person, accounts, by, double)
        return person


def disable_person(person_id: UUID, *, by: Actor) -> Person:
    """End everything a person can do: sessions stop, roles count no more, his agents are as good as stopped.

    Raises: Disabled, NotFound, NotManager, LastManager.
    """
    now = timezone.now()
    with write():
        person = _person(person_id)
        rules.require_manager_of_all(by, person, now)
        rules.require_active(person)
        rules.require_another_manager(queries.managed_ids(person.id, now), person.id, by)
        person.accounts.update(is_active=False)
        hold_agents_of(person.id)
        now = log.take_turn()
        rules.require_manager_of_all(by, person, now)  # he may have lost it while he waited
        person.disabled_at = now
        person.save(update_fields=["disabled_at"])
        log.record(Action.PERSON_DISABLED, actor=by.audit(), object=log.ObjectRef("person", str(person.id)))
        return person


def add_person(
    name: str, username: str, now: datetime, *, email: str = "", is_superuser: bool = False
) -> tuple[Person, User]:
    """Join the caller's transaction. Raises: BadName, NameTaken."""
    person = Person.objects.create(name=name.strip() or username, created_at=now)
    user = _add_account(person, username, now, email)
    if is_superuser:
        User.objects.filter(id=user.id).update(is_superuser=True, is_staff=True)
    return person, user


def record_person(person: Person, user: User, *, by: Actor, workspace: UUID | None) -> None:
    log.record(
        Action.PERSON_CREATED,
        actor=by.audit(),
        workspace=workspace,
        object=log.ObjectRef("person", str(person.id)),
        after={"account": str(user.id)},
        private={"name": person.name, "address": user.email},
    )


def _record_linked(person: Person, accounts: Iterable[User], by: Actor, double: Person | None = None) -> None:
    log.record(
        Action.ACCOUNT_LINKED,
        actor=by.audit(),
        object=log.ObjectRef("person", str(person.id)),
        before={"person": str(double.id)} if double else None,
        after={"accounts": [str(account.id) for account in accounts]},
    )


def _become_one(person: Person, double: Person, now: datetime) -> None:
    """Let `double` be `person`: who signs in, who answers for agents, and who was taken for somebody else."""
    double.same_as = person
    double.disabled_at = double.disabled_at or now
    double.save(update_fields=["same_as", "disabled_at"])
    Person.objects.filter(same_as=double).update(same_as=person)
    User.objects.filter(person=double).update(person=person)
    for ownership in Ownership.objects.filter(person=double, until__isnull=True):
        Ownership.objects.get_or_create(
            agent_id=ownership.agent_id, person=person, until=None, defaults={"since": now}
        )
    for held in (Ownership, Delegation):
        held.objects.filter(person=double, until__isnull=True).update(until=now)


def _add_account(person: Person, username: str, now: datetime, email: str = "") -> User:
    user = User(person=person, username=rules.username(username), email=email, date_joined=now)
    user.set_unusable_password()
    with rules.only_once(NameTaken):
        user.save(force_insert=True)
    return user


def _require_inviter(by: Actor, workspace: UUID | None, now: datetime) -> None:
    if workspace is not None:
        rules.require_manager(by, workspace, now)
    else:
        rules.require_operator(by)


def _two(person_id: UUID, double_id: UUID) -> tuple[Person, Person]:
    """Lock both, always in the same order. Raises: NotFound."""
    rows = Person.objects.select_for_update(no_key=True).filter(id__in=(person_id, double_id)).order_by("id")
    found = {person.id: person for person in rows}
    if len(found) != 2:
        raise NotFound
    return found[person_id], found[double_id]


def _person(person_id: UUID) -> Person:
    person = Person.objects.select_for_update(no_key=True).filter(id=person_id).first()
    if person is None:
        raise NotFound
    return person
