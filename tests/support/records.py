"""Eligible records without a database, and how often an engine asked for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

from memory.domain.tokens import Language, tokenise
from memory.search import Candidate, Epoch, IndexUnusable, Row, Statistics

ACME, GLOBEX = UUID(int=1), UUID(int=2)
START = datetime(2026, 12, 1, tzinfo=UTC)


def row(number: int, content: str, *, minutes: int | None = None, lang: Language | None = None) -> Row:
    """A record whose id is `number`, recorded so many minutes after START (as many as its number)."""
    later = timedelta(minutes=number if minutes is None else minutes)
    return Row(UUID(int=number), " ".join(tokenise(content, lang)), content, START + later)


class RecordsInMemory:
    """A Corpus. `reads` lists each call for rows: "all", or the id after which rows were asked for."""

    def __init__(self, *rows: Row, scope: UUID = ACME) -> None:
        self.rows: dict[UUID, list[Row]] = {scope: list(rows)}
        self.number = 0
        self.is_past = False
        self.reads: list[str | UUID] = []

    def add(self, *rows: Row, scope: UUID = ACME) -> None:
        self.rows.setdefault(scope, []).extend(rows)

    def remove(self, gone: UUID, scope: UUID = ACME) -> None:
        """As when a record is retracted: the epoch rises with it."""
        self.rows[scope] = [row for row in self.rows[scope] if row.id != gone]
        self.number += 1

    def epoch(self, scope: UUID) -> Epoch | None:
        rows = self.rows.get(scope, [])
        last = max((row.id for row in rows), default=None)
        return None if self.is_past else Epoch(self.number, last, len(rows))

    def eligible(self, scope: UUID, after: UUID | None = None) -> Iterator[Row]:
        self.reads.append("all" if after is None else after)
        rows = self.rows.get(scope, [])
        return iter([row for row in rows if after is None or row.id > after])


class IndexedInMemory(RecordsInMemory):
    """A corpus that says which records hold a term. `asked` lists the terms of each look-up; `broken` refuses all."""

    index = "fts5"

    def __init__(self, *rows: Row, scope: UUID = ACME) -> None:
        super().__init__(*rows, scope=scope)
        self.asked: list[set[str]] = []
        self.broken = False

    def statistics(self, scope: UUID, terms: Iterable[str]) -> Statistics:
        if self.broken:
            raise IndexUnusable(self.index)
        rows, found_in = self.rows.get(scope, []), self._found_in(scope)
        words = sum(len(row.tokens.split()) for row in rows)
        return Statistics(len(rows), words, {term: found_in[term] for term in terms if term in found_in})

    def spread(self, scope: UUID) -> Mapping[int, int]:
        return Counter(self._found_in(scope).values())

    def sharing(self, scope: UUID, terms: Iterable[str]) -> Iterator[Candidate]:
        self.asked.append(set(terms))
        for id_, tokens, _, recorded_at in self.rows.get(scope, []):
            if not self.asked[-1].isdisjoint(tokens.split()):
                yield Candidate(id_, tokens, recorded_at)

    def newest(self, scope: UUID, limit: int | None) -> Iterable[UUID]:
        rows = sorted(self.rows.get(scope, []), key=lambda row: (START - row.recorded_at, row.id))
        return [row.id for row in rows][:limit]

    def _found_in(self, scope: UUID) -> Counter[str]:
        return Counter(term for row in self.rows.get(scope, []) for term in set(row.tokens.split()))
