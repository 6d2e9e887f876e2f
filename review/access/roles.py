"""What people and tokens may be: closed lists that rules, pages and the API name without touching a table."""

from __future__ import annotations

from django.db.models import TextChoices


class Role(TextChoices):
    """What a membership lets a person do in its workspace."""

    REVIEWER = "reviewer"
    MANAGER = "manager"


class Reminders(TextChoices):
    """How often a person is told by mail that something needs him, at most."""

    OFF = "off"
    SOON = "soon"
    DAILY = "daily"


class Scope(TextChoices):
    """What a token lets its agent do."""

    PROPOSE = "propose"
    READ = "read"
    REDEEM = "redeem"
