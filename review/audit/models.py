"""The rows of the log. Only `log`, `checkpoints` and `private` write them; the database refuses the rest.

The canonical text of an entry is the entry. Every other column of it is derived from that text, for
the chain, the tree and the filters, and `verify` derives it again.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint

DIGEST = 64  # hex digits of a SHA-256
TIME = 27  # characters of 2026-11-30T10:00:00.000000Z


class Head(models.Model):
    """Where the log ends: the one row that each new entry locks, last of all rows.

    `frontier` is the tree of the leaves (`chain.Frontier.text`), `leaf` and `time` are the last
    entry's.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    log = models.CharField(max_length=200)
    size = models.BigIntegerField()
    leaf = models.CharField(max_length=DIGEST)
    frontier = models.TextField()
    time = models.CharField(max_length=TIME)

    class Meta:
        db_table = "audit_head"
        constraints: ClassVar = [CheckConstraint(condition=Q(id=1), name="audit_one_head")]

    def __str__(self) -> str:
        return f"{self.log}, {self.size} entries"


class Entry(models.Model):
    """One thing that was done.

    `subtrees` are the hashes of the subtrees that this leaf completed, in hex, `stamp` is the time; ids are
    text as in the canonical text, so that a walk compares columns without converting them.
    """

    seq = models.BigIntegerField(primary_key=True)
    canonical = models.TextField()
    prev = models.CharField(max_length=DIGEST)
    leaf = models.CharField(max_length=DIGEST)
    subtrees = models.TextField()
    stamp = models.CharField(max_length=TIME)
    action = models.CharField(max_length=40)
    workspace = models.TextField(null=True)  # noqa: DJ001  null is "no such member", as in the text
    person = models.TextField(null=True)  # noqa: DJ001
    account = models.TextField(null=True)  # noqa: DJ001
    agent = models.TextField(null=True)  # noqa: DJ001
    object_type = models.TextField(null=True)  # noqa: DJ001
    object_id = models.TextField(null=True)  # noqa: DJ001
    proposal = models.TextField(null=True)  # noqa: DJ001
    tool = models.TextField(null=True)  # noqa: DJ001

    class Meta:
        db_table = "audit_entry"
        constraints: ClassVar = [
            CheckConstraint(condition=Q(seq__gte=0), name="audit_entry_from_zero"),
            UniqueConstraint(fields=["leaf"], name="audit_entry_leaf_once"),
        ]
        indexes: ClassVar = [
            Index(fields=["workspace", "seq"], name="audit_entry_workspace"),
            Index(fields=["workspace", "action", "seq"], name="audit_entry_action"),
            Index(fields=["workspace", "person", "seq"], name="audit_entry_person"),
            Index(fields=["workspace", "agent", "seq"], name="audit_entry_agent"),
            Index(fields=["workspace", "tool", "seq"], name="audit_entry_tool"),
            Index(fields=["proposal", "seq"], name="audit_entry_proposal"),
            Index(fields=["object_id", "seq"], name="audit_entry_object"),
            Index(fields=["stamp", "seq"], name="audit_entry_stamp"),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.action}"

    @property
    def time(self) -> datetime:
        """When it was done, in UTC."""
        return datetime.fromisoformat(self.stamp)


class PrivateText(models.Model):
    """A text that a person wrote, kept beside the chain so that it can be erased; the entry commits to it.

    Salt and text go together: with the salt kept, a short text could be guessed from its commitment.
    """

    id = models.BigAutoField(primary_key=True)
    seq = models.BigIntegerField()
    name = models.CharField(max_length=40)
    salt = models.BinaryField(null=True)
    text = models.TextField(null=True)  # noqa: DJ001  null is "erased", empty is an empty text

    class Meta:
        db_table = "audit_private_text"
        constraints: ClassVar = [
            UniqueConstraint(fields=["seq", "name"], name="audit_private_text_once"),
            CheckConstraint(
                condition=Q(salt__isnull=True, text__isnull=True) | Q(salt__isnull=False, text__isnull=False),
                name="audit_private_text_whole_or_erased",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.seq}"


class Checkpoint(models.Model):
    """A signed note over the root of the first `size` entries; the witness file holds the same notes."""

    size = models.BigIntegerField(primary_key=True)
    note = models.TextField()
    stamp = models.CharField(max_length=TIME)

    class Meta:
        db_table = "audit_checkpoint"
        constraints: ClassVar = [CheckConstraint(condition=Q(size__gt=0), name="audit_checkpoint_not_empty")]

    def __str__(self) -> str:
        return f"checkpoint of {self.size}"

    @property
    def time(self) -> datetime:
        """When it was signed, in UTC."""
        return datetime.fromisoformat(self.stamp)
