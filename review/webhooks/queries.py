"""The webhooks of an agent or a person with what was sent to them last: what their pages list."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from review.webhooks.models import Message, Webhook

SHOWN = 5  # messages of each webhook


class WebhookRow(NamedTuple):
    """A webhook and its newest messages; those that were given up are always among them, up to 20."""

    webhook: Webhook
    messages: list[Message]


def webhooks_of(agent: UUID) -> list[WebhookRow]:
    """Return what was registered and not removed, the oldest first."""
    return _rows(agent_id=agent)


def own_webhooks(person: UUID) -> list[WebhookRow]:
    """Return the one webhook of a person's own, if he has it."""
    return _rows(person_id=person)


def _rows(**owner: UUID) -> list[WebhookRow]:
    rows = Webhook.objects.filter(removed_at__isnull=True, **owner).select_related("registered_by")
    return [WebhookRow(webhook, _messages(webhook)) for webhook in rows.order_by("created_at")]


def _messages(webhook: Webhook) -> list[Message]:
    newest = list(webhook.messages.order_by("-id")[:SHOWN])
    given_up = webhook.messages.filter(given_up_at__isnull=False).order_by("-id")[:20]
    return sorted({*newest, *given_up}, key=lambda message: message.id, reverse=True)
