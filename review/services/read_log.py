"""Reading, exporting and verifying the log are recorded in it too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from review.access.actors import PersonActor
from review.access.models import Workspace
from review.audit import log
from review.audit.actions import Action
from review.audit.log import ObjectRef
from review.audit.queries import recorded_recently
from review.audit.transaction import write
from review.audit.verify import Report

LOG = ObjectRef("log", "log")


def note_reading(workspaces: Iterable[Workspace], *, by: PersonActor) -> None:
    """Record that `by` opened the log, once per session and hour.

    Raises: Unavailable.
    """
    if recorded_recently(Action.AUDIT_READ, person=by.person.id, session=by.session):
        return
    _record(Action.AUDIT_READ, workspaces, by, {})


def note_export(workspaces: Iterable[Workspace], entries: int, form: str, *, by: PersonActor) -> None:
    """Record an export before its first byte leaves.

    Raises: Unavailable.
    """
    _record(Action.AUDIT_EXPORTED, workspaces, by, {"entries": entries, "form": form})


def note_verification(workspaces: Iterable[Workspace], report: Report, *, by: PersonActor) -> None:
    """Record what a verification found.

    Raises: Unavailable.
    """
    found = {
        "outcome": str(report.outcome),
        "entries": report.stop - report.first,
        "faults": report.fault_count,
    }
    _record(Action.AUDIT_VERIFIED, workspaces, by, found)


def _record(
    action: Action, workspaces: Iterable[Workspace], by: PersonActor, after: Mapping[str, Any]
) -> None:
    with write():
        for workspace in workspaces:
            log.record(action, actor=by.audit(), workspace=workspace.id, object=LOG, after=after)
