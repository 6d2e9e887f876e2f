"""A forgotten password: asked for by anybody, answered by a mail to the stored address alone.

The request only notes that it came, whether such an account exists or not; the link is made when the mail
is, by `manage.py worker`, so that no answer tells of an account and no link lies in a table.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from review.access import mails, queries, wording
from review.access.models import ResetRequest, User
from review.access.services import links
from review.audit.transaction import write

BACK_OFF = timedelta(minutes=1)
ATTEMPTS = 5


def ask_for_reset(username: str) -> None:
    """Note that somebody has forgotten the password of `username`; the same for every name."""
    now = timezone.now()
    user = queries.account(username)
    with write():
        ResetRequest.objects.create(user=user if _can_be_mailed(user) else None, created_at=now, due_at=now)


def send_resets() -> int:
    """Mail what is due, and return how many mails left. A mail that did not is tried again, a few times."""
    sent = 0
    due = ResetRequest.objects.filter(due_at__lte=timezone.now()).select_related("user__person")
    for request in due.order_by("id")[:100]:
        sent += _answer(request)
    return sent


def _can_be_mailed(user: User | None) -> bool:
    return user is not None and bool(user.email) and user.is_active and user.person.disabled_at is None


def _answer(request: ResetRequest) -> bool:
    now = timezone.now()
    with write():
        if not _take(request, now):
            return False
        user = request.user
        if user is None or not _can_be_mailed(user):
            request.delete()
            return False
        secret = links.new_link_asked_for(user, now)
    with wording.language_of(user):
        letter = _letter(user, secret)
    sent = mails.send(user.email, *letter)
    if sent or request.attempts + 1 >= ATTEMPTS:
        with write():
            ResetRequest.objects.filter(id=request.id).delete()
    return sent


def _take(request: ResetRequest, now: datetime) -> bool:
    """Take the request for as long as the next attempt has to wait: of two workers, one gets it."""
    taken = ResetRequest.objects.filter(id=request.id, attempts=request.attempts, due_at=request.due_at)
    later = now + BACK_OFF * 2**request.attempts
    return taken.update(due_at=later, attempts=F("attempts") + 1) == 1


def _letter(user: User, secret: str) -> tuple[str, str]:
    subject = _("Choose another password")
    text = _(
        "Somebody, perhaps you, has forgotten the password of the account %(account)s.\n\n"
        "This page lets you choose another one, once, within an hour:\n%(link)s\n\n"
        "If it was not you, nothing has changed and there is nothing to do.\n"
    )
    return subject, text % {"account": user.username, "link": links.address(secret)}
