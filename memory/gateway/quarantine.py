"""Quarantine that holds: the text is stored, people see it, no agent does, and people alone let it out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.gateway.columns import columns
from memory.gateway.conflicts import open_against
from memory.gateway.entries import note, standing
from memory.gateway.retire import retire, trusted
from memory.gateway.stillness import stand_still
from memory.gateway.tombstones import bury, refuse_rejected
from memory.gateway.values import keys_of
from memory.gateway.write import Admission, Admitted, corroborate
from memory.models import Absence, Lifecycle, MemoryRecord, Trust
from review.access.actors import Actor
from review.audit.actions import Action
from review.models import Proposal


def hold(proposal: Proposal, arguments: Mapping[str, Any], *, by: Actor) -> MemoryRecord:
    """Store the text of a quarantined proposal out of every agent's reach, and return its record.

    A proposal has one held record: a further revision replaces its text. Raises: Unavailable.
    """
    scope = proposal.workspace_id
    stand_still()
    record = MemoryRecord.objects.held_for(proposal).first() or MemoryRecord(
        workspace_id=scope,
        agent_id=proposal.agent_id,
        proposal=proposal,
        trust=Trust.QUARANTINED,
        lifecycle=Lifecycle.ACTIVE,
        recorded_at=timezone.now(),
    )
    before = None if record._state.adding else standing(record)
    for name, value in columns(arguments, keys_of(scope, arguments["content"])[0]).items():
        setattr(record, name, value)
    record.save()
    note(Action.MEMORY_QUARANTINED, record, proposal, by, before=before, after=standing(record))
    return record


def set_aside(proposal: Proposal, record_id: UUID, *, by: Actor) -> None:
    """Put the trusted record that `proposal` would release again into quarantine, now.

    Does nothing where it is held for `proposal` already. Raises: NotFound, Inactive.
    """
    stand_still()
    if MemoryRecord.objects.held_for(proposal).exists():
        return
    record = trusted(proposal, record_id, Lifecycle.ACTIVE)
    before = standing(record)
    record.trust, record.held_by = Trust.QUARANTINED, proposal
    record.save(update_fields=["trust", "held_by"])
    note(Action.MEMORY_QUARANTINED, record, proposal, by, before=before, after=standing(record))


def bring_back(proposal: Proposal, *, by: Actor) -> Admitted:
    """Trust the record again that was set aside for `proposal`; while it was held stays known.

    Where a trusted record has come to say the same, that one gets one more source and takes its place.
    Raises: Tombstoned, Unavailable; MemoryRecord.DoesNotExist unless it is held.
    """
    scope = proposal.workspace_id
    stand_still()
    record = MemoryRecord.objects.held().get(held_by=proposal)
    keys = keys_of(scope, record.content)
    refuse_rejected(scope, keys)
    twin = MemoryRecord.objects.recallable(scope).with_value(keys).first()
    Absence.objects.create(record=record, since=record.held_since, until=timezone.now())
    _trust(record, proposal, by, lifecycle=Lifecycle.SUPERSEDED if twin else Lifecycle.ACTIVE)
    if twin:
        corroborate(twin, proposal, record.provenance, by=by)
        return Admitted(twin, Admission.CORROBORATED)
    return Admitted(record, Admission.RELEASED)


def release(proposal: Proposal, arguments: Mapping[str, Any], *, by: Actor) -> Admitted:
    """Make exactly the record that is held for `proposal` trusted, now that its quorum has agreed.

    Where a trusted record has come to say the same, that one gets one more source and the held one is discarded.
    Raises: Tombstoned, Unavailable; MemoryRecord.DoesNotExist unless precisely this text is held.
    """
    scope = proposal.workspace_id
    stand_still()
    record = MemoryRecord.objects.held().get(proposal=proposal, content=arguments["content"])
    keys = keys_of(scope, record.content)
    refuse_rejected(scope, keys)
    twin = MemoryRecord.objects.recallable(scope).with_value(keys).first()
    if twin:
        corroborate(twin, proposal, record.provenance, by=by)
        _retire(record, proposal, by)
        return Admitted(twin, Admission.CORROBORATED)
    _trust(record, proposal, by)
    return Admitted(record, Admission.RELEASED)


def let_go(proposal: Proposal, *, by: Actor) -> None:
    """Retire what is held for `proposal`, if anything is: it was withdrawn, or revised into what need not be held."""
    stand_still()
    record = MemoryRecord.objects.held_for(proposal).first()
    if record:
        _retire(record, proposal, by)


def discard(proposal: Proposal, content: str, *, by: Actor, tombstone: bool) -> None:
    """End what a rejected proposal would have written or let out; with `tombstone` its value is rejected for good.

    Raises: Unavailable where a tombstone is asked for and a key is missing.
    """
    let_go(proposal, by=by)
    if tombstone:
        bury(proposal, content, by=by)


def _trust(
    record: MemoryRecord, proposal: Proposal, by: Actor, *, lifecycle: Lifecycle = Lifecycle.ACTIVE
) -> None:
    """Trust it, again or for the first time: what was trusted before keeps the day from which it was."""
    before, now = standing(record), timezone.now()
    record.trust, record.trusted_at = Trust.TRUSTED, record.trusted_at or now
    record.lifecycle, record.retired_at = lifecycle, None if lifecycle is Lifecycle.ACTIVE else now
    record.save(update_fields=["trust", "trusted_at", "lifecycle", "retired_at"])
    note(Action.MEMORY_RELEASED, record, proposal, by, before=before, after=standing(record))
    if record.is_recallable:
        open_against(record, proposal, by=by)


def _retire(record: MemoryRecord, proposal: Proposal, by: Actor) -> None:
    """Discard a held record. It was never recallable, so no index knows it."""
    retire(record, Lifecycle.DISCARDED, Action.MEMORY_DISCARDED, proposal, by=by)
