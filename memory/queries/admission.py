"""What memory already knows about a value that asks to be admitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from memory.domain.validity import Interval
from memory.models import Lifecycle, MemoryRecord, Tombstone, Trust, ValueKey
from memory.queries.lineage import withdrawn_sources
from memory.queries.verdicts import contradicts, rivals
from review.audit.statements import first, prepared


class Sources(NamedTuple):
    """Those of the records named as sources that cannot be: not here for this workspace, or no longer active."""

    unknown: list[UUID]
    inactive: list[UUID]


def tombstone(scope: UUID, keys: Sequence[ValueKey]) -> Tombstone | None:
    """Return the tombstone under which the value with these keys was rejected for good."""
    return first(_tombstones(scope, *_parts(keys)))


def twin(scope: UUID, keys: Sequence[ValueKey]) -> MemoryRecord | None:
    """Return the trusted, active record of this very value: by key alone, never by likeness."""
    return first(_twins(scope, *_parts(keys)))


def said_by(scope: UUID, keys: Sequence[ValueKey], provenance: Mapping[str, Any] | None) -> UUID | None:
    """Return the proposal that had this very value remembered or held from this very source, if one did."""
    here = MemoryRecord.objects.filter(workspace_id=scope, lifecycle=Lifecycle.ACTIVE).with_value(keys)
    for trust in Trust.values:  # one after the other, as the database finds either by an index
        for record in here.filter(trust=trust):
            if record.provenance == provenance:
                return record.proposal_id
            for more in record.evidence.order_by("id"):
                if more.provenance == provenance:
                    return more.proposal_id
    return None


@prepared
def _tombstones(scope: UUID, *parts: str) -> QuerySet[Tombstone]:
    return Tombstone.objects.standing(scope).with_value(_keys(parts)).order_by("pk")[:1]


@prepared
def _twins(scope: UUID, *parts: str) -> QuerySet[MemoryRecord]:
    return MemoryRecord.objects.recallable(scope).with_value(_keys(parts)).order_by("pk")[:1]


@prepared
def _set_aside(scope: UUID, *parts: str) -> QuerySet[MemoryRecord]:
    held = MemoryRecord.objects.held().filter(workspace_id=scope, held_by__isnull=False)
    return held.with_value(_keys(parts)).order_by("pk")[:1]


def _parts(keys: Sequence[ValueKey]) -> list[str]:
    return [part for key in keys for part in key]


def _keys(parts: Sequence[str]) -> list[ValueKey]:
    return [ValueKey(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


def contradicted(scope: UUID, topic: str | None, value_key: str, validity: Interval) -> list[MemoryRecord]:
    """Return the recallable records that say something else about `topic`, for a time they share with `validity`."""
    if topic is None:
        return []
    return [rival for rival in rivals(scope, [topic])[topic] if contradicts(rival, value_key, validity)]


def set_aside(scope: UUID, keys: Sequence[ValueKey]) -> MemoryRecord | None:
    """Return the record of this very value that a reviewer has put into quarantine."""
    return first(_set_aside(scope, *_parts(keys)))


def record(scope: UUID, id_: UUID) -> MemoryRecord | None:
    """Return a record by its id, in quarantine or not."""
    return MemoryRecord.objects.filter(workspace_id=scope, id=id_).first()


def trusted(scope: UUID, id_: UUID) -> MemoryRecord | None:
    """Return a record by its id, whatever became of it; what is in quarantine is as unknown as what is not there."""
    return MemoryRecord.objects.filter(workspace_id=scope, trust=Trust.TRUSTED, id=id_).first()


def missing_sources(scope: UUID, ids: Iterable[UUID]) -> Sources:
    """Sort out which of `ids` cannot be a source, as agents could not read it.

    What was never trusted is as unknown as what is not there; what rests on something withdrawn is not active.
    """
    named = list(dict.fromkeys(ids))
    if not named:
        return Sources([], [])
    rows = MemoryRecord.objects.filter(workspace_id=scope, trust=Trust.TRUSTED).in_bulk(named)
    silent = withdrawn_sources(scope, list(rows.values()))
    inactive = [id_ for id_, row in rows.items() if row.lifecycle != Lifecycle.ACTIVE or id_ in silent]
    return Sources([id_ for id_ in named if id_ not in rows], inactive)
