"""What people and tokens may be: closed lists that rules, pages and the API name without touching a table."""

from __future__ import annotations

from django.db.models import TextChoices


class Role(TextChoices):
    """What a membership lets a person do in its workspace."""

    REVIEWER = "reviewer"
    MANAGER = "manager"


class Channel(TextChoices):
    """The ways in which a person can be told."""

    MAIL = "mail"
    WEBHOOK = "webhook"


class Often(TextChoices):
    """When a person is told: as it comes, once a day, or not."""

    NEVER = "never"
    IMMEDIATE = "immediate"
    DIGEST = "digest"


class Scope(TextChoices):
    """What a token lets its agent do."""

    PROPOSE = "propose"
    READ = "read"
    REDEEM = "redeem"


class Language(TextChoices):
    """What the pages are written in; each by its own name, so that whoever needs it can read it."""

    ENGLISH = "en", "English"
    TURKISH = "tr", "Türkçe"
