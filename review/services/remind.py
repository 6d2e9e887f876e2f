"""One plain mail to people: how much needs them, and where. Never what it says."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.access import mails, queries
from review.access.models import Person
from review.access.roles import Reminders
from review.audit.transaction import write
from review.models import ProposalQuerySet
from review.queries import queue

INTERVALS = {Reminders.SOON: timedelta(minutes=15), Reminders.DAILY: timedelta(days=1)}


def send_reminders() -> int:
    """Remind everybody who wants it and whom something needs, each once an interval; return how many mails left."""
    if not mails.can_send():
        return 0
    now = timezone.now()
    return sum(_remind(person, now) for person in Person.objects.filter(_due(now)).order_by("id"))


def _due(now: datetime) -> Q:
    due = Q(pk__in=[])
    for often, interval in INTERVALS.items():
        waited = Q(reminded_at__isnull=True) | Q(reminded_at__lte=now - interval)
        due |= waited & Q(reminders=often)
    has_address = Q(accounts__is_active=True) & ~Q(accounts__email="")
    return due & Q(disabled_at__isnull=True) & Q(id__in=Person.objects.filter(has_address).values("id"))


def _remind(person: Person, now: datetime) -> bool:
    waiting = _waiting(person, now)
    count = waiting.count()
    if not count or not _has_news(person, waiting) or not _take(person, now):
        return False
    letter = _letter(count)
    return sum(mails.send(address, *letter) for address in _addresses(person)) > 0


def _waiting(person: Person, now: datetime) -> ProposalQuerySet:
    """What this very person can decide now, held or not."""
    viewer = queue.Viewer(person, now)
    held = queue.held(viewer).filter(viewer.can_decide)
    return queue.in_view(viewer, queue.View.MINE) | held


def _has_news(person: Person, waiting: ProposalQuerySet) -> bool:
    """Who wants to know soon is told when something has come, and not again of the same every quarter of an hour."""
    if person.reminders == Reminders.DAILY or person.reminded_at is None:
        return True
    return waiting.filter(submitted_at__gt=person.reminded_at).exists()


def _take(person: Person, now: datetime) -> bool:
    """Of two workers one reminds him, and no mail server that fails makes it more than once an interval."""
    with write():
        last = Q(reminded_at=person.reminded_at) if person.reminded_at else Q(reminded_at__isnull=True)
        unchanged = Person.objects.filter(last, id=person.id)
        return unchanged.update(reminded_at=now) == 1


def _addresses(person: Person) -> list[str]:
    accounts = queries.accounts_of(person.id)
    return sorted({account.email for account in accounts if account.is_active and account.email})


def _letter(count: int) -> tuple[str, str]:
    subject = ngettext("%(count)d needs you", "%(count)d need you", count) % {"count": count}
    link = f"{settings.HUQAN_BASE_URL}{reverse('queue')}"
    text = _("%(subject)s.\n\n%(link)s\n\nYou choose how often this is said at %(account)s\n") % {
        "subject": subject,
        "link": link,
        "account": f"{settings.HUQAN_BASE_URL}{reverse('account')}",
    }
    return subject, text
