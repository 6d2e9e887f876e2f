"""An approved write: a new trusted record, or one more source for the one that says the same."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from django.utils import timezone

from memory.gateway.columns import columns
from memory.gateway.conflicts import open_against
from memory.gateway.entries import note, standing
from memory.gateway.stillness import stand_still
from memory.gateway.tombstones import refuse_rejected
from memory.gateway.values import keys_of
from memory.models import Lifecycle, MemoryRecord, RecordEvidence, Trust
from memory.queries import admission
from review.access.actors import Actor
from review.audit.actions import Action
from review.models import Proposal


class Admission(StrEnum):
    """How a value came into memory, as the outcome of its proposal says."""

    ALLOW = "allow"
    RELEASED = "released"
    CORROBORATED = "corroborated"


class Admitted(NamedTuple):
    """The record that now says it, and how that came about."""

    record: MemoryRecord
    admission: Admission

    def outcome(self) -> dict[str, Any]:
        """Return the outcome of the proposal that asked for it."""
        return {
            "result": "succeeded",
            "admission": self.admission.value,
            "record": str(self.record.id),
            "facts": 0,
        }


def write(proposal: Proposal, arguments: Mapping[str, Any], *, by: Actor) -> Admitted:
    """Make the approved arguments of `proposal` a trusted, active record.

    A trusted record of the same value gets one more source instead: there is no second one.
    Raises: Tombstoned, Unavailable.
    """
    scope = proposal.workspace_id
    stand_still()
    keys = keys_of(scope, arguments["content"])
    refuse_rejected(scope, keys)
    twin = admission.twin(scope, keys)
    if twin:
        corroborate(twin, proposal, arguments.get("provenance"), by=by)
        return Admitted(twin, Admission.CORROBORATED)
    now = timezone.now()
    record = MemoryRecord.objects.create(
        workspace_id=scope,
        agent_id=proposal.agent_id,
        proposal=proposal,
        trust=Trust.TRUSTED,
        lifecycle=Lifecycle.ACTIVE,
        recorded_at=now,
        trusted_at=now,
        **columns(arguments, keys[0]),
    )
    note(Action.MEMORY_WRITTEN, record, proposal, by, after=standing(record))
    open_against(record, proposal, by=by)
    return Admitted(record, Admission.ALLOW)


def corroborate(
    record: MemoryRecord, proposal: Proposal, provenance: Mapping[str, Any] | None, *, by: Actor
) -> None:
    """Add `proposal` to the sources of a trusted record whose value it repeats."""
    evidence = RecordEvidence.objects.create(
        record=record,
        proposal=proposal,
        agent_id=proposal.agent_id,
        provenance=provenance,
        added_at=timezone.now(),
    )
    note(Action.MEMORY_CORROBORATED, record, proposal, by, after={"evidence": evidence.pk})
