"""The values that people rejected, as people see them. A tombstone itself does not say what it stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.utils.translation import gettext as _

from memory.models import MemoryRecord, Tombstone, TombstoneQuerySet, ValueKey
from review.queries.paging import Keyset, Page

PAGE = 50
NEWEST_FIRST = Keyset("huqan.memory.rejected", (("-created_at", "time"), ("-id", "id")))


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
    return {
        one.id: said.get((one.workspace_id, one.value_key)) or (one.proposal.summary if one.proposal else "")
        for one in tombstones
    }


def by_whom(tombstone: Tombstone) -> str:
    """Return the name of who rejected it; of one that was put back after a restore, that the console did."""
    return tombstone.person.name if tombstone.person else _("the console")


def _whole() -> TombstoneQuerySet:
    return Tombstone.objects.select_related("workspace", "person", "proposal")
