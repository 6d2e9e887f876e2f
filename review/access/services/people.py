"""People and their accounts."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.utils import timezone

from review.access.actors import Actor
from review.access.models import Person, User
from review.access.refusals import NameTaken, NotFound
from review.access.roles import Role
from review.access.services import rules
from review.access.services.links import new_link
from review.access.services.memberships import add_membership
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
    role: Role | None = None,
    is_superuser: bool = False,
) -> Invited:
    """Make a person with one account, and with `role` in `workspace` if one is given.

    The operator may, and a manager for his workspace. A superuser may do no more than anybody: what
    someone may do comes from memberships alone.

    Raises: BadName, NameTaken, NotFound, NotManager.
    """
    now = timezone.now()
    with write():
        _require_inviter(by, workspace, now)
        person, user = add_person(name, username, now, is_superuser=is_superuser)
        record_person(person, user, by=by, workspace=workspace)
        if workspace is not None and role is not None:
            add_membership(person, workspace, role, now, by=by)
        return Invited(user, new_link(user, now))


def link_account(person_id: UUID, username: str, *, by: Actor) -> Invited:
    """Give a person another account. Both are one person to every rule.

    Raises: BadName, NameTaken, Disabled, NotFound, NotManager.
    """
    now = timezone.now()
    with write():
        person = _person(person_id)
        rules.require_manager_of_all(by, person, now)
        rules.require_active(person)
        user = _add_account(person, username, now)
        log.record(
            Action.ACCOUNT_LINKED,
            actor=by.audit(),
            object=log.ObjectRef("person", str(person.id)),
            after={"account": str(user.id)},
        )
        return Invited(user, new_link(user, now))


def disable_person(person_id: UUID, *, by: Actor) -> Person:
    """End everything a person can do: sessions stop, roles count no more, his agents are as good as stopped.

    Raises: Disabled, NotFound, NotManager.
    """
    now = timezone.now()
    with write():
        person = _person(person_id)
        rules.require_manager_of_all(by, person, now)
        rules.require_active(person)
        person.disabled_at = now
        person.save(update_fields=["disabled_at"])
        person.accounts.update(is_active=False)
        log.record(Action.PERSON_DISABLED, actor=by.audit(), object=log.ObjectRef("person", str(person.id)))
        return person


def add_person(name: str, username: str, now: datetime, *, is_superuser: bool = False) -> tuple[Person, User]:
    """Join the caller's transaction. Raises: BadName, NameTaken."""
    person = Person.objects.create(name=name.strip() or username, created_at=now)
    user = _add_account(person, username, now)
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
        private={"name": person.name},
    )


def _add_account(person: Person, username: str, now: datetime) -> User:
    user = User(person=person, username=rules.username(username), date_joined=now)
    user.set_unusable_password()
    with rules.only_once(NameTaken):
        user.save(force_insert=True)
    return user


def _require_inviter(by: Actor, workspace: UUID | None, now: datetime) -> None:
    if workspace is not None:
        rules.require_manager(by, workspace, now)
    else:
        rules.require_operator(by)


def _person(person_id: UUID) -> Person:
    person = Person.objects.select_for_update(no_key=True).filter(id=person_id).first()
    if person is None:
        raise NotFound
    return person
