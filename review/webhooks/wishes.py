"""How people want to be told: each chooses for himself, and nobody for another."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple, TypeAlias
from uuid import UUID

from django.utils import timezone

from review.access import mails, queries
from review.access.actors import PersonActor
from review.access.models import User
from review.access.roles import Channel, Often
from review.audit.transaction import write
from review.webhooks.models import Told, Webhook, Wish

USUAL_HOUR, USUAL_ZONE = 9, "UTC"
KEPT = timedelta(days=30)  # by far longer than anything is looked for a second time
Receiver: TypeAlias = User | Webhook


class Item(NamedTuple):
    """What somebody is told once: a revision, and that it needs him or which state it got into."""

    proposal: UUID
    revision: int
    what: str


def choose(channel: Channel, often: Often, *, hour: int, zone: str, by: PersonActor) -> Wish:
    """Choose how one is told. It changes nothing that is proved, so the log has no entry of it.

    Who begins to be told hears of what comes from now on, or came a moment ago. `zone` is a name of the IANA time
    zone database.
    """
    now = timezone.now()
    with write():
        wish = wish_of(by.person.id, channel, now)
        if wish.often == Often.NEVER:
            wish.told_until = now
        wish.often, wish.hour, wish.zone = often, hour, zone
        wish.save()
        return wish


def wish_of(person: UUID, channel: Channel, now: datetime) -> Wish:
    """Return what `person` chose; who never did is not told."""
    usual = {"often": Often.NEVER, "hour": USUAL_HOUR, "zone": USUAL_ZONE, "told_until": now}
    found = Wish.objects.filter(person_id=person, channel=channel).first()
    return found or Wish(person_id=person, channel=channel, **usual)


def wishes() -> Iterable[Wish]:
    """Return how everybody wants to be told who does."""
    wanted = Wish.objects.exclude(often=Often.NEVER).filter(person__disabled_at__isnull=True)
    return wanted.select_related("person").order_by("id")


def receivers(wish: Wish) -> list[Receiver]:
    """Return where notices go: his accounts that have an address, or his own webhook. Empty where nowhere."""
    if wish.channel == Channel.WEBHOOK:
        return list(Webhook.objects.filter(person=wish.person_id, removed_at=None, gone_at=None))
    if not mails.can_send():
        return []
    by_address = {
        account.email: account for account in queries.accounts_of(wish.person_id) if account.is_active
    }
    return [account for address, account in sorted(by_address.items()) if address]


def untold(wish: Wish, items: Iterable[Item]) -> list[Item]:
    """Return those of `items` that he was not told through this channel."""
    items = list(items)
    told = Told.objects.filter(wish=wish, proposal__in={item.proposal for item in items})
    before = set(told.values_list("proposal", "revision", "what"))
    return [item for item in items if tuple(item) not in before]


def take(wish: Wish, items: Iterable[Item], until: datetime, now: datetime) -> bool:
    """Note that he is told of `items` and of all until `until`; of two workers one may.

    Joins the caller's transaction.
    """
    as_read = Wish.objects.filter(pk=wish.pk, told_until=wish.told_until, often=wish.often)
    if not as_read.update(told_until=until):
        return False
    Told.objects.bulk_create(Told(wish=wish, at=now, **item._asdict()) for item in items)
    return True


def forget_told() -> int:
    """Delete what nobody looks for any more; return how many."""
    old = Told.objects.filter(at__lt=timezone.now() - KEPT)
    if not old.exists():
        return 0
    with write():
        return old.delete()[0]
