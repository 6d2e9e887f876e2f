"""What was erased, by which proposal, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings

from memory.models import Erasure, MemoryRecord
from review.audit import checkpoints
from review.audit.actions import Action
from review.audit.models import Entry
from review.models import Decision, Proposal, Revision

NOT_SEARCHED = (
    "backups and exports made before, which hold the text until they are destroyed",
    "what agents recalled, or webhooks and mail carried, before",
)


class Erased(NamedTuple):
    """When a record was erased, and by which proposal."""

    at: datetime
    proposal: UUID


def named(id_: UUID) -> Erasure | None:
    """Return the erasure that the proposal with this id carried out, if it did."""
    return Erasure.objects.select_related("workspace").filter(id=id_).first()


def of_record(record: MemoryRecord) -> Erased | None:
    """Return what the log says of the erasure of a record, if it has one."""
    told = Entry.objects.filter(object_type="record", object_id=str(record.id), action=Action.MEMORY_ERASED)
    entry = told.order_by("seq").first()
    return Erased(entry.time, UUID(entry.proposal)) if entry and entry.proposal else None


def certificate(erasure: Erasure) -> dict[str, Any]:
    """Return what can be attested of an erasure: what went, what was searched, what remains. No text of it."""
    newest = checkpoints.newest()
    targets = erasure.targets
    return {
        "v": 1,
        "kind": "huqan.erasure",
        "log": settings.HUQAN_LOG_NAME,
        "erasure": str(erasure.id),
        "workspace": erasure.workspace.name,
        "erased_at": erasure.erased_at.isoformat(),
        "people": _people(erasure.id),
        "erased": erasure.counts,
        "searched": erasure.scan and {**erasure.scan, "at": _time(erasure.swept_at)},
        "not_searched": list(NOT_SEARCHED),
        "digests_that_remain": {
            "records": _values(targets["records"]),
            "bindings": _bindings([*targets["carriers"], *targets["words"]]),
        },
        "entries": _entries([str(erasure.id), *targets["carriers"], *targets["words"]]),
        "checkpoint": newest.note if newest else None,
    }


def _people(proposal: UUID) -> dict[str, Any]:
    """Who asked and who agreed, by the ids that the log names them by."""
    asked = Proposal.objects.filter(id=proposal).values_list("principal", flat=True).first()
    agreed = Decision.objects.filter(proposal=proposal, verdict="approve").order_by("created_at")
    return {
        "asked": str(asked) if asked else None,
        "agreed": [str(person) for person in agreed.values_list("person_id", flat=True)],
    }


def _values(records: Iterable[str]) -> list[dict[str, str]]:
    rows = MemoryRecord.objects.filter(id__in=list(records)).order_by("id")
    return [
        {"record": str(row.id), "value": row.value_key, "key": row.value_key_id}
        for row in rows.only("id", "value_key", "value_key_id")
    ]


def _bindings(proposals: Iterable[str]) -> list[dict[str, Any]]:
    rows = Revision.objects.filter(proposal__in=list(proposals)).order_by("proposal_id", "number")
    return [
        {"proposal": str(proposal), "revision": number, "binding": binding}
        for proposal, number, binding in rows.values_list("proposal_id", "number", "binding")
    ]


def _entries(proposals: Iterable[str]) -> list[int]:
    """The entries that tell of the erasure: of each record, of each proposal, of the search."""
    told = Entry.objects.filter(proposal__in=list(proposals), action=Action.MEMORY_ERASED)
    return list(told.order_by("seq").values_list("seq", flat=True))


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
