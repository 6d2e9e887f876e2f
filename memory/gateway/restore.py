"""What was archived comes back, unless its value was rejected or said anew meanwhile."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from huqan_site.lib.problems import FieldError
from memory.gateway.conflicts import open_against
from memory.gateway.entries import note, standing
from memory.gateway.retire import trusted
from memory.gateway.stillness import stand_still
from memory.gateway.tombstones import refuse_rejected
from memory.gateway.values import keys_of
from memory.models import Absence, Lifecycle, MemoryRecord
from memory.signals import SAID_AGAIN
from review.access.actors import Actor
from review.audit.actions import Action
from review.domain.refusals import Invalid
from review.models import Proposal


def restore(proposal: Proposal, record_id: UUID, *, by: Actor) -> MemoryRecord:
    """Make the archived record that `proposal` names active again; while it was away stays known.

    Raises: NotFound, Inactive, Tombstoned, Invalid where another record says the same, Unavailable.
    """
    scope = proposal.workspace_id
    stand_still()
    record = trusted(proposal, record_id, Lifecycle.ARCHIVED)
    keys = keys_of(scope, record.content)
    refuse_rejected(scope, keys)
    if twin := MemoryRecord.objects.recallable(scope).with_value(keys).first():
        raise Invalid(errors=[FieldError("/arguments/record", "invalid", SAID_AGAIN.format(twin.id))])
    before = standing(record)
    Absence.objects.create(record=record, since=record.retired_at or record.recorded_at, until=timezone.now())
    record.lifecycle, record.retired_at = Lifecycle.ACTIVE, None
    record.save(update_fields=["lifecycle", "retired_at"])
    note(Action.MEMORY_RESTORED, record, proposal, by, before=before, after=standing(record))
    open_against(record, proposal, by=by)
    return record
