"""People, accounts, workspaces, roles, agents and their tokens.

A person is an immutable id; accounts point to it, so two accounts of one person stay one person.
Nothing here decides: rules are in `review.domain`, writes in `review.access.services`.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from huqan_site.lib.ids import new_id
from review.access.roles import Language, Role
from review.audit.grants import disposable


class Person(models.Model):
    """One human being. The id never changes; accounts may be renamed, disabled or made again.

    `same_as` is set where two turned out to be one: what this person did stays his, and counts as that
    one's. It names somebody who is nobody else's double.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    disabled_at = models.DateTimeField(null=True, blank=True)
    same_as = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="doubles"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(same_as__isnull=True) | ~Q(same_as=F("id")), name="nobody_is_his_own_double"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AccountManager(BaseUserManager["User"]):
    """Looks accounts up by name, whatever the letter case typed."""

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(username__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    """An account that can sign in. What it may do comes from its person's memberships alone.

    `vouched_by` is who made the link with which its password was chosen; null where it was the operator.
    `address_vouched_by` is who named its mail address, or could have: a link that is mailed there proves no
    more than he does. `language` is that of its pages and mails, empty for what the browser asks for; `keys` says
    whether its pages answer to single keys.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="accounts")
    username = models.CharField(max_length=150, unique=True)
    email = models.EmailField(blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    date_joined = models.DateTimeField()
    language = models.CharField(max_length=8, blank=True, choices=Language.choices)
    keys = models.BooleanField(default=True)
    vouched_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    address_vouched_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")

    objects = AccountManager()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("username"), name="one_account_per_username"),
            models.CheckConstraint(
                condition=Q(language="") | Q(language__in=Language.values), name="language_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.username


class Workspace(models.Model):
    """The scope of everything: taken from the credential, never from an argument."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.SlugField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("name"), name="one_workspace_per_name")]

    def __str__(self) -> str:
        return self.name


class MembershipQuerySet(models.QuerySet["Membership"]):
    def active(self, now: datetime) -> MembershipQuerySet:
        """Memberships that hold at `now`, of people who are not disabled."""
        running = Q(since__lte=now) & (Q(until__isnull=True) | Q(until__gt=now))
        return self.filter(running, person__disabled_at__isnull=True)

    def held_by(self, person: UUID) -> MembershipQuerySet:
        return self.filter(person_id=person)


class Membership(models.Model):
    """A person's role in a workspace, from `since` until `until`, with the groups it counts for."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="memberships")
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    groups = models.JSONField(default=list)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)
    granted_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "workspace", "role"],
                condition=Q(until__isnull=True),
                name="one_open_membership_per_role",
            ),
            models.CheckConstraint(
                condition=Q(until__isnull=True) | Q(until__gt=F("since")),
                name="membership_ends_after_it_begins",
            ),
            models.CheckConstraint(
                condition=Q(granted_by__isnull=True) | ~Q(granted_by=F("person")),
                name="nobody_grants_himself_a_role",
            ),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} {self.role} of {self.workspace_id}"


class Agent(models.Model):
    """A program that proposes. It acts in one workspace and is answered for by its owners."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="agents")
    name = models.SlugField(max_length=64)
    created_at = models.DateTimeField()
    stopped_at = models.DateTimeField(null=True, blank=True)
    stopped_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    stop_reason = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint("workspace", Lower("name"), name="one_agent_per_name")]

    def __str__(self) -> str:
        return self.name


class Ownership(models.Model):
    """Who answers for an agent, and when. Past owners stay, since past revisions were theirs."""

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="ownerships")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="ownerships")
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "person"],
                condition=Q(until__isnull=True),
                name="one_open_ownership_per_person",
            )
        ]

    def __str__(self) -> str:
        return f"{self.person_id} owns {self.agent_id}"


class Delegation(models.Model):
    """A person lets one agent act for him. Only he grants it, on his own page."""

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="delegations")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="delegations")
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "person"],
                condition=Q(until__isnull=True),
                name="one_open_delegation_per_person",
            )
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} may act for {self.person_id}"


class AgentToken(models.Model):
    """A bearer token of one agent: a digest, never the secret."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="tokens")
    handle = models.CharField(max_length=32, unique=True)
    digest = models.CharField(max_length=64)
    scopes = models.JSONField()
    minted_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at")), name="token_expires_after_it_is_made"
            )
        ]

    def __str__(self) -> str:
        return self.handle


class SetUpLink(models.Model):
    """A one-time link with which a person chooses a password. Only its digest is kept.

    `asked_for` says that its owner asked for it and it was mailed to him; else `made_by` made it, null for the
    operator.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="set_up_links")
    asked_for = models.BooleanField(default=False)
    made_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"set-up link of {self.user_id}"


class ResetRequest(models.Model):
    """Somebody has forgotten a password, until the mail is sent. Without `user` there is no mail to send.

    It holds no link: that is made when the mail is, so that it lies nowhere.
    """

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    attempts = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="resets_by_time")]

    def __str__(self) -> str:
        return f"reset of {self.user_id}"


disposable("access_resetrequest")


class RequestCount(models.Model):
    """How many requests a token made in one minute; counted in the database, for every server alike."""

    token = models.ForeignKey(AgentToken, on_delete=models.CASCADE, related_name="+")
    minute = models.BigIntegerField()
    count = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["token", "minute"], name="one_count_per_token_and_minute")
        ]

    def __str__(self) -> str:
        return f"{self.token_id} {self.minute}: {self.count}"


disposable("access_requestcount")
