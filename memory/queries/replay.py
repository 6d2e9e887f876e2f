"""What `verify` asks of memory: no record, tombstone or conflict without its entry, and none gone that has one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from memory.models import Lifecycle, MemoryRecord, RecordConflict, Tombstone
from review.audit.actions import Action
from review.audit.models import Entry
from review.audit.stretches import stretches
from review.audit.verify import register_replay
from review.models import Revision

STATED = ("content", "subject", "predicate", "provenance", "confidence")
FIRST = {
    "record": (Action.MEMORY_WRITTEN, Action.MEMORY_QUARANTINED),
    "tombstone": (Action.TOMBSTONE_CREATED,),
    "conflict": (Action.CONFLICT_OPENED,),
}


def register() -> None:
    """Let every whole verification look at memory too."""
    register_replay("memory", records)
    register_replay("tombstones", tombstones)
    register_replay("conflicts", conflicts)


def records() -> Iterator[str | None]:
    """Yield for each record, and for each that ought to be there, what is wrong with it, or None."""
    for chunk in stretches(MemoryRecord.objects.all()):
        told = _told("record", [record.id for record in chunk])
        stated = _stated([record.proposal_id for record in chunk])
        for record in chunk:
            yield _of_record(record, told.get(str(record.id)), stated.get(record.proposal_id, []))
    yield from _gone("record", MemoryRecord)


def tombstones() -> Iterator[str | None]:
    """Yield for each tombstone, and for each that ought to be there, what is wrong with it, or None."""
    for chunk in stretches(Tombstone.objects.all()):
        told = _told("tombstone", [tombstone.id for tombstone in chunk])
        for tombstone in chunk:
            after = told.get(str(tombstone.id), {})
            yield _of_tombstone(tombstone, after)
    yield from _gone("tombstone", Tombstone)


def conflicts() -> Iterator[str | None]:
    """Yield for each conflict, and for each that ought to be there, what is wrong with it, or None."""
    for chunk in stretches(RecordConflict.objects.all()):
        told = _told("conflict", [conflict.id for conflict in chunk], tells="stands")
        for conflict in chunk:
            yield _of_conflict(conflict, told.get(str(conflict.id)))
    yield from _gone("conflict", RecordConflict)


def _of_conflict(conflict: RecordConflict, told: Mapping[str, Any] | None) -> str | None:
    answer = conflict.answer or "open"
    stands = {"old": str(conflict.older_id), "new": str(conflict.newer_id), "stands": answer}
    if told is None or stands != {name: told.get(name) for name in stands}:
        return f"Conflict {conflict.id} is not as the log tells of it."
    return None


def _of_tombstone(tombstone: Tombstone, told: Mapping[str, Any]) -> str | None:
    if told.get("value") != tombstone.value_key:
        return f"Tombstone {tombstone.id} is not the one that the log tells of."
    if told.get("lifted", False) != (tombstone.lifted_at is not None):
        stands = "stands" if tombstone.lifted_at is None else "is lifted"
        return f"Tombstone {tombstone.id} {stands}; its last entry says otherwise."
    return None


def _of_record(
    record: MemoryRecord, told: Mapping[str, Any] | None, stated: list[dict[str, Any]]
) -> str | None:
    if told is None:
        return f"Record {record.id} has no entry."
    stands = {"trust": record.trust, "lifecycle": record.lifecycle, "value": record.value_key}
    if stands != {name: told[name] for name in stands}:
        return f"Record {record.id} is {record.trust} and {record.lifecycle}; its last entry says otherwise."
    if record.lifecycle == Lifecycle.ERASED:
        return f"Record {record.id} is erased and has a text." if record.content or record.tokens else None
    said = {name: getattr(record, name) for name in STATED}
    if record.supersedes_id is not None:
        said["record"] = str(record.supersedes_id)
    if not any(said == {name: arguments.get(name) for name in said} for arguments in stated):
        return f"Record {record.id} does not say what the arguments of its proposal say."
    return None


def _told(kind: str, ids: Iterable[UUID], tells: str = "value") -> dict[str, dict[str, Any]]:
    """Return for each id how its last entry that `tells` a state left it."""
    entries = Entry.objects.filter(object_type=kind, object_id__in=[str(id_) for id_ in ids]).order_by("seq")
    told = (
        (str(object_id), json.loads(text))
        for object_id, text in entries.values_list("object_id", "canonical")
    )
    return {object_id: entry["after"] for object_id, entry in told if tells in entry.get("after", {})}


def _stated(proposals: Iterable[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    """Return the arguments of each revision of each proposal."""
    stated: dict[UUID, list[dict[str, Any]]] = {}
    revisions = Revision.objects.filter(proposal__in=set(proposals))
    for proposal, text in revisions.values_list("proposal_id", "arguments"):
        stated.setdefault(proposal, []).append(json.loads(text))
    return stated


def _gone(
    kind: str, model: type[MemoryRecord] | type[Tombstone] | type[RecordConflict]
) -> Iterator[str | None]:
    """Yield a sentence for each object that the log saw begin and that is not there."""
    begun = Entry.objects.filter(object_type=kind, action__in=FIRST[kind]).only("object_id")
    for entries in stretches(begun):
        chunk = [str(entry.object_id) for entry in entries]
        there = {str(id_) for id_ in model.objects.filter(id__in=chunk).values_list("id", flat=True)}
        yield from (
            f"{kind.capitalize()} {id_} is gone; the log knows it." for id_ in chunk if id_ not in there
        )
