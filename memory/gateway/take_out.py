"""Exporting: what agents can recall as lines of a file, and only where it is asked for also what is held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.canonical_json import canonical
from memory.domain.lines import HELD, TRUST, WORKSPACE
from memory.domain.masking import masked_value
from memory.models import MemoryRecord
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
    trusted = list(_trusted(workspace.id))
    held = list(MemoryRecord.objects.held().filter(workspace=workspace).order_by("id")) if and_held else []
    told = [_line(record, workspace) for record in trusted + held]
    open_ = [line for line in told if masked_value(line) == line]
    return Export(
        [canonical(line) for line in open_],
        sum(line[TRUST] == HELD for line in open_),
        len(told) - len(open_),
    )


def _trusted(scope: UUID) -> Iterator[MemoryRecord]:
    """Yield what agents get, also what they get with a doubt."""
    now = Moment(timezone.now())
    for records in stretches(MemoryRecord.objects.recallable(scope)):
        yield from (judged.record for judged in judge(scope, records, now) if not judged.withheld)


def _line(record: MemoryRecord, workspace: Workspace) -> dict[str, Any]:
    said = {name: getattr(record, name) for name in STATED}
    times = {name: rfc3339(getattr(record, name)) for name in TIMES}
    stands = {"id": str(record.id), WORKSPACE: workspace.name, TRUST: record.trust}
    return {name: value for name, value in (said | times | stands).items() if value is not None}
