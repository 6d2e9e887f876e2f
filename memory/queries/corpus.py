"""What the search may see: the records that a workspace may recall, now or at a moment of the past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import BigIntegerField, Count, Subquery, Value
from django.db.models.functions import Coalesce

from memory.domain.tokens import TOKENIZER_VERSION, tokenise
from memory.models import MemoryRecord, RecallEpoch, RecordQuerySet
from memory.search import Epoch, Row
from review.access.models import Workspace


class Present:
    """The records that may be recalled now. Their indexes are kept."""

    def epoch(self, scope: UUID) -> Epoch:
        """One statement, so that its three numbers belong together."""
        recallable = MemoryRecord.objects.recallable(scope).order_by()
        number = RecallEpoch.objects.filter(workspace_id=scope).values("epoch")
        size = recallable.values("workspace").annotate(size=Count("pk")).values("size")
        epochs = Workspace.objects.filter(id=scope).annotate(
            number=Coalesce(Subquery(number), Value(0), output_field=BigIntegerField()),
            last=Subquery(recallable.order_by("-id").values("id")[:1]),
            size=Coalesce(Subquery(size), Value(0)),
        )
        found = epochs.values_list("number", "last", "size").first()
        return Epoch(*found) if found else Epoch(0, None, 0)

    def eligible(self, scope: UUID, after: UUID | None = None) -> Iterable[Row]:
        recallable = MemoryRecord.objects.recallable(scope)
        return _rows(recallable.filter(id__gt=after) if after else recallable)


class Past:
    """The records that could be recalled at `known_at`. Nobody asks twice, so no index is kept."""

    def __init__(self, known_at: datetime) -> None:
        self._known_at = known_at

    def epoch(self, scope: UUID) -> None:
        return None

    def eligible(self, scope: UUID, after: UUID | None = None) -> Iterable[Row]:
        return _rows(MemoryRecord.objects.recallable(scope, self._known_at))


class Unrecallable:
    """What is held or retired, for people who search as agents do and want to see what those do not get."""

    def epoch(self, scope: UUID) -> None:
        return None

    def eligible(self, scope: UUID, after: UUID | None = None) -> Iterable[Row]:
        return _rows(MemoryRecord.objects.unrecallable(scope))


def _rows(records: RecordQuerySet) -> Iterator[Row]:
    columns = ("id", "tokens", "tokenizer", "content", "lang", "recorded_at")
    for id_, tokens, tokenizer, content, lang, recorded_at in (
        records.order_by("id").values_list(*columns).iterator()
    ):
        if tokenizer != TOKENIZER_VERSION:
            tokens = " ".join(tokenise(content, lang))
        yield Row(id_, tokens, content, recorded_at)
