"""What approved changes of one record do, and all that the gate has to know about them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from huqan_site.lib.canonical_json import canonical
from memory import preview, signals
from memory.domain.admission import examine
from memory.domain.arguments import (
    MEMORY_RETRACT,
    MEMORY_SUPERSEDE,
    ONE_RECORD,
    TOMBSTONE_LIFT,
    Arguments,
    record_of,
    tombstone_of,
)
from memory.domain.masking import masked, masked_value
from memory.effects import Masked, MemoryWrite
from memory.gateway import retire
from memory.gateway.restore import restore
from memory.gateway.supersede import supersede
from memory.gateway.tombstones import lift
from memory.models import Lifecycle, MemoryRecord
from memory.queries import admission, rejected
from review.access.actors import Actor
from review.audit.log import ObjectRef
from review.domain.gate import Signal
from review.effects import NeverHeld, PreviewRow, Submission
from review.models import Proposal

STATED = ("subject", "predicate", "provenance", "confidence", "valid_from", "valid_to", "expires_at")


class OfOneRecord:
    """What the tools share that name the record that they change."""

    def base(self, proposal: Proposal, arguments: Arguments) -> str | None:
        """The record as it stands, its secrets said in words."""
        record = admission.trusted(proposal.workspace_id, record_of(arguments))
        return as_it_stands(record) if record else None

    def target(self, arguments: Arguments) -> ObjectRef | None:
        return ObjectRef("record", record_of(arguments))


class RecordChange(OfOneRecord, Masked, NeverHeld):
    """What the tools share that change one record and nothing else; it has to be active unless they say otherwise."""

    becomes: Callable[[MemoryRecord], list[PreviewRow]]

    def signals(self, submission: Submission) -> list[Signal]:
        scope, record = submission.workspace.id, record_of(submission.arguments)
        return list(signals.named(scope, record, lifecycle=Lifecycle.ACTIVE))

    def preview(self, proposal: Proposal, arguments: Arguments) -> list[PreviewRow]:
        record = admission.trusted(proposal.workspace_id, record_of(arguments))
        return self.becomes(record) if record else []


class MemoryRetract(RecordChange):
    """The effect of `memory.retract {record, reason}`: nobody recalls it, and its value is rejected for good."""

    schema = MEMORY_RETRACT
    becomes = staticmethod(preview.of_retraction)

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        record, tombstone = retire.retract(proposal, record_of(arguments), by=actor)
        buried = str(tombstone.id) if tombstone else None
        return {"result": "succeeded", "record": str(record.id), "tombstone": buried}


class MemorySupersede(OfOneRecord, MemoryWrite):
    """The effect of `memory.supersede {record, content, …}`: a write that takes the place of a record."""

    schema = MEMORY_SUPERSEDE

    def signals(self, submission: Submission) -> list[Signal]:
        given_away = examine(submission.arguments, risk=submission.risk, now=submission.now)
        return [*given_away, *signals.superseding(submission.workspace.id, submission.arguments)]

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        admitted = supersede(proposal, arguments, by=actor, released=released)
        return admitted.outcome()

    def preview(self, proposal: Proposal, arguments: Arguments) -> list[PreviewRow]:
        replaced = admission.trusted(proposal.workspace_id, record_of(arguments))
        taken = preview.of_superseding(replaced) if replaced else []
        return taken + preview.rows(proposal, arguments, replacing=record_of(arguments))


class MemoryArchive(RecordChange):
    """The effect of `memory.archive {record}`: nobody recalls it until it is restored."""

    schema = ONE_RECORD
    becomes = staticmethod(preview.of_archiving)

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        record = retire.archive(proposal, record_of(arguments), by=actor)
        return {"result": "succeeded", "record": str(record.id)}


class MemoryRestore(RecordChange):
    """The effect of `memory.restore {record}`: what was archived is recalled again."""

    schema = ONE_RECORD
    becomes = staticmethod(preview.of_restoring)

    def signals(self, submission: Submission) -> list[Signal]:
        return list(signals.returning(submission.workspace.id, record_of(submission.arguments)))

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        record = restore(proposal, record_of(arguments), by=actor)
        return {"result": "succeeded", "record": str(record.id)}


class TombstoneLift(Masked, NeverHeld):
    """The effect of `tombstone.lift {tombstone, reason}`: its value can be proposed again. Only people start it."""

    schema = TOMBSTONE_LIFT

    def signals(self, submission: Submission) -> list[Signal]:
        return list(signals.lifting(submission.workspace.id, tombstone_of(submission.arguments)))

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        tombstone = lift(proposal, tombstone_of(arguments), by=actor)
        return {"result": "succeeded", "tombstone": str(tombstone.id)}

    def preview(self, proposal: Proposal, arguments: Arguments) -> list[PreviewRow]:
        tombstone = rejected.named(proposal.workspace_id, tombstone_of(arguments))
        return preview.of_lifting(tombstone) if tombstone else []

    def base(self, proposal: Proposal, arguments: Arguments) -> str | None:
        """What stands has no arguments of its own to compare with."""
        return None

    def target(self, arguments: Arguments) -> ObjectRef | None:
        return ObjectRef("tombstone", tombstone_of(arguments))


def as_it_stands(record: MemoryRecord) -> str:
    """Return what a record says, as canonical text, under the names that the arguments of a write have."""
    said = {name: _plain(getattr(record, name)) for name in STATED if getattr(record, name) is not None}
    return canonical({"record": str(record.id), "content": masked(record.content).text, **masked_value(said)})


def _plain(said: Any) -> Any:
    return said.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(said, datetime) else said
