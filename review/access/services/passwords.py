"""Passwords: chosen through a one-time link, changed by their owner, reset by a manager or the operator.

Hashing is slow on purpose, so it happens before the write lock is taken. A session carries a digest of
the password hash: whoever changes the one ends all others.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone

from review.access import queries
from review.access.actors import Actor, PersonActor
from review.access.models import SetUpLink, User
from review.access.refusals import NotFound, WeakPassword, WrongPassword
from review.access.services import links, rules
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write

_SET_UP = ("set_up_link", Action.PASSWORD_CHANGED)


class Reset(NamedTuple):
    """The account whose password was reset, and the secret of the one-time link to choose another."""

    user: User
    secret: str


def choose_password(secret: str, password: str) -> User:
    """Use up a one-time link and let its person sign in with `password` from now on; every session of it ends.

    Who made the link could have used it himself, so he vouches for whoever did; for a link that was mailed, so
    does whoever named the address.

    Raises: LinkSpent, WeakPassword (the link stays good).
    """
    now = timezone.now()
    owner = links.owner_of(secret, now)
    hashed = _hashed(password, owner)
    with write():
        link = links.opened(secret, now)
        links.use_up(secret, now)
        links.end_all(link.user, now)
        voucher = link.user.address_vouched_by_id if link.asked_for else link.made_by_id
        User.objects.filter(id=link.user_id).update(vouched_by=voucher)
        return _chosen(link, hashed)


def change_password(current: str, new: str, *, by: PersonActor) -> User:
    """Change one's own password; every other session of the account ends.

    Raises: WrongPassword, WeakPassword, NotFound (the account was disabled meanwhile).
    """
    if not by.user.check_password(current):
        raise WrongPassword
    hashed = _hashed(new, by.user)
    with write():
        user = _active(by.user.id)
        if user.password != by.user.password:
            raise WrongPassword
        return _set(user, hashed, Action.PASSWORD_CHANGED, by=by)


def reset_password(username: str, *, by: Actor) -> Reset:
    """End every session of an account and give out a one-time link to choose a new password.

    Raises: NotFound, NotManager.
    """
    now = timezone.now()
    with write():
        found = queries.account(username)
        if found is None:
            raise NotFound
        rules.require_manager_of_all(by, found.person, now)
        user = _set(_active(found.id), make_password(None), Action.PASSWORD_RESET, by=by)
        rules.require_manager_of_all(by, found.person, log.take_turn())  # he may have lost it while he waited
        return Reset(user, links.new_link(user, now, by=by))


def _chosen(link: SetUpLink, hashed: str) -> User:
    method, action = ("mailed_link", Action.PASSWORD_RESET) if link.asked_for else _SET_UP
    holder = PersonActor(person=link.user.person, user=link.user, session="", methods=(method,))
    return _set(link.user, hashed, action, by=holder)


def _hashed(password: str, user: User) -> str:
    try:
        validate_password(password, user)
    except ValidationError as weak:
        raise WeakPassword(" ".join(weak.messages)) from weak
    return make_password(password)


def _active(user_id: UUID) -> User:
    accounts = User.objects.select_for_update(of=("self",), no_key=True).select_related("person")
    user = accounts.filter(id=user_id, is_active=True, person__disabled_at__isnull=True).first()
    if user is None:
        raise NotFound
    return user


def _set(user: User, hashed: str, action: Action, *, by: Actor) -> User:
    user.password = hashed
    user.save(update_fields=["password"])
    log.record(action, actor=by.audit(), object=log.ObjectRef("account", str(user.id)))
    return user
