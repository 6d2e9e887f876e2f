"""What a record rests on, and what rests on it: not only the sources that it names, but theirs too.

Where a text comes from is an agent's own word: it can be long, go round in circles, and name what is not there. So a
walk goes a limited number of steps, visits nothing twice, and what it cannot follow to the end counts as withdrawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from memory.models import Lifecycle, MemoryRecord, Trust

DEPTH = 8  # steps; what is further away than that nobody follows, and it counts as withdrawn
GONE = (Lifecycle.RETRACTED, Lifecycle.ERASED, Lifecycle.DISCARDED)

Walked = Mapping[UUID, MemoryRecord | None]


def sources_of(provenance: Mapping[str, object] | None) -> list[UUID]:
    """Return the records that a provenance says it was derived from."""
    derived = (provenance or {}).get("derived_from") or []
    return [UUID(source) for source in derived] if isinstance(derived, list) else []


def withdrawn_sources(scope: UUID, records: Sequence[MemoryRecord]) -> dict[UUID, list[UUID]]:
    """Return, for each of `records` that rests on something withdrawn, what that is, the nearest first.

    Withdrawn is what was retracted, erased, discarded or put into quarantine, what is not in the workspace `scope`,
    and what stands more than `DEPTH` steps away. It is asked of today, whatever moment a read is for. At most
    `DEPTH` queries, however many records there are; none where nothing names a source.
    """
    named = {record.id: sources_of(record.provenance) for record in records}
    walked = _walked(scope, {source for sources in named.values() for source in sources})
    found = {id_: list(_withdrawn(sources, walked)) for id_, sources in named.items() if sources}
    return {id_: withdrawn for id_, withdrawn in found.items() if withdrawn}


def silenced_by(scope: UUID, ids: Collection[UUID]) -> list[MemoryRecord]:
    """Return what agents recall now and would not once all of `ids` are withdrawn, the nearest first.

    One query finds who names whom: for a page of people, never for a read of agents.
    """
    derived = _derived(scope)
    found: dict[UUID, None] = {}
    level: Iterable[UUID] = ids
    for _ in range(DEPTH):
        level = dict.fromkeys(id_ for source in level for id_ in derived.get(source, ()) if id_ not in found)
        found |= dict.fromkeys(level)
    rows = MemoryRecord.objects.recallable(scope).in_bulk([id_ for id_ in found if id_ not in ids])
    silent = withdrawn_sources(scope, list(rows.values()))
    return [rows[id_] for id_ in found if id_ in rows and id_ not in silent]


def _walked(scope: UUID, level: set[UUID]) -> Walked:
    """Return every record that is within `DEPTH` steps, by id; None for one that is not here."""
    walked: dict[UUID, MemoryRecord | None] = {}
    rows = MemoryRecord.objects.filter(workspace_id=scope).only("id", "trust", "lifecycle", "provenance")
    for _ in range(DEPTH):
        if not level:
            break
        here = rows.in_bulk(level)
        walked |= {id_: here.get(id_) for id_ in level}
        level = {
            source
            for record in here.values()
            if not _is_withdrawn(record)
            for source in sources_of(record.provenance)
        } - walked.keys()
    return walked


def _withdrawn(sources: Sequence[UUID], walked: Walked) -> Iterable[UUID]:
    """Yield what is withdrawn of that on which these sources rest, themselves included."""
    seen: set[UUID] = set()
    level = list(dict.fromkeys(sources))
    for step in range(DEPTH + 1):
        seen |= set(level)
        beyond: dict[UUID, None] = {}
        for id_ in level:
            record = walked.get(id_) if step < DEPTH else None
            if record is None or _is_withdrawn(record):
                yield id_
            else:
                beyond |= dict.fromkeys(sources_of(record.provenance))
        level = [id_ for id_ in beyond if id_ not in seen]


def _is_withdrawn(record: MemoryRecord) -> bool:
    return record.trust != Trust.TRUSTED or record.lifecycle in GONE


def _derived(scope: UUID) -> Mapping[UUID, list[UUID]]:
    """Return by source the records that name it."""
    derived: dict[UUID, list[UUID]] = defaultdict(list)
    naming = MemoryRecord.objects.filter(workspace_id=scope, provenance__has_key="derived_from")
    for id_, provenance in naming.order_by("id").values_list("id", "provenance"):
        for source in sources_of(provenance):
            derived[source].append(id_)
    return derived
