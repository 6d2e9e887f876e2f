"""Records that agents may recall, and the values that people have rejected."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import reduce
from operator import or_
from typing import NamedTuple
from uuid import UUID

from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from huqan_site.lib.ids import new_id
from memory.domain import arguments
from memory.domain.validity import Interval
from review.access.models import Agent, Person, Workspace
from review.audit.grants import disposable
from review.audit.guards import append_only
from review.models import Proposal


class Trust(models.TextChoices):
    TRUSTED = "trusted"
    QUARANTINED = "quarantined"


class Lifecycle(models.TextChoices):
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    RETRACTED = "retracted"
    DISCARDED = "discarded"
    ERASED = "erased"


class ValueKey(NamedTuple):
    """A value as a keyed digest: the id of the HMAC key, and the hexadecimal digest under it."""

    key_id: str
    digest: str


def value_is_one_of(keys: Iterable[ValueKey]) -> Q:
    """The condition that a row's value has one of `keys`; without any key nothing has it."""
    return reduce(or_, (Q(value_key=key.digest, value_key_id=key.key_id) for key in keys), Q(pk__in=()))


def outlived_at(as_of: datetime) -> Q:
    """The condition that a record held at `as_of` and that what took its place holds only from later on."""
    later = MemoryRecord.objects.filter(supersedes=OuterRef("pk"), valid_from__gt=as_of)
    begun = Q(valid_from__isnull=True) | Q(valid_from__lte=as_of)
    not_over = Q(valid_to__isnull=True) | Q(valid_to__gt=as_of)
    return Q(Exists(later), begun, not_over, lifecycle=Lifecycle.SUPERSEDED)


class RecordQuerySet(models.QuerySet["MemoryRecord"]):
    def recallable(
        self, scope: UUID, known_at: datetime | None = None, as_of: datetime | None = None
    ) -> RecordQuerySet:
        """The allow-list of every agent-facing read: this workspace, trusted and active, now or at `known_at`.

        Asked for the world `as_of`, what was superseded from a later time on is in it too: it held then. What is in
        quarantine now is never in it, whatever it was before: a date in the past is no way round.
        """
        trusted = self.filter(workspace_id=scope, trust=Trust.TRUSTED)
        outlived = outlived_at(as_of) if as_of else Q(pk__in=())
        if known_at is None:
            return trusted.filter(Q(lifecycle=Lifecycle.ACTIVE) | outlived)
        standing = Q(retired_at__isnull=True) | Q(retired_at__gt=known_at)
        away = Absence.objects.filter(record=OuterRef("pk"), since__lte=known_at, until__gt=known_at)
        known = trusted.filter(standing | outlived, ~Exists(away), trusted_at__lte=known_at)
        return known.exclude(lifecycle=Lifecycle.ERASED)

    def unrecallable(self, scope: UUID) -> RecordQuerySet:
        """The rest of this workspace: for people only."""
        return self.filter(workspace_id=scope).exclude(trust=Trust.TRUSTED, lifecycle=Lifecycle.ACTIVE)

    def held(self) -> RecordQuerySet:
        """What waits in quarantine for people to release or discard it."""
        return self.filter(trust=Trust.QUARANTINED, lifecycle=Lifecycle.ACTIVE)

    def held_for(self, proposal: Proposal) -> RecordQuerySet:
        """What waits in quarantine for `proposal` to be decided: the text that it brought, or what it set aside."""
        brought = Q(proposal=proposal, held_by__isnull=True)
        return self.held().filter(brought | Q(held_by=proposal))

    def once_held(self) -> RecordQuerySet:
        """What is or was in quarantine. What was written straight away is trusted from the moment it is recorded."""
        came_in_held = Q(trusted_at__isnull=True) | ~Q(trusted_at=F("recorded_at"))
        return self.filter(came_in_held | Q(held_by__isnull=False))

    def with_value(self, keys: Iterable[ValueKey]) -> RecordQuerySet:
        """Records whose value has one of `keys`: the same value under each retained key."""
        return self.filter(value_is_one_of(keys))


class MemoryRecord(models.Model):
    """One remembered text with its source, its trust and its place in time.

    `proposal` wrote it. `held_by` is the latest release that a person began by putting it into quarantine, if one did.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="records")
    content = models.TextField()
    subject = models.CharField(max_length=500, null=True)  # noqa: DJ001  null is not said, empty would be said
    predicate = models.CharField(max_length=500, null=True)  # noqa: DJ001  null is not said, empty would be said
    topic = models.CharField(max_length=64, null=True)  # noqa: DJ001
    trust = models.CharField(max_length=12, choices=Trust.choices)
    lifecycle = models.CharField(max_length=12, choices=Lifecycle.choices)
    lang = models.CharField(max_length=8)
    tokens = models.TextField()
    tokenizer = models.PositiveSmallIntegerField()
    value_key = models.CharField(max_length=64)
    value_key_id = models.CharField(max_length=64)
    provenance = models.JSONField(null=True)
    confidence = models.FloatField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    recorded_at = models.DateTimeField()
    trusted_at = models.DateTimeField(null=True)
    retired_at = models.DateTimeField(null=True)
    supersedes = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="superseded_by")
    agent = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT, related_name="records")
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="records")
    held_by = models.ForeignKey(
        Proposal, null=True, on_delete=models.PROTECT, related_name="set_aside", db_index=False
    )

    objects = RecordQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(trust__in=Trust.values), name="record_trust_is_known"),
            models.CheckConstraint(
                condition=Q(lifecycle__in=Lifecycle.values), name="record_lifecycle_is_known"
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_to__isnull=True)
                | Q(valid_to__gt=F("valid_from")),
                name="record_validity_is_an_interval",
            ),
            models.CheckConstraint(
                condition=Q(confidence__isnull=True) | Q(confidence__gte=0, confidence__lte=1),
                name="record_confidence_is_a_probability",
            ),
            models.CheckConstraint(
                condition=Q(trust=Trust.QUARANTINED) | Q(trusted_at__isnull=False),
                name="trusted_record_says_since_when",
            ),
            models.CheckConstraint(
                condition=Q(lifecycle=Lifecycle.ACTIVE, retired_at__isnull=True)
                | (~Q(lifecycle=Lifecycle.ACTIVE) & Q(retired_at__isnull=False)),
                name="retired_record_says_since_when",
            ),
            models.UniqueConstraint(
                fields=["workspace", "value_key", "value_key_id"],
                condition=Q(trust=Trust.TRUSTED, lifecycle=Lifecycle.ACTIVE),
                name="one_active_trusted_record_per_value",
            ),
            models.UniqueConstraint(
                fields=["proposal"],
                condition=Q(trust=Trust.QUARANTINED, lifecycle=Lifecycle.ACTIVE),
                name="one_held_record_per_proposal",
            ),
            models.UniqueConstraint(fields=["held_by"], name="one_record_set_aside_per_release"),
        ]
        indexes = [
            models.Index(fields=["workspace", "trust", "lifecycle", "id"], name="records_by_standing"),
            models.Index(fields=["workspace", "topic"], name="records_by_topic"),
            models.Index(
                fields=["workspace", "value_key", "value_key_id", "id"],
                condition=Q(held_by__isnull=False),
                name="records_set_aside_by_value",
            ),
        ]

    def __str__(self) -> str:
        return f"record {self.id}"

    @property
    def holds(self) -> Interval:
        """When it holds in the world."""
        return Interval(self.valid_from, self.valid_to)

    @property
    def is_recallable(self) -> bool:
        """Whether agents may recall it now, as `RecordQuerySet.recallable` has it."""
        return self.trust == Trust.TRUSTED and self.lifecycle == Lifecycle.ACTIVE

    @property
    def held_under(self) -> Proposal:
        """The proposal by which it is, or was last, released or discarded."""
        return self.held_by or self.proposal

    @property
    def held_since(self) -> datetime:
        """When it came, or was last put, into quarantine."""
        return self.held_by.created_at if self.held_by else self.recorded_at


class TombstoneQuerySet(models.QuerySet["Tombstone"]):
    def standing(self, scope: UUID) -> TombstoneQuerySet:
        """Tombstones of this workspace that nobody lifted."""
        return self.filter(workspace_id=scope, lifted_at__isnull=True)

    def with_value(self, keys: Iterable[ValueKey]) -> TombstoneQuerySet:
        return self.filter(value_is_one_of(keys))


class RecordEvidence(models.Model):
    """Another proposal that said the same as a record: no second record, one more source."""

    record = models.ForeignKey(MemoryRecord, on_delete=models.PROTECT, related_name="evidence")
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="+")
    agent = models.ForeignKey(Agent, null=True, on_delete=models.PROTECT, related_name="+")
    provenance = models.JSONField(null=True)
    added_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["record", "proposal"], name="one_piece_of_evidence_per_proposal")
        ]

    def __str__(self) -> str:
        return f"evidence for {self.record_id}"


class Absence(models.Model):
    """When a record that was restored had been archived: from `since` until just before `until` nobody recalled it."""

    record = models.ForeignKey(MemoryRecord, on_delete=models.PROTECT, related_name="absences")
    since = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(until__gte=F("since")), name="absence_is_an_interval")
        ]

    def __str__(self) -> str:
        return f"absence of {self.record_id}"


append_only("memory_absence")


class FormerValidity(models.Model):
    """How long a record was said to hold before that was closed or corrected: known in the system until `until`."""

    record = models.ForeignKey(MemoryRecord, on_delete=models.PROTECT, related_name="former_validity")
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_to__isnull=True)
                | Q(valid_to__gt=F("valid_from")),
                name="former_validity_is_an_interval",
            )
        ]

    def __str__(self) -> str:
        return f"former validity of {self.record_id}"


append_only("memory_formervalidity")


class Answer(models.TextChoices):
    """What a person can make of a conflict."""

    KEEP_OLD = arguments.KEEP_OLD
    KEEP_NEW = arguments.KEEP_NEW
    KEEP_BOTH = arguments.KEEP_BOTH
    REMOVE_BOTH = arguments.REMOVE_BOTH


class ConflictQuerySet(models.QuerySet["RecordConflict"]):
    def unresolved(self) -> ConflictQuerySet:
        return self.filter(resolved_at__isnull=True)

    def open(self) -> ConflictQuerySet:
        """Those that wait for a person: nobody resolved them, both sides stand and hold at one time.

        A side that is archived takes its conflict with it, and brings it back when it is restored.
        """
        sides = {
            f"{side}__{column}": value
            for side in ("older", "newer")
            for column, value in (("trust", Trust.TRUSTED), ("lifecycle", Lifecycle.ACTIVE))
        }
        return self.unresolved().filter(
            _begins_before_end("older", "newer"), _begins_before_end("newer", "older"), **sides
        )


def _begins_before_end(one: str, other: str) -> Q:
    """The condition that `one` begins to hold before `other` ends: both ways it says that they share a moment."""
    return (
        Q(**{f"{one}__valid_from__isnull": True})
        | Q(**{f"{other}__valid_to__isnull": True})
        | Q(**{f"{one}__valid_from__lt": F(f"{other}__valid_to")})
    )


class RecordConflict(models.Model):
    """Two trusted records that say different things about one subject and predicate at one time.

    `older` and `newer` in the order in which they came. `proposal` brought it about, `resolution` settled it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="record_conflicts")
    older = models.ForeignKey(MemoryRecord, on_delete=models.PROTECT, related_name="conflicts_with_newer")
    newer = models.ForeignKey(MemoryRecord, on_delete=models.PROTECT, related_name="conflicts_with_older")
    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField()
    answer = models.CharField(max_length=12, choices=Answer.choices, null=True)  # noqa: DJ001  null: none yet
    resolution = models.ForeignKey(Proposal, null=True, on_delete=models.PROTECT, related_name="+")
    resolved_at = models.DateTimeField(null=True)

    objects = ConflictQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(older=F("newer")), name="conflict_has_two_sides"),
            models.CheckConstraint(
                condition=Q(answer__isnull=True, resolution__isnull=True, resolved_at__isnull=True)
                | Q(answer__in=Answer.values, resolution__isnull=False, resolved_at__isnull=False),
                name="resolved_conflict_says_how",
            ),
            models.UniqueConstraint(
                fields=["older", "newer"],
                condition=Q(resolved_at__isnull=True),
                name="one_unresolved_conflict_per_pair",
            ),
        ]
        indexes = [models.Index(fields=["workspace", "resolved_at", "id"], name="conflicts_by_standing")]

    def __str__(self) -> str:
        return f"conflict {self.id}"

    @property
    def is_open(self) -> bool:
        """Whether it waits for a person, as `ConflictQuerySet.open` has it."""
        return (
            self.resolved_at is None
            and self.older.is_recallable
            and self.newer.is_recallable
            and self.older.holds.overlaps(self.newer.holds)
        )


append_only("memory_recordconflict", once=("answer", "resolution_id", "resolved_at"))


class Tombstone(models.Model):
    """A rejected value, kept as a keyed digest. It never expires.

    `person` is null where it was put back into an older copy of the database, which does not know him.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="tombstones")
    value_key = models.CharField(max_length=64)
    value_key_id = models.CharField(max_length=64)
    proposal = models.ForeignKey(Proposal, null=True, on_delete=models.PROTECT, related_name="tombstones")
    person = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True)

    objects = TombstoneQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "value_key", "value_key_id"],
                condition=Q(lifted_at__isnull=True),
                name="one_standing_tombstone_per_value",
            )
        ]

    def __str__(self) -> str:
        return f"tombstone {self.id}"


append_only("memory_tombstone", once=("lifted_at",))


class Erasure(models.Model):
    """What one proposal erased: which rows, how much of each kind, and what a search for the text found afterwards.

    Its id is that of the proposal. `targets` names rows only: `{records, proposals, words}`, lists of ids, where
    `words` are proposals of which only the words around their arguments went. `scan` and `swept_at` come once the
    bytes are gone from the files.
    """

    id = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="erasures")
    targets = models.JSONField()
    counts = models.JSONField()
    erased_at = models.DateTimeField()
    scan = models.JSONField(null=True)
    swept_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"erasure {self.id}"


append_only("memory_erasure", once=("scan", "swept_at"))


class RecallEpoch(models.Model):
    """What a search needs to know of a workspace as a whole; `memory.recall_index` keeps it, in the database.

    `epoch` rises when what may be recalled changes other than by a new record, so that every server drops its
    index. `records` may be recalled and hold `words` terms, repeats counted, read by no older a version of the
    tokenizer than `tokenizer`.
    """

    workspace = models.OneToOneField(Workspace, primary_key=True, on_delete=models.CASCADE, related_name="+")
    epoch = models.BigIntegerField(default=0)
    records = models.BigIntegerField(default=0)
    words = models.BigIntegerField(default=0)
    tokenizer = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return f"epoch {self.epoch} of {self.workspace_id}"


class RecallTerm(models.Model):
    """In how many records of a workspace that may be recalled a term is found; `memory.recall_index` keeps it."""

    pk = models.CompositePrimaryKey("workspace_id", "term")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    term = models.TextField()
    records = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.term} in {self.records} records of {self.workspace_id}"


disposable("memory_recallterm")
