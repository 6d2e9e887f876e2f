"""What approved changes of one record do, and all that the gate has to know about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from huqan_site.lib.canonical_json import canonical
from memory import preview, signals, three_way
from memory.domain.admission import examine
from memory.domain.arguments import (
    MEMORY_RELEASE,
    MEMORY_RETRACT,
    MEMORY_SUPERSEDE,
    ONE_RECORD,
    TOMBSTONE_LIFT,
    Arguments,
    moment,
    record_of,
    tombstone_of,
)
from memory.domain.masking import masked_value
from memory.effects import Masked, MemoryWrite
from memory.gateway import quarantine, retire
from memory.gateway.columns import as_arguments
from memory.gateway.restore import restore
from memory.gateway.supersede import supersede
from memory.gateway.tombstones import lift
from memory.models import Lifecycle, MemoryRecord
from memory.queries import admission, rejected
from memory.way_back import way_back_of
from review.access.actors import Actor
from review.audit.log import ObjectRef
from review.domain.gate import Signal
from review.effects import NeverHeld, PreviewRow, Submission, ThreeWay, Version, WayBack
from review.models import Proposal


class OfOneRecord:
    """What the tools share that name the record that they change, and leave it as the first row of `becomes` says."""

    becomes: Callable[[MemoryRecord], list[PreviewRow]]

    def base(self, proposal: Proposal, arguments: Arguments) -> str | None:
        """The record as it stands, its secrets said in words."""
        record = admission.trusted(proposal.workspace_id, record_of(arguments))
        return as_it_stands(record) if record else None

    def target(self, arguments: Arguments) -> ObjectRef | None:
        return ObjectRef("record", record_of(arguments))

    def three_way(self, proposal: Proposal, arguments: Arguments, then: Version) -> Iterable[ThreeWay]:
        record = admission.record(proposal.workspace_id, record_of(arguments))
        return three_way.rows(record, arguments, then, self.becomes(record)[0].after) if record else ()


class RecordChange(OfOneRecord, Masked, NeverHeld):
    """What the tools share that change one record and nothing else; it has to be active unless they say otherwise."""

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
    becomes = staticmethod(preview.of_superseding)

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
        taken = preview.of_superseding(replaced, moment(arguments, "valid_from")) if replaced else []
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


class MemoryRelease(Masked):
    """The effect of `memory.release {record, reason}`: what a reviewer put into quarantine is recalled again.

    Only people start it, by putting the record there: it is held from its first moment (I14).
    """

    schema = MEMORY_RELEASE

    def signals(self, submission: Submission) -> list[Signal]:
        return list(signals.releasing(submission))

    def hold(self, proposal: Proposal, arguments: Arguments, signals: Sequence[Signal], actor: Actor) -> None:
        quarantine.set_aside(proposal, record_of(arguments), by=actor)

    def let_go(self, proposal: Proposal, actor: Actor) -> None:
        quarantine.let_go(proposal, by=actor)

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        return quarantine.bring_back(proposal, by=actor).outcome()

    def discard(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, reason: str, *, tombstone: bool
    ) -> None:
        """What the record says is rejected for good, as a text is that was held when it came."""
        record = admission.record(proposal.workspace_id, record_of(arguments))
        assert record is not None, "a record is never deleted"
        quarantine.discard(proposal, record.content, by=actor, tombstone=tombstone)

    def preview(self, proposal: Proposal, arguments: Arguments) -> list[PreviewRow]:
        """It never waits outside quarantine, and that page says what each answer does."""
        return []

    def base(self, proposal: Proposal, arguments: Arguments) -> str | None:
        """The record itself stands on the quarantine page."""
        return None

    def target(self, arguments: Arguments) -> ObjectRef | None:
        """Nothing else happens to what is held."""
        return None

    def three_way(self, proposal: Proposal, arguments: Arguments, then: Version) -> Iterable[ThreeWay]:
        """Without a target nothing overtakes it."""
        return ()

    def way_back(self, proposal: Proposal) -> WayBack | None:
        return way_back_of(proposal)

    def origins(self, workspace: UUID, arguments: Arguments) -> list[UUID]:
        """Whoever could not approve what wrote the record does not let it out either."""
        record = admission.record(workspace, record_of(arguments))
        return [record.proposal_id] if record else []


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
    return canonical({"record": str(record.id), **masked_value(as_arguments(record))})
