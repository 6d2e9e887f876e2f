"""One-time set-up links: made, and used up."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.urls import reverse

from review.access.actors import Actor
from review.access.models import SetUpLink, User
from review.access.refusals import LinkSpent
from review.access.services import rules

LIFETIME = timedelta(hours=72)
LIFETIME_ASKED_FOR = timedelta(hours=1)


def new_link(user: User, now: datetime, *, by: Actor) -> str:
    """Return the secret of a new link for `user`; earlier ones end. Joins the caller's transaction."""
    end_all(user, now)
    return _make(user, now, now + LIFETIME, made_by=rules.person_behind(by))


def new_link_asked_for(user: User, now: datetime) -> str:
    """Return the secret of a link that `user` asked for, to be mailed to his own address.

    Anybody can ask in his name, so only earlier ones of this kind end. Joins the caller's transaction.
    """
    SetUpLink.objects.filter(user=user, asked_for=True, used_at__isnull=True).update(used_at=now)
    return _make(user, now, now + LIFETIME_ASKED_FOR, asked_for=True)


def end_all(user: User, now: datetime) -> None:
    """End every link of `user`. Joins the caller's transaction."""
    SetUpLink.objects.filter(user=user, used_at__isnull=True).update(used_at=now)


def address(secret: str) -> str:
    """Return the page that a link opens."""
    return f"{settings.HUQAN_BASE_URL}{reverse('set_up', args=[secret])}"


def opened(secret: str, now: datetime) -> SetUpLink:
    """Return the link with its user, without using it. Raises: LinkSpent."""
    link = SetUpLink.objects.select_related("user__person").filter(**_open(secret, now)).first()
    if link is None or not link.user.is_active or link.user.person.disabled_at is not None:
        raise LinkSpent
    return link


def owner_of(secret: str, now: datetime) -> User:
    """Return whose link this is, without using it. Raises: LinkSpent."""
    return opened(secret, now).user


def use_up(secret: str, now: datetime) -> None:
    """Use the link up: of two at one time one gets it. Joins the caller's transaction. Raises: LinkSpent."""
    if SetUpLink.objects.filter(**_open(secret, now)).update(used_at=now) != 1:
        raise LinkSpent


def _make(user: User, now: datetime, end: datetime, **origin: object) -> str:
    secret = secrets.token_urlsafe(32)
    SetUpLink.objects.create(user=user, digest=_digest(secret), created_at=now, expires_at=end, **origin)
    return secret


def _open(secret: str, now: datetime) -> dict[str, object]:
    return {"digest": _digest(secret), "used_at__isnull": True, "expires_at__gt": now}


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
