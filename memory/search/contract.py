"""What an engine gets and gives, so that engines can be exchanged and tested without a database."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol
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


class Engine(Protocol):
    """Ranks the eligible records of one scope."""

    @property
    def name(self) -> str: ...

    def rank(self, corpus: Corpus, scope: UUID, query: Query, mode: Mode, limit: int | None) -> list[Hit]:
        """At most `limit` hits (None: all), in the order of `mode`. A failure raises."""
