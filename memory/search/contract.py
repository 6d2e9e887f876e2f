"""What an engine gets and gives, so that engines can be exchanged and tested without a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable
from uuid import UUID


class Mode(StrEnum):
    """How hits are found and ordered; equal ones always by id."""

    BM25 = "bm25"  # share a term with the query, best score first
    SUBSTRING = "substring"  # contain the query, whatever the case and accents, newest first
    RECENCY = "recency"  # share a term, newest first; an empty query gives everything


class Hit(NamedTuple):
    """A record and, in bm25 only, its score: any number, zero and below included; not a confidence."""

    id: UUID
    score: float | None


class Query(NamedTuple):
    """A question made ready: distinct sorted terms, the folded text, and whether nothing was asked at all."""

    terms: tuple[str, ...]
    text: str
    blank: bool


class Row(NamedTuple):
    """An eligible record. `tokens`: its terms by the current TOKENIZER_VERSION, with a space between."""

    id: UUID
    tokens: str
    content: str
    recorded_at: datetime


class Candidate(NamedTuple):
    """As much of an eligible record as ranking takes; see `Row`."""

    id: UUID
    tokens: str
    recorded_at: datetime


class Statistics(NamedTuple):
    """Of all eligible records of a scope: how many, with how many terms, and how many hold a term (absent: none)."""

    records: int
    words: int
    found_in: Mapping[str, int]


class Epoch(NamedTuple):
    """What an index must have seen to answer for a scope now.

    `number` rises in the writing transaction whenever the eligible records change other than by a new
    record: one leaves, returns or is released. `last` is the highest eligible id and `size` how many
    there are. Ids are made before commits, so a lower id can appear after a higher one: only `size` tells.
    """

    number: int
    last: UUID | None
    size: int


class Corpus(Protocol):
    """The eligible records (trusted, active) of a scope, and of no other scope."""

    def epoch(self, scope: UUID) -> Epoch | None:
        """The scope's epoch; None for a read of the past, whose index is not kept."""

    def eligible(self, scope: UUID, after: UUID | None = None) -> Iterable[Row]:
        """All eligible records of the scope, or those with an id above `after`."""


class IndexUnusable(Exception):
    """The index called `name` could not be asked. That is not the same as having found nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@runtime_checkable
class Indexed(Protocol):
    """A corpus with an index of its own, which knows where a term is. Each method raises IndexUnusable.

    All answers that one ranking asks for belong to one moment.
    """

    @property
    def index(self) -> str:
        """The name of the index, and so of the engine that asks it."""

    def epoch(self, scope: UUID) -> Epoch | None:
        """See `Corpus.epoch`."""

    def eligible(self, scope: UUID, after: UUID | None = None) -> Iterable[Row]:
        """See `Corpus.eligible`."""

    def statistics(self, scope: UUID, terms: Iterable[str]) -> Statistics:
        """The numbers of the scope, and those of `terms`."""

    def spread(self, scope: UUID) -> Mapping[int, int]:
        """How many terms are found in exactly n records, for each n that is not 0."""

    def sharing(self, scope: UUID, terms: Iterable[str]) -> Iterable[Candidate]:
        """The eligible records that hold one of `terms` or more, in any order."""

    def newest(self, scope: UUID, limit: int | None) -> Iterable[UUID]:
        """The ids of all eligible records, or the first `limit`: newest first, equal ones by id."""


class Engine(Protocol):
    """Ranks the eligible records of one scope."""

    @property
    def name(self) -> str: ...

    def rank(self, corpus: Corpus, scope: UUID, query: Query, mode: Mode, limit: int | None) -> list[Hit]:
        """At most `limit` hits (None: all), in the order of `mode`. A failure raises."""
