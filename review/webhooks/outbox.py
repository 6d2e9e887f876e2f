"""The outbox: written in the transaction that it tells of, sent by the worker, each message at least once.

Several workers may send at once. Whoever sends a message takes it on lease by one conditional update, and what
came of it is written only if nobody has taken it since.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import NamedTuple, TypeAlias
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from huqan_site.lib.canonical_json import JSON
from huqan_site.lib.keyring import UnusableKey
from review.access import mails
from review.access.actors import SystemActor
from review.access.models import User
from review.audit.actions import Action
from review.audit.statements import prepared
from review.audit.transaction import write
from review.webhooks import secrets, sending
from review.webhooks.entries import record
from review.webhooks.models import Message, MessageQuerySet, Webhook
from review.webhooks.sending import Answer

Sender: TypeAlias = Callable[[str, str, Mapping[str, str]], Answer]

MOST_ATTEMPTS = 10
LEASE = timedelta(minutes=2)  # longer than a batch takes at worst
FIRST_WAIT, LONGEST_WAIT = 5.0, 6 * 3600.0  # seconds
MOST_ASKED = 24 * 3600  # seconds; a Retry-After beyond that is not honoured further
KEPT = timedelta(days=30)  # how long what has ended stays to be looked at
BATCH, AT_ONCE, LOOKED_AT = 32, 8, 500
MAIL = "mail"
MAIL_WAITS = timedelta(minutes=1)
TAKEN = 250  # what a mail server answers (RFC 5321)
CONSOLE = SystemActor()


class Parcel(NamedTuple):
    """A message on lease, with all that sending it takes. A mail goes to an address and is signed with nothing."""

    message: Message
    to: str
    secrets: tuple[str, ...] = ()


def announce(agent: UUID, type: str, data: Mapping[str, JSON], now: datetime) -> None:
    """Put a message for each open webhook of `agent` into the outbox. Joins the caller's transaction."""
    for webhook in _open(agent):
        enqueue(webhook, type, data, now)


@prepared
def _open(agent: UUID) -> QuerySet[Webhook]:
    return Webhook.objects.filter(agent_id=agent, removed_at__isnull=True, gone_at__isnull=True)


def enqueue(webhook: Webhook, type: str, data: Mapping[str, JSON], now: datetime) -> Message:
    """Put one message into the outbox. Its body is settled here: every attempt sends the same bytes."""
    stamp = now.isoformat(timespec="seconds").replace("+00:00", "Z")
    body = json.dumps({"type": type, "timestamp": stamp, "data": dict(data)})
    return Message.objects.create(webhook=webhook, type=type, body=body, created_at=now, due_at=now)


def enqueue_mail(account: User, subject: str, text: str, now: datetime) -> Message:
    """Put one mail into the outbox. It goes to the address that the account has when it is sent."""
    body = f"{subject}\n\n{text}"
    return Message.objects.create(account=account, type=MAIL, body=body, created_at=now, due_at=now)


def deliver_due(send: Sender | None = None, limit: int = 200) -> int:
    """Send what is due, about `limit` messages at most; return how many were sent or tried.

    A batch holds one message of each receiver, so one that hangs holds up the others once and not again.
    """
    tried = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while tried < limit and (batch := lease(timezone.now())):
            for parcel, answer in zip(batch, pool.map(lambda p: _send(p, send), batch), strict=True):
                settle(parcel.message, answer, timezone.now())
            tried += len(batch)
    return tried


def forget_old() -> int:
    """Delete messages that ended long ago; return how many."""
    old = Message.objects.filter(due_at__isnull=True, created_at__lt=timezone.now() - KEPT)
    if not old.exists():
        return 0
    with write():
        return old.delete()[0]


def lease(now: datetime) -> list[Parcel]:
    """Take what is due on lease, one message of each receiver, the longest due first."""
    if not Message.objects.due(now).exists():
        return []  # without a turn in the writers' queue
    with write():
        _give_up_on_the_gone(now)
        due = Message.objects.due(now).select_related("webhook", "account")
        firsts: dict[UUID | None, Message] = {}
        for message in due.order_by("due_at", "id")[:LOOKED_AT]:
            firsts.setdefault(message.webhook_id or message.account_id, message)
        chosen = sorted(list(firsts.values())[:BATCH], key=lambda message: message.id)
        return [_parcel(message, now) for message in chosen if _taken(message, now)]


def settle(message: Message, answer: Answer, now: datetime) -> None:
    """Write down what came of an attempt, unless the lease ran out and somebody else took the message."""
    with write():
        ours = Message.objects.filter(pk=message.pk, attempts=message.attempts, due_at__isnull=False)
        if answer.delivered:
            ours.update(delivered_at=now, due_at=None, last_answer=answer.words)
            _bring_forward(message, now)
        elif answer.is_gone and message.webhook_id is not None:
            _close(message.webhook_id, answer, now)
        elif message.attempts >= MOST_ATTEMPTS:
            ours.update(given_up_at=now, due_at=None, last_answer=answer.words)
        else:
            later = now + wait_after(message.attempts, answer.retry_after)
            ours.update(due_at=later, last_answer=answer.words)
            _put_off(message, later, now)


def wait_after(attempts: int, asked: int | None) -> timedelta:
    """Return how long to wait after so many failed attempts: four times longer each, a quarter more or less.

    What the receiver asked for by Retry-After is kept, up to a day.
    """
    wait = min(FIRST_WAIT * 4 ** (attempts - 1), LONGEST_WAIT) * random.uniform(0.75, 1.25)
    return timedelta(seconds=max(wait, min(asked or 0, MOST_ASKED)))


def give_up_waiting(webhook: UUID, now: datetime, why: str) -> None:
    """End every message of `webhook` that still waits. Joins the caller's transaction."""
    waiting = Message.objects.filter(webhook_id=webhook, due_at__isnull=False)
    waiting.update(given_up_at=now, due_at=None, last_answer=why)


def _give_up_on_the_gone(now: datetime) -> None:
    """Who was disabled, or has no address any more, is told nothing that still waits."""
    gone = (
        Q(account__email="")
        | Q(account__is_active=False)
        | Q(account__person__disabled_at__isnull=False)
        | Q(webhook__person__disabled_at__isnull=False)
    )
    waiting = Message.objects.due(now).filter(gone).values_list("pk", flat=True)
    ended = Message.objects.filter(pk__in=list(waiting[:LOOKED_AT]))
    ended.update(given_up_at=now, due_at=None, last_answer="Nobody is there to be told.")


def _taken(message: Message, now: datetime) -> bool:
    """Whether this worker has the lease: of two that read the same row one moves it."""
    as_read = Message.objects.filter(pk=message.pk, due_at=message.due_at, attempts=message.attempts)
    message.attempts += 1
    return as_read.update(due_at=now + LEASE, attempts=F("attempts") + 1) == 1


def _parcel(message: Message, now: datetime) -> Parcel:
    if message.account is not None:
        return Parcel(message, message.account.email)
    webhook = message.webhook
    assert webhook is not None  # message_is_posted_or_mailed
    stored = [webhook.secret]
    if webhook.earlier_until is not None and now < webhook.earlier_until:
        stored.append(webhook.earlier_secret)
    return Parcel(message, webhook.url, tuple(stored))


def _send(parcel: Parcel, send: Sender | None) -> Answer:
    """Sign and send, in a thread that asks the database nothing."""
    message, at = parcel.message, timezone.now()
    if message.webhook_id is None:
        return _mail(parcel)
    try:
        clear = [secrets.unseal(stored, message.webhook_id) for stored in parcel.secrets]
    except UnusableKey as missing:
        return Answer(None, str(missing))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "huqan",
        "webhook-id": str(message.id),
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": secrets.signatures(message.id, at, message.body, clear),
    }
    return (send or sending.post)(parcel.to, message.body, headers)


def _mail(parcel: Parcel) -> Answer:
    subject, _, text = parcel.message.body.partition("\n\n")
    if mails.send(parcel.to, subject, text):
        return Answer(TAKEN, "The mail server took it.")
    return Answer(None, "The mail server did not take it.")


def _put_off(message: Message, later: datetime, now: datetime) -> None:
    """What else this receiver should get waits as long: it has just failed.

    Mail waits a minute at most, since one bad address looks like a mail server that is away.
    """
    until = later if message.webhook_id else min(later, now + MAIL_WAITS)
    _to_the_same(message).filter(due_at__lt=until).update(due_at=until)


def _bring_forward(message: Message, now: datetime) -> None:
    """What was only put off is due again: the receiver answers."""
    _to_the_same(message).filter(due_at__gt=now, attempts=0).update(due_at=now)


def _to_the_same(message: Message) -> MessageQuerySet:
    """Every message of its receiver: of the webhook, or of the one mail server."""
    if message.webhook_id is None:
        return Message.objects.filter(account__isnull=False)
    return Message.objects.filter(webhook_id=message.webhook_id)


def _close(webhook_id: UUID, answer: Answer, now: datetime) -> None:
    """The receiver says that it is no longer there, and for good: it is sent nothing more."""
    webhook = Webhook.objects.select_for_update(no_key=True, of=("self",)).get(pk=webhook_id)
    give_up_waiting(webhook_id, now, answer.words)
    if webhook.gone_at is None:
        webhook.gone_at = now
        webhook.save(update_fields=["gone_at"])
        record(Action.WEBHOOK_REMOVED, webhook, CONSOLE, after={"answered": answer.status})
