"""Where agents and people want to be told, and the outbox: what is still to be sent, was sent, or could not be."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q

from huqan_site.lib.ids import new_id
from review.access.models import Agent, Person, User
from review.access.roles import Channel, Often
from review.audit.grants import disposable


class Webhook(models.Model):
    """An address that is told what becomes of the proposals of one agent, or what concerns one person.

    Secrets are stored sealed (`review.webhooks.secrets`). After a rotation the earlier one signs too, until
    `earlier_until`. `gone_at` is when the receiver answered that it is no longer there.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT, related_name="webhooks")
    person = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="webhooks")
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
            ),
            models.UniqueConstraint(
                fields=["person"], condition=Q(removed_at__isnull=True), name="one_open_webhook_per_person"
            ),
            models.CheckConstraint(
                condition=Q(agent__isnull=False, person__isnull=True)
                | Q(agent__isnull=True, person__isnull=False),
                name="webhook_is_of_an_agent_or_a_person",
            ),
        ]

    def __str__(self) -> str:
        return f"webhook {self.id} of {self.agent_id or self.person_id}"


class Wish(models.Model):
    """How a person wants to be told through one channel: at once, in a digest at `hour` of his `zone`, or never.

    What came until `told_until` has been told, or was there before he wished.
    """

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="wishes")
    channel = models.CharField(max_length=8, choices=Channel.choices)
    often = models.CharField(max_length=9, choices=Often.choices)
    hour = models.PositiveSmallIntegerField()
    zone = models.CharField(max_length=64)
    told_until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "channel"], name="one_wish_per_channel"),
            models.CheckConstraint(condition=Q(channel__in=Channel.values), name="wish_has_a_known_channel"),
            models.CheckConstraint(condition=Q(often__in=Often.values), name="wish_is_known"),
            models.CheckConstraint(condition=Q(hour__lte=23), name="wish_has_an_hour_of_the_day"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} by {self.channel}: {self.often}"


class Told(models.Model):
    """That a person was told of one revision: that it needs him, or (`what`) which state it got into.

    No key to the proposal: nothing here outlasts the month in which it could be told twice.
    """

    wish = models.ForeignKey(Wish, on_delete=models.PROTECT, related_name="+")
    proposal = models.UUIDField()
    revision = models.PositiveIntegerField()
    what = models.CharField(max_length=20)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["wish", "proposal", "revision", "what"], name="told_once_of_a_revision"
            )
        ]
        indexes = [models.Index(fields=["at"], name="told_by_age")]

    def __str__(self) -> str:
        return f"{self.what} {self.proposal}"


disposable("webhooks_told")


class MessageQuerySet(models.QuerySet["Message"]):
    def due(self, now: datetime) -> MessageQuerySet:
        return self.filter(due_at__lte=now)


class Message(models.Model):
    """One row of the outbox: what is posted to a webhook, or mailed to an account (subject, blank line, text).

    Its id is the `webhook-id` of every attempt, so that a receiver can tell repeats.

    `due_at` is when it is next to be sent. Whoever sends it moves that ahead first, which is the lease; none is
    left once it has been delivered or given up.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    webhook = models.ForeignKey(Webhook, null=True, on_delete=models.PROTECT, related_name="messages")
    account = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
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
            ),
            models.CheckConstraint(
                condition=Q(webhook__isnull=False, account__isnull=True)
                | Q(webhook__isnull=True, account__isnull=False),
                name="message_is_posted_or_mailed",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="messages_by_turn"),
            models.Index(fields=["webhook", "-id"], name="messages_of_a_webhook"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


disposable("webhooks_message")
