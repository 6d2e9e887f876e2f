"""What takes a record out of every agent's reach: it is closed, never overwritten, and people still see it."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from django.utils import timezone

from memory.gateway.entries import note, standing
from memory.gateway.stillness import stand_still
from memory.gateway.tombstones import bury
from memory.models import Lifecycle, MemoryRecord, Tombstone, Trust
from review.access.actors import Actor, PersonActor
from review.audit.actions import Action
from review.domain.refusals import Inactive, NotFound
from review.models import Proposal


class Retracted(NamedTuple):
    """The record that was retracted, and the tombstone of its value where one was made."""

    record: MemoryRecord
    tombstone: Tombstone | None


def retract(proposal: Proposal, record_id: UUID, *, by: Actor) -> Retracted:
    """Retract the active record that `proposal` names, and reject its value for good.

    The tombstone takes a person, who is independent of the proposal because he approved it; where the policy let
    it through by itself there is none. Raises: NotFound, Inactive, Unavailable.
    """
    stand_still()
    record = trusted(proposal, record_id, Lifecycle.ACTIVE)
    retire(record, Lifecycle.RETRACTED, Action.MEMORY_RETRACTED, proposal, by=by)
    tombstone = bury(proposal, record.content, by=by) if isinstance(by, PersonActor) else None
    return Retracted(record, tombstone)


def archive(proposal: Proposal, record_id: UUID, *, by: Actor) -> MemoryRecord:
    """Archive the active record that `proposal` names: no agent reads it, and its value stays free.

    Raises: NotFound, Inactive.
    """
    stand_still()
    record = trusted(proposal, record_id, Lifecycle.ACTIVE)
    retire(record, Lifecycle.ARCHIVED, Action.MEMORY_ARCHIVED, proposal, by=by)
    return record


def trusted(proposal: Proposal, record_id: UUID, lifecycle: Lifecycle) -> MemoryRecord:
    """Return the trusted record of this id in the workspace of `proposal`, if it stands as `lifecycle`.

    Raises: NotFound, Inactive.
    """
    rows = MemoryRecord.objects.filter(workspace_id=proposal.workspace_id, trust=Trust.TRUSTED)
    record = rows.filter(id=record_id).first()
    if record is None:
        raise NotFound
    if record.lifecycle != lifecycle:
        raise Inactive(record=str(record.id))
    return record


def retire(record: MemoryRecord, to: Lifecycle, action: Action, proposal: Proposal, *, by: Actor) -> None:
    """Close `record` as `to`, now, and note what `proposal` did to it. The index follows by its triggers."""
    before = standing(record)
    record.lifecycle, record.retired_at = to, timezone.now()
    record.save(update_fields=["lifecycle", "retired_at"])
    note(action, record, proposal, by, before=before, after=standing(record))
