"""Conflicts: opened when a trusted record comes to contradict another, open until people resolve them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.domain.arguments import conflict_of, validity_of
from memory.gateway.retire import retract
from memory.gateway.stillness import stand_still
from memory.gateway.validity import correct
from memory.models import Answer, MemoryRecord, RecordConflict
from memory.queries import admission
from review.access.actors import Actor
from review.audit import log
from review.audit.actions import Action
from review.domain.refusals import Inactive, NotFound
from review.models import Proposal

Arguments = Mapping[str, Any]


def open_against(record: MemoryRecord, proposal: Proposal, *, by: Actor) -> None:
    """Open a conflict with each trusted record that contradicts `record`, which `proposal` has brought into recall.

    One that nobody has resolved yet goes on: it has no second row.
    """
    for rival in admission.contradicted(record.workspace_id, record.topic, record.value_key, record.holds):
        if not RecordConflict.objects.unresolved().filter(_between(record, rival)).exists():
            _open(rival, record, proposal, by)


def resolve(proposal: Proposal, arguments: Arguments, *, by: Actor) -> RecordConflict:
    """Settle the open conflict that `arguments` name, by the answer that they give.

    What is removed is retracted, so its value is rejected for good. What is kept beside the other gets the times
    given; what was said of it before stays known. Raises: NotFound, Inactive, Invalid, Unavailable.
    """
    stand_still()
    conflict = _standing(proposal.workspace_id, conflict_of(arguments))
    answer = Answer(arguments["answer"])
    _CARRIED_OUT[answer](conflict, proposal, arguments, by)
    conflict.answer, conflict.resolution, conflict.resolved_at = answer, proposal, timezone.now()
    conflict.save(update_fields=["answer", "resolution", "resolved_at"])
    _note(Action.CONFLICT_RESOLVED, conflict, proposal, by)
    return conflict


def _standing(scope: UUID, id_: UUID) -> RecordConflict:
    rows = RecordConflict.objects.filter(workspace_id=scope, id=id_).select_related("older", "newer")
    if not rows.exists():
        raise NotFound
    conflict = rows.open().first()
    if conflict is None:
        raise Inactive(conflict=str(id_))
    return conflict


def _keep_old(conflict: RecordConflict, proposal: Proposal, arguments: Arguments, by: Actor) -> None:
    retract(proposal, conflict.newer_id, by=by)


def _keep_new(conflict: RecordConflict, proposal: Proposal, arguments: Arguments, by: Actor) -> None:
    retract(proposal, conflict.older_id, by=by)


def _remove_both(conflict: RecordConflict, proposal: Proposal, arguments: Arguments, by: Actor) -> None:
    for side in (conflict.older_id, conflict.newer_id):
        retract(proposal, side, by=by)


def _keep_both(conflict: RecordConflict, proposal: Proposal, arguments: Arguments, by: Actor) -> None:
    """Each may now hold at times at which another record says something else, so that is looked at again."""
    sides = ((conflict.older, "old"), (conflict.newer, "new"))
    for record, side in sides:
        correct(record, validity_of(arguments, side))
    for record, _ in sides:
        open_against(record, proposal, by=by)


_CARRIED_OUT: Mapping[Answer, Callable[[RecordConflict, Proposal, Arguments, Actor], None]] = {
    Answer.KEEP_OLD: _keep_old,
    Answer.KEEP_NEW: _keep_new,
    Answer.KEEP_BOTH: _keep_both,
    Answer.REMOVE_BOTH: _remove_both,
}


def _between(one: MemoryRecord, other: MemoryRecord) -> Q:
    return Q(older=one, newer=other) | Q(older=other, newer=one)


def _open(rival: MemoryRecord, record: MemoryRecord, proposal: Proposal, by: Actor) -> None:
    older, newer = sorted((rival, record), key=lambda side: (side.trusted_at or side.recorded_at, side.id))
    conflict = RecordConflict.objects.create(
        workspace_id=record.workspace_id,
        older=older,
        newer=newer,
        proposal=proposal,
        opened_at=timezone.now(),
    )
    _note(Action.CONFLICT_OPENED, conflict, proposal, by)


def _note(action: Action, conflict: RecordConflict, proposal: Proposal, by: Actor) -> None:
    sides = {"old": str(conflict.older_id), "new": str(conflict.newer_id)}
    log.record(
        action,
        actor=by.audit(),
        workspace=conflict.workspace_id,
        object=log.ObjectRef("conflict", conflict.id),
        binding=proposal.binding,
        after={**sides, "stands": conflict.answer or "open"},
        proposal=proposal.id,
        agent=proposal.agent_id,
        tool=proposal.tool,
    )
