"""Conflicts between trusted records, as people see them and as the gate does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from memory.domain.arguments import RESOLVE
from memory.models import ConflictQuerySet, MemoryRecord, RecordConflict
from review.domain.refusals import NotFound
from review.domain.status import Status
from review.models import Proposal
from review.queries.paging import Keyset, Page

PAGE = 50
LONGEST_OPEN_FIRST = Keyset("huqan.memory.conflicts", (("opened_at", "time"), ("id", "id")))


def named(scope: UUID, id_: UUID) -> RecordConflict | None:
    """Return one conflict of a workspace, with both sides."""
    return _whole([scope]).filter(id=id_).first()


def one_of(scopes: Iterable[UUID], id_: UUID) -> RecordConflict:
    """Return one conflict of these workspaces, with both sides. Raises: NotFound."""
    found = _whole(scopes).filter(id=id_).first()
    if found is None:
        raise NotFound
    return found


def page(scopes: Sequence[UUID], cursor: str | None) -> Page[RecordConflict]:
    """Return a page of the open conflicts of these workspaces, the longest open first. Raises: BadCursor."""
    rows = _whole(scopes).open()
    return LONGEST_OPEN_FIRST.page(rows, cursor=cursor, size=PAGE, scope=sorted(map(str, scopes)))


def open_number(scopes: Iterable[UUID]) -> int:
    """Return how many conflicts of these workspaces wait for a person."""
    return RecordConflict.objects.filter(workspace_id__in=list(scopes)).open().count()


def about(record: MemoryRecord) -> list[RecordConflict]:
    """Return the conflicts of a record, oldest first; `is_open` tells those that wait."""
    rows = _whole([record.workspace_id]).filter(Q(older=record) | Q(newer=record))
    return list(rows.order_by("id"))


def awaiting(conflict: RecordConflict, now: datetime) -> Proposal | None:
    """Return the open proposal that would resolve `conflict`, if there is one: the first of them."""
    rows = Proposal.objects.live(now).filter(
        workspace_id=conflict.workspace_id,
        tool=RESOLVE,
        status__in=(Status.PENDING, Status.CHANGES_REQUESTED),
    )
    return rows.filter(revisions__arguments__contains=str(conflict.id)).order_by("id").first()


def _whole(scopes: Iterable[UUID]) -> ConflictQuerySet:
    """The rows of these workspaces with what their pages name."""
    sides = [f"{side}__{what}" for side in ("older", "newer") for what in ("agent", "proposal")]
    rows = RecordConflict.objects.select_related("workspace", "resolution", *sides)
    return rows.filter(workspace_id__in=list(scopes))
