"""Where agents want to be told, and the outbox: what is still to be sent, was sent, or could not be."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q

from huqan_site.lib.ids import new_id
from review.access.models import Agent, Person
from review.audit.grants import disposable


class Webhook(models.Model):
    """An address that is told what becomes of the proposals of one agent.

    Secrets are stored sealed (`review.webhooks.secrets`). After a rotation the earlier one signs too, until
    `earlier_until`. `gone_at` is when the receiver answered that it is no longer there.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="webhooks")
    url = models.CharField(max_length=2048)
    secret = models.TextField()
    earlier_secret = models.TextField(blank=True)
    earlier_until = models.DateTimeField(null=True)
    registered_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "url"],
                condition=Q(removed_at__isnull=True),
                name="one_open_webhook_per_address",
            )
        ]

    def __str__(self) -> str:
        return f"webhook {self.id} of {self.agent_id}"


class MessageQuerySet(models.QuerySet["Message"]):
    def due(self, now: datetime) -> MessageQuerySet:
        return self.filter(due_at__lte=now)


class Message(models.Model):
    """One row of the outbox. Its id is the `webhook-id` of every attempt, so that a receiver can tell repeats.

    `due_at` is when it is next to be sent. Whoever sends it moves that ahead first, which is the lease; none is
    left once it has been delivered or given up.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.PROTECT, related_name="messages")
    type = models.CharField(max_length=32)
    body = models.TextField()
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    delivered_at = models.DateTimeField(null=True)
    given_up_at = models.DateTimeField(null=True)
    last_answer = models.CharField(max_length=200, blank=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(due_at__isnull=False, delivered_at__isnull=True, given_up_at__isnull=True)
                | Q(due_at__isnull=True, delivered_at__isnull=False, given_up_at__isnull=True)
                | Q(due_at__isnull=True, delivered_at__isnull=True, given_up_at__isnull=False),
                name="message_waits_or_has_ended",
            )
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="messages_by_turn"),
            models.Index(fields=["webhook", "-id"], name="messages_of_a_webhook"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


disposable("webhooks_message")
