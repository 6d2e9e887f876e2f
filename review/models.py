"""Proposals, their revisions, the decisions on them and what followed.

Canonical argument text is stored as text: it is the only thing that is hashed, shown, diffed and run.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from huqan_site.lib.ids import new_id
from review.access.models import Agent, AgentToken, Person, User, Workspace
from review.audit.grants import disposable
from review.audit.guards import append_only
from review.domain.decision import Verdict
from review.domain.status import EXPIRING, Status


class PolicyVersion(models.Model):
    """One version of a workspace's policy document, and the change that brought it. The highest is in force."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="policy_versions")
    version = models.PositiveIntegerField()
    document = models.TextField()
    created_at = models.DateTimeField()
    activated_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    proposal = models.OneToOneField(
        "Proposal", null=True, on_delete=models.PROTECT, related_name="policy_version"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "version"], name="one_policy_per_version")
        ]

    def __str__(self) -> str:
        return f"policy {self.version} of {self.workspace_id}"


append_only("review_policyversion")


class ProposalQuerySet(models.QuerySet["Proposal"]):
    def within(self, workspaces: list[UUID]) -> ProposalQuerySet:
        return self.filter(workspace_id__in=workspaces)

    def live(self, now: datetime) -> ProposalQuerySet:
        """Leave out what has run out of time, whether or not a sweeper has met it."""
        return self.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))

    def overdue(self, now: datetime) -> ProposalQuerySet:
        return self.filter(status__in=[s.value for s in EXPIRING], expires_at__lte=now)


class Proposal(models.Model):
    """What is asked. The row carries the current revision; earlier ones stand beside it.

    `erased_by` is the proposal that erased what this one said. No key to it: the database may be an older copy.
    `same_key` is equal for calls that are alike: review/domain/sameness.py.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="proposals")
    agent = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT, related_name="proposals")
    principal = models.UUIDField()
    tool = models.CharField(max_length=128)
    kind = models.CharField(max_length=16)
    summary = models.CharField(max_length=300)
    same_key = models.CharField(max_length=64, null=True)  # noqa: DJ001  null: older than the column
    status = models.CharField(max_length=20, choices=[(s.value, s.value) for s in Status])
    revision = models.PositiveIntegerField()
    binding = models.CharField(max_length=64)
    risk = models.CharField(max_length=8)
    risk_rank = models.PositiveSmallIntegerField()
    approvals_required = models.PositiveSmallIntegerField()
    approvals_given = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    expires_in = models.PositiveIntegerField(null=True)
    decided_at = models.DateTimeField(null=True)
    run_id = models.CharField(max_length=200, null=True)  # noqa: DJ001  null is "not said"
    tool_call_id = models.CharField(max_length=200, null=True)  # noqa: DJ001  null is "not said"
    reason = models.TextField(null=True)  # noqa: DJ001  null is "not said"
    fields = models.JSONField(default=list)
    outcome = models.JSONField(null=True)
    erased_at = models.DateTimeField(null=True)
    erased_by = models.UUIDField(null=True)

    objects = ProposalQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=[s.value for s in Status]), name="proposal_status_is_known"
            ),
            models.CheckConstraint(condition=Q(revision__gte=1), name="proposal_has_a_revision"),
            models.CheckConstraint(condition=Q(approvals_required__gte=1), name="proposal_needs_somebody"),
            models.CheckConstraint(
                condition=Q(expires_at__isnull=False) | ~Q(status__in=[s.value for s in EXPIRING]),
                name="only_held_proposals_never_expire",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "status", "-risk_rank", "expires_at", "id"],
                name="proposals_in_queue_order",
            ),
            models.Index(
                F("workspace"),
                Coalesce("decided_at", "expires_at", "created_at").desc(),
                F("id").desc(),
                name="proposals_newest_end_first",
            ),
            models.Index(fields=["workspace", "status", "submitted_at"], name="proposals_by_submission"),
            models.Index(fields=["workspace", "status", "created_at", "id"], name="proposals_oldest_first"),
            models.Index(fields=["workspace", "tool", "-id"], name="proposals_of_a_tool_by_age"),
            models.Index(fields=["agent", "-id"], name="proposals_of_an_agent"),
            models.Index(fields=["agent", "status", "decided_at"], name="proposals_of_an_agent_by_state"),
            models.Index(
                fields=["expires_at"],
                condition=Q(status__in=[s.value for s in EXPIRING]),
                name="proposals_by_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.id}"


class Revision(models.Model):
    """One version of a proposal's arguments, with all that its binding covers. Never changed, only emptied.

    `deciding_digest` is that of the rule whose quorum counts: of `memory.release` while it is held.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    arguments = models.TextField()
    arguments_digest = models.CharField(max_length=64)
    binding = models.CharField(max_length=64)
    bound_expiry = models.CharField(max_length=20)
    rule = models.TextField()
    rule_digest = models.CharField(max_length=71)
    schema_digest = models.CharField(max_length=71)
    deciding_digest = models.CharField(max_length=71, default="")
    gate = models.JSONField()
    conflict_set = models.JSONField()
    author_person = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    token = models.ForeignKey(AgentToken, null=True, on_delete=models.PROTECT, related_name="+")
    rationale = models.TextField(blank=True)
    evidence = models.JSONField(default=list)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["proposal", "number"], name="one_revision_per_number")]
        ordering = ["number"]

    def __str__(self) -> str:
        return f"revision {self.number} of {self.proposal_id}"


append_only("review_revision", emptied={"arguments": "{}", "rationale": "", "evidence": "[]"})


class Conflict(models.Model):
    """A person who may not approve a proposal, with why. Rows are added with each revision, never taken away."""

    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="conflicts")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=32)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["proposal", "person"], name="one_conflict_per_person")]

    def __str__(self) -> str:
        return f"{self.person_id} may not decide {self.proposal_id}: {self.reason}"


append_only("review_conflict")


class Decision(models.Model):
    """One person's verdict on one revision, with how he was signed in and what he was shown."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="decisions")
    revision = models.PositiveIntegerField()
    binding = models.CharField(max_length=64)
    verdict = models.CharField(max_length=16, choices=[(v.value, v.value) for v in Verdict])
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="decisions")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    issuer = models.CharField(max_length=64)
    session = models.CharField(max_length=64)
    methods = models.JSONField(default=list)
    auth_time = models.DateTimeField(null=True)
    shown = models.CharField(max_length=64)
    nonce = models.CharField(max_length=64, unique=True)
    reason = models.TextField(blank=True)
    fields = models.JSONField(default=list)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["proposal", "binding", "person"],
                condition=Q(verdict=Verdict.APPROVE.value),
                name="one_approval_per_person_and_binding",
            ),
            models.CheckConstraint(
                condition=Q(verdict__in=[v.value for v in Verdict]), name="decision_verdict_is_known"
            ),
        ]
        indexes = [models.Index(fields=["person", "-created_at"], name="decisions_of_a_person_by_age")]
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.person_id}"


append_only("review_decision", emptied={"reason": ""})


class Comment(models.Model):
    """What a person says to the others about a proposal. No vote, not part of what runs, and no agent reads it.

    It stays as it was written and can only be emptied, by an erasure. `pointer` names a place of the arguments, or
    is empty. The closed list of what the log records has no word for it: see docs/decisions.md.
    """

    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="comments")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    revision = models.PositiveIntegerField()
    pointer = models.TextField(blank=True)
    text = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at"]
        indexes = [models.Index(fields=["proposal", "created_at"], name="comments_of_a_proposal_by_age")]

    def __str__(self) -> str:
        return f"{self.person_id} on {self.proposal_id}"


append_only("review_comment", emptied={"pointer": "", "text": ""})


class Look(models.Model):
    """When a person last had something new of a revision on the screen: his diff begins at an earlier one."""

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="looks")
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="looks")
    revision = models.PositiveIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["proposal", "person", "revision"], name="one_look_per_revision")
        ]

    def __str__(self) -> str:
        return f"{self.person_id} saw {self.revision} of {self.proposal_id}"


class Claim(models.Model):
    """Somebody says that he is looking at a proposal, until it ends by itself. It keeps nobody from deciding.

    Like a comment it has no entry in the log: see docs/decisions.md.
    """

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="claims")
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    since = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["proposal", "person"], name="one_claim_per_person"),
            models.CheckConstraint(condition=Q(until__gt=F("since")), name="claim_ends_after_it_began"),
        ]
        ordering = ["since"]

    def __str__(self) -> str:
        return f"{self.person_id} is on {self.proposal_id}"


disposable("review_claim")


class SavedView(models.Model):
    """An address of the queue that a person has named: the part after the question mark, for himself alone."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=40)
    query = models.CharField(max_length=1200)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "name"], name="one_saved_view_per_name"),
        ]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


disposable("review_savedview")


class IdempotencyKey(models.Model):
    """A key that an agent has used, and the proposal it made."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=512)
    body_digest = models.CharField(max_length=71)
    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent", "key"], name="one_use_per_idempotency_key")]

    def __str__(self) -> str:
        return self.key


disposable("review_idempotencykey")


class Permit(models.Model):
    """A signed, single-use proof that an executor checks against what it is about to run."""

    jti = models.UUIDField(primary_key=True, default=new_id, editable=False)
    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="permit")
    token = models.TextField()
    audience = models.CharField(max_length=64)
    arguments_digest = models.CharField(max_length=64)
    redeem_key = models.CharField(max_length=512, null=True)  # noqa: DJ001  null is "not said"
    redeemed_by = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+")
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    spent_at = models.DateTimeField(null=True)
    reported_at = models.DateTimeField(null=True)
    voided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("issued_at")), name="permit_ends_after_issue"
            ),
            models.CheckConstraint(
                condition=Q(spent_at__isnull=True) | Q(voided_at__isnull=True), name="permit_spent_or_voided"
            ),
        ]

    def __str__(self) -> str:
        return str(self.jti)


append_only("review_permit", once=("spent_at", "reported_at", "voided_at"))
