"""The values that people rejected, as people see them. A tombstone itself does not say what it stands for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Max
from django.utils.translation import gettext as _

from memory.models import MemoryRecord, Tombstone, TombstoneQuerySet, ValueKey
from review.access import wording
from review.audit.actions import Action
from review.audit.models import Entry
from review.queries.cases import current_revisions
from review.queries.paging import Keyset, Page
from review.services.refuse import REJECTED_VALUE

PAGE = 50
RETRACT = "memory.retract"
NEWEST_FIRST = Keyset("huqan.memory.rejected", (("-created_at", "time"), ("-id", "id")))


class Tries(NamedTuple):
    """How often a rejected value was refused since, when last, and who tried it then: an agent or an account."""

    times: int
    last_at: datetime
    last_by: str


def named(scope: UUID, id_: UUID) -> Tombstone | None:
    """Return one tombstone of a workspace, lifted or not, with who made it."""
    return _whole().filter(workspace_id=scope, id=id_).first()


def one_of(scopes: Iterable[UUID], id_: UUID) -> Tombstone | None:
    """Return one tombstone of these workspaces."""
    return _whole().filter(workspace_id__in=list(scopes), id=id_).first()


def page(scopes: Sequence[UUID], cursor: str | None) -> Page[Tombstone]:
    """Return a page of the tombstones of these workspaces, newest first. Raises: BadCursor."""
    rows = _whole().filter(workspace_id__in=list(scopes))
    return NEWEST_FIRST.page(rows, cursor=cursor, size=PAGE, scope=sorted(map(str, scopes)))


def texts(tombstones: Sequence[Tombstone]) -> dict[UUID, str]:
    """Return what each stands for: the text of a record of that value, else our line about its proposal."""
    keys = [ValueKey(one.value_key_id, one.value_key) for one in tombstones]
    rows = MemoryRecord.objects.with_value(keys).filter(
        workspace__in={one.workspace_id for one in tombstones}
    )
    said = {(row.workspace_id, row.value_key): row.content for row in rows.order_by("id")}
    return {one.id: said.get((one.workspace_id, one.value_key)) or _line(one) for one in tombstones}


def _line(tombstone: Tombstone) -> str:
    return wording.said(tombstone.proposal.summary) if tombstone.proposal else ""


def reasons(tombstones: Sequence[Tombstone]) -> dict[UUID, str]:
    """Return why each was rejected: what stands in the retraction that people approved, else with the rejection."""
    proposals = [one.proposal for one in tombstones if one.proposal]
    asked = [proposal for proposal in proposals if proposal.tool == RETRACT]
    given = {id_: json.loads(revision.arguments) for id_, revision in current_revisions(asked).items()}
    return {
        one.id: given.get(one.proposal.id, {}).get("reason", one.proposal.reason or "")
        for one in tombstones
        if one.proposal
    }


def tries(tombstones: Sequence[Tombstone]) -> dict[UUID, Tries]:
    """Return for each that was tried again how often, and when and by whom the last time, as the log tells it."""
    ids = [str(one.id) for one in tombstones]
    hits = Entry.objects.filter(
        action=Action.PROPOSAL_REFUSED, object_type=REJECTED_VALUE, object_id__in=ids
    ).order_by()
    counted = list(hits.values_list("object_id").annotate(Count("seq"), Max("seq")))
    last = Entry.objects.in_bulk([seq for _id, _times, seq in counted])
    return {
        UUID(id_): Tries(times, datetime.fromisoformat(last[seq].stamp), last[seq].account or "")
        for id_, times, seq in counted
    }


def by_whom(tombstone: Tombstone) -> str:
    """Return the name of who rejected it; of one that was put back after a restore, that the console did."""
    return tombstone.person.name if tombstone.person else _("the console")


def _whole() -> TombstoneQuerySet:
    return Tombstone.objects.select_related("workspace", "person", "proposal")
