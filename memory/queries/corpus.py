"""What the search may see: the records that a workspace may recall, now or at a moment of the past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.db.models import BooleanField, Count, Q, Subquery
from django.db.models.expressions import RawSQL

from memory.domain.tokens import TOKENIZER_VERSION, tokenise
from memory.models import MemoryRecord, RecallEpoch, RecallTerm, RecordQuerySet, Trust, outlived_at
from memory.search import Candidate, Epoch, IndexUnusable, Row, Statistics

_ANYBODY = UUID(int=0)  # stands for the workspace in the statement; none has this id
_INDEXES = {"sqlite": "fts5", "postgresql": "postgres"}


def _anybody() -> Any:
    return MemoryRecord._meta.pk.get_db_prep_value(_ANYBODY, connection)


@cache
def _epoch_statement() -> tuple[str, tuple[Any, ...]]:
    """The statement of `Present.epoch` and its parameters, from the one allow-list that every read has."""
    last = MemoryRecord.objects.recallable(_ANYBODY).order_by("-id").values("id")[:1]
    epochs = RecallEpoch.objects.filter(workspace_id=_ANYBODY).values_list("epoch", Subquery(last), "records")
    text, parameters = epochs.query.sql_with_params()
    return text, tuple(parameters)


class Present:
    """The records that may be recalled now. Their indexes are kept."""

    @property
    def index(self) -> str:
        """The name of the index that this database has; `memory.recall_index` keeps it."""
        return _INDEXES[connection.vendor]

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

    def statistics(self, scope: UUID, terms: Iterable[str]) -> Statistics:
        """Raises: IndexUnusable, also where a record's tokens are not of today's tokenizer."""
        with self._asked():
            whole = RecallEpoch.objects.get(workspace_id=scope)
            found = RecallTerm.objects.filter(workspace_id=scope, term__in=list(terms))
            found_in = dict(found.values_list("term", "records"))
        if whole.tokenizer != TOKENIZER_VERSION:
            raise IndexUnusable(self.index)
        return Statistics(whole.records, whole.words, found_in)

    def spread(self, scope: UUID) -> Mapping[int, int]:
        with self._asked():
            terms = RecallTerm.objects.filter(workspace_id=scope)
            return dict(terms.order_by().values_list("records").annotate(terms=Count("*")))

    def sharing(self, scope: UUID, terms: Iterable[str]) -> Iterable[Candidate]:
        found = MemoryRecord.objects.recallable(scope).filter(_HOLDING[connection.vendor](scope, list(terms)))
        with self._asked():
            return [Candidate(*row) for row in found.order_by().values_list("id", "tokens", "recorded_at")]

    def newest(self, scope: UUID, limit: int | None) -> Iterable[UUID]:
        newest = MemoryRecord.objects.recallable(scope).order_by("-recorded_at", "id")
        return list(newest.values_list("id", flat=True)[:limit])

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Tell a failure of the index from all others, and leave the transaction it fails in usable."""
        try:
            with transaction.atomic() if connection.in_atomic_block else nullcontext():
                yield
        except (DatabaseError, RecallEpoch.DoesNotExist) as failure:
            raise IndexUnusable(self.index) from failure


def _in_fts5(scope: UUID, terms: list[str]) -> Q:
    """The condition that FTS5 finds one of `terms` in this workspace. No term holds a quote."""
    found = "SELECT record FROM memory_indexed WHERE number IN (SELECT rowid FROM memory_fts WHERE memory_fts MATCH %s)"
    return Q(id__in=RawSQL(found, [" OR ".join(f'"{scope.hex}:{term}"' for term in terms)]))


def _in_gin(scope: UUID, terms: list[str]) -> Q:
    """The condition that a record holds one of `terms`, as the index has them."""
    holds = "string_to_array(memory_memoryrecord.tokens, ' ') && %s::text[]"
    return Q(RawSQL(holds, [terms], output_field=BooleanField()))


_HOLDING = {"sqlite": _in_fts5, "postgresql": _in_gin}


def outlived(scope: UUID, as_of: datetime) -> bool:
    """Whether for the world `as_of` more can be recalled than is active now."""
    return MemoryRecord.objects.filter(outlived_at(as_of), workspace_id=scope, trust=Trust.TRUSTED).exists()


class Past:
    """The records that can be recalled for another time of the system or the world. No index is kept."""

    def __init__(self, known_at: datetime | None, as_of: datetime | None = None) -> None:
        self._known_at, self._as_of = known_at, as_of

    def epoch(self, scope: UUID) -> None:
        return None

    def eligible(self, scope: UUID, after: UUID | None = None) -> Iterable[Row]:
        return _rows(MemoryRecord.objects.recallable(scope, self._known_at, self._as_of))


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
