"""Exporting: what agents can recall as lines of a file, and only where it is asked for also what is held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Model
from django.utils import timezone

from huqan_site.lib.canonical_json import canonical
from memory.domain.lines import CONFLICTS, FORMER, HELD, TRUST, VERSION, WORKSPACE
from memory.domain.masking import masked_value
from memory.models import FormerValidity, MemoryRecord, RecordConflict
from memory.queries.recall import rfc3339
from memory.queries.snapshot import one_moment
from memory.queries.verdicts import Moment, judge
from review.access.actors import PersonActor, SystemActor
from review.access.models import Workspace
from review.access.services.rules import require_manager
from review.audit import log
from review.audit.actions import Action
from review.audit.stretches import stretches
from review.audit.transaction import write

STATED = ("content", "subject", "predicate", "provenance", "confidence", "lang")
TIMES = ("valid_from", "valid_to", "expires_at", "recorded_at")


class Export(NamedTuple):
    """The lines of a file, how many of them are of held memories, and how many memories hold a secret and stay."""

    lines: list[str]
    held: int
    left_out: int


def take_out(workspace: Workspace, *, by: PersonActor | SystemActor, and_held: bool) -> Export:
    """Return the memories of `workspace` as lines, once the log has it that they leave.

    They are those that agents get; with `and_held` also those in quarantine. No secret leaves: what holds one stays.

    Raises: NotFound, NotManager, Unavailable.
    """
    require_manager(by, workspace.id, timezone.now())
    with one_moment():
        export = _export(workspace, and_held)
    with write():
        require_manager(by, workspace.id, log.take_turn())
        log.record(
            Action.MEMORY_EXPORTED,
            actor=by.audit(),
            workspace=workspace.id,
            after={"records": len(export.lines), "held": export.held, "left_out": export.left_out},
        )
    return export


def _export(workspace: Workspace, and_held: bool) -> Export:
    held = list(MemoryRecord.objects.held().filter(workspace=workspace).order_by("id")) if and_held else []
    found = {record.id: _line(record, workspace) for record in (*_trusted(workspace.id), *held)}
    open_ = {id_: line for id_, line in found.items() if masked_value(line) == line}
    beside = _beside(workspace.id, open_)
    return Export(
        [canonical({**line, **beside.get(id_, {})}) for id_, line in open_.items()],
        sum(line[TRUST] == HELD for line in open_.values()),
        len(found) - len(open_),
    )


def _beside(scope: UUID, leaving: Container[UUID]) -> Mapping[UUID, dict[str, list[Any]]]:
    """Return what was said before of when each held, and its conflicts with others that leave: told, not believed."""
    told: dict[UUID, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for former in FormerValidity.objects.filter(record__workspace=scope).order_by("id"):
        told[former.record_id][FORMER].append(_times(former, "valid_from", "valid_to", "until"))
    for conflict in RecordConflict.objects.filter(workspace=scope).order_by("id"):
        sides = conflict.older_id, conflict.newer_id
        if all(side in leaving for side in sides):
            stands = {"answer": conflict.answer} if conflict.answer else {}
            stands |= _times(conflict, "opened_at", "resolved_at")
            for one, other in (sides, sides[::-1]):
                told[one][CONFLICTS].append({"with": str(other), **stands})
    return told


def _trusted(scope: UUID) -> Iterator[MemoryRecord]:
    """Yield what agents get, also what they get with a doubt."""
    now = Moment(timezone.now())
    for records in stretches(MemoryRecord.objects.recallable(scope)):
        yield from (judged.record for judged in judge(scope, records, now) if not judged.withheld)


def _line(record: MemoryRecord, workspace: Workspace) -> dict[str, Any]:
    said = {name: getattr(record, name) for name in STATED if getattr(record, name) is not None}
    stands = {"v": VERSION, "id": str(record.id), WORKSPACE: workspace.name, TRUST: record.trust}
    return {**said, **stands, **_times(record, *TIMES)}


def _times(row: Model, *names: str) -> dict[str, str]:
    """Return the times that a row has, as a file tells them."""
    times = {name: rfc3339(getattr(row, name)) for name in names}
    return {name: time for name, time in times.items() if time is not None}
