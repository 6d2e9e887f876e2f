"""What the search may see: the records that a workspace may recall, now or at a moment of the past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import BigIntegerField, Subquery, Value
from django.db.models.functions import Coalesce

from memory.domain.tokens import TOKENIZER_VERSION, tokenise
from memory.models import MemoryRecord, RecallEpoch, RecordQuerySet
from memory.search import Epoch, Row
from review.access.models import Workspace

_ANYBODY = UUID(int=0)  # stands for the workspace in the statement; none has this id


def _anybody() -> Any:
    return MemoryRecord._meta.pk.get_db_prep_value(_ANYBODY, connection)


class _Size(Subquery):
    """How many rows a query gives. Grouping, as Django counts in a subquery, takes ten times as long."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = BigIntegerField()


@cache
def _epoch_statement() -> tuple[str, tuple[Any, ...]]:
    """The statement of `Present.epoch` and its parameters, from the one allow-list that every read has."""
    recallable = MemoryRecord.objects.recallable(_ANYBODY).order_by()
    number = RecallEpoch.objects.filter(workspace_id=_ANYBODY).values("epoch")
    epochs = Workspace.objects.filter(id=_ANYBODY).values_list(
        Coalesce(Subquery(number), Value(0), output_field=BigIntegerField()),
        Subquery(recallable.order_by("-id").values("id")[:1]),
        _Size(recallable.values("id")),
    )
    text, parameters = epochs.query.sql_with_params()
    return text, tuple(parameters)


class Present:
    """The records that may be recalled now. Their indexes are kept."""

    def epoch(self, scope: UUID) -> Epoch:
        """One statement, so that its three numbers belong together, written out once: every query asks it."""
        text, parameters = _epoch_statement()
        own = MemoryRecord._meta.pk.get_db_prep_value(scope, connection)
        with connection.cursor() as cursor:
            cursor.execute(text, [own if parameter == _anybody() else parameter for parameter in parameters])
            number, last, size = cursor.fetchone() or (0, None, 0)
        return Epoch(number, last and UUID(str(last)), size)

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
    for id_, tokens, tokenizer, content, lang, recorded_at in records.order_by("id").values_list(*columns):
        if tokenizer != TOKENIZER_VERSION:
            tokens = " ".join(tokenise(content, lang))
        yield Row(id_, tokens, content, recorded_at)
