"""Webhooks: of agents, set up by managers, and one of each person's own. Each has a secret that is shown once."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from review.access.actors import PersonActor
from review.access.models import Agent
from review.access.refusals import NotFound
from review.access.services import rules
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write
from review.webhooks import secrets, targets
from review.webhooks.entries import record
from review.webhooks.models import Message, Webhook
from review.webhooks.outbox import enqueue, give_up_waiting
from review.webhooks.refusals import AlreadyRegistered, TooManyWebhooks

MOST = 5
BOTH_SIGN = timedelta(hours=24)
TEST = "webhook.test"


class Registered(NamedTuple):
    """A webhook, and its secret, which nobody can show again."""

    webhook: Webhook
    secret: str


def register_webhook(agent_id: UUID, url: str, *, by: PersonActor) -> Registered:
    """Have `url` told what becomes of the proposals of an agent.

    Raises: BadTarget, AlreadyRegistered, TooManyWebhooks, NotFound, NotManager.
    """
    now = timezone.now()
    rules.require_manager(by, _agent(agent_id).workspace_id, now)  # a stranger has no name looked up here
    _check(url)
    with write():
        agent = _agent(agent_id)
        now = log.take_turn()  # who loses his role meanwhile has lost it
        rules.require_manager(by, agent.workspace_id, now)
        if Webhook.objects.filter(agent=agent, removed_at__isnull=True).count() >= MOST:
            raise TooManyWebhooks
        return _register(Webhook(agent=agent, url=url, created_at=now), by)


def register_own_webhook(url: str, *, by: PersonActor) -> Registered:
    """Have `url` told what concerns whoever asks. Raises: BadTarget, AlreadyRegistered."""
    _check(url)
    with write():
        return _register(Webhook(person=by.person, url=url, created_at=timezone.now()), by)


def rotate_secret(webhook_id: UUID, *, by: PersonActor) -> Registered:
    """Give the webhook a new secret; for 24 hours both sign, so that the receiver can change over in peace.

    Raises: NotFound, NotManager.
    """
    now, secret = timezone.now(), secrets.new_secret()
    with write():
        webhook = _held(webhook_id, by)
        webhook.earlier_secret, webhook.earlier_until = webhook.secret, now + BOTH_SIGN
        webhook.secret = secrets.seal(secret, webhook.id)
        webhook.save(update_fields=["secret", "earlier_secret", "earlier_until"])
        record(Action.WEBHOOK_REGISTERED, webhook, by, after={"secret": "rotated"})
    return Registered(webhook, secret)


def remove_webhook(webhook_id: UUID, *, by: PersonActor) -> Webhook:
    """Tell this address nothing more; what waited for it is given up. Raises: NotFound, NotManager."""
    now = timezone.now()
    with write():
        webhook = _held(webhook_id, by)
        webhook.removed_at, webhook.secret, webhook.earlier_secret = now, "", ""
        webhook.save(update_fields=["removed_at", "secret", "earlier_secret"])
        give_up_waiting(webhook.id, now, "The webhook was removed.")
        record(Action.WEBHOOK_REMOVED, webhook, by)
        return webhook


def send_test(webhook_id: UUID, *, by: PersonActor) -> Webhook:
    """Put a message that is about nothing into the outbox. Raises: NotFound, NotManager."""
    now = timezone.now()
    with write():
        webhook = _told(webhook_id, by)
        enqueue(webhook, TEST, {}, now)
        return webhook


def try_again(message_id: UUID, *, by: PersonActor) -> Webhook:
    """Send once more what was given up. Raises: NotFound, NotManager."""
    now = timezone.now()
    with write():
        message = Message.objects.filter(pk=message_id).first()
        if message is None or message.webhook_id is None:  # a mail is tried again by nobody's hand
            raise NotFound
        webhook = _told(message.webhook_id, by)
        given_up = Message.objects.filter(pk=message_id, given_up_at__isnull=False)
        if not given_up.update(given_up_at=None, due_at=now, attempts=0):
            raise NotFound
        return webhook


def _register(webhook: Webhook, by: PersonActor) -> Registered:
    secret = secrets.new_secret()
    webhook.registered_by, webhook.secret = by.person, secrets.seal(secret, webhook.id)
    with rules.only_once(AlreadyRegistered):
        webhook.save(force_insert=True)
    record(Action.WEBHOOK_REGISTERED, webhook, by)
    return Registered(webhook, secret)


def _check(url: str) -> None:
    """Outside the write lock, since a resolver can take its time. Raises: BadTarget."""
    allowed = settings.HUQAN_WEBHOOK_HOSTS
    target = targets.parse(url, allowed=allowed)
    targets.checked(target, allowed=allowed, resolve=targets.system_resolver)


def _agent(agent_id: UUID) -> Agent:
    agent = Agent.objects.filter(id=agent_id).first()
    if agent is None:
        raise NotFound
    return agent


def _held(webhook_id: UUID, by: PersonActor) -> Webhook:
    """Return the webhook, locked: one's own, or that of an agent whose workspace one manages.

    Raises: NotFound (also when it was removed, or is somebody else's own), NotManager.
    """
    rows = Webhook.objects.select_for_update(of=("self",), no_key=True).select_related("agent")
    webhook = rows.filter(pk=webhook_id, removed_at__isnull=True).first()
    if webhook is None or (webhook.agent is None and webhook.person_id != by.person.id):
        raise NotFound
    if webhook.agent is not None:
        rules.require_manager(by, webhook.agent.workspace_id, log.take_turn())  # as it is in his turn
    return webhook


def _told(webhook_id: UUID, by: PersonActor) -> Webhook:
    """Return the webhook, if its receiver is still there. Raises: NotFound, NotManager."""
    webhook = _held(webhook_id, by)
    if webhook.gone_at is not None:
        raise NotFound("The receiver said that it is gone for good. Remove the webhook and register it anew.")
    return webhook
