"""Where a held memory would come in recall once it is released: people see it before they decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from uuid import UUID

from memory.domain.tokens import TOKENIZER_VERSION, query_terms
from memory.models import MemoryRecord
from memory.queries.corpus import Present
from memory.queries.lineage import withdrawn_sources
from memory.search import Candidate, CandidateEngine, Epoch, IndexUnusable, Mode, Query, Row, Statistics

FIRST_WORDS = 300  # characters of its text that are asked for: what an agent might, and few terms to look up
LOOKED_AT = 50  # hits among which it is looked for


def rank(record: MemoryRecord) -> int | None:
    """Return the place, from 1, that `record` would have among what agents recall for the first words of its text.

    None where it would not be among the first `LOOKED_AT`, would be withheld, or the index cannot be asked.
    """
    scope = record.workspace_id
    terms = query_terms(record.content[:FIRST_WORDS])
    if not terms or record.tokenizer != TOKENIZER_VERSION or withdrawn_sources(scope, [record]):
        return None
    engine, question = CandidateEngine(Present().index), Query(terms, "", blank=False)
    try:
        hits = engine.rank(_With(record), scope, question, Mode.BM25, LOOKED_AT)
    except IndexUnusable:
        return None
    return next((place for place, hit in enumerate(hits, 1) if hit.id == record.id), None)


class _With:
    """What may be recalled now and one record more, as if it had been released: its words count in every score."""

    def __init__(self, record: MemoryRecord) -> None:
        self._now = Present()
        self._more = Row(record.id, record.tokens, record.content, record.recorded_at)
        self._words = record.tokens.split()

    @property
    def index(self) -> str:
        return self._now.index

    def epoch(self, scope: UUID) -> Epoch:
        number, last, size = self._now.epoch(scope)
        return Epoch(number, max(last or self._more.id, self._more.id), size + 1)

    def eligible(self, scope: UUID, after: UUID | None = None) -> Iterable[Row]:
        return [*self._now.eligible(scope, after), self._more]

    def statistics(self, scope: UUID, terms: Iterable[str]) -> Statistics:
        asked = set(terms)
        records, words, found_in = self._now.statistics(scope, asked)
        grown = Counter(found_in) + Counter(asked & set(self._words))
        return Statistics(records + 1, words + len(self._words), grown)

    def spread(self, scope: UUID) -> Mapping[int, int]:
        """Each of its terms is found in one record more."""
        distinct = set(self._words)
        found_in = self._now.statistics(scope, distinct).found_in
        spread = Counter(self._now.spread(scope))
        for term in distinct:
            before = found_in.get(term, 0)
            spread[before + 1] += 1
            if before:
                spread[before] -= 1
        return {found: terms for found, terms in spread.items() if terms}

    def sharing(self, scope: UUID, terms: Iterable[str]) -> Iterable[Candidate]:
        asked = set(terms)
        own = Candidate(self._more.id, self._more.tokens, self._more.recorded_at)
        return [*self._now.sharing(scope, asked), *([own] if asked & set(self._words) else [])]

    def newest(self, scope: UUID, limit: int | None) -> Iterable[UUID]:
        return [*self._now.newest(scope, limit), self._more.id]
