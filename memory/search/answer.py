"""A query as a caller asks it: checked, read into terms, ranked by an engine."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from huqan_site.lib.problems import FieldError, Refusal
from memory.domain.tokens import Language, query_terms
from memory.search.candidates import CandidateEngine
from memory.search.contract import Corpus, Engine, Hit, Indexed, IndexUnusable, Mode, Query
from memory.search.embedded import EmbeddedEngine, TooManyRecords
from memory.search.index import plain

LONGEST_QUERY = 10_000  # characters: some pages of text, and still well under a second to stem

CANDIDATES_FROM = (
    20_000  # eligible records of a scope: from here an index of ours would weigh too much in each server
)

_embedded = EmbeddedEngine(most_records=CANDIDATES_FROM - 1)
_by_index = {name: CandidateEngine(name) for name in ("fts5", "postgres")}
_substitute = EmbeddedEngine(most_scopes=1)  # takes any scope, while its index fails


class EmptyQuery(Refusal):
    code = "invalid"
    status = 422
    title = "The query is empty"
    detail = "Say what to look for. Only the mode recency takes an empty query, and gives everything."


class QueryTooLong(Refusal):
    code = "invalid"
    status = 422
    title = "The query is too long"
    detail = f"A query has at most {LONGEST_QUERY:,} characters. Ask for the words that matter."


class Answer(NamedTuple):
    """The hits, which engine and mode found them, and what could not be searched (`degraded`)."""

    hits: list[Hit]
    engine: str
    mode: Mode
    degraded: tuple[str, ...] = ()


def search(
    corpus: Corpus,
    scope: UUID,
    query: str,
    mode: Mode = Mode.BM25,
    limit: int | None = 10,
    lang: Language | None = None,
    *,
    engine: Engine | None = None,
) -> Answer:
    """Ask for at most `limit` hits (None: all) among the eligible records of `scope`.

    Without an `engine` the number of records decides; all give the same hits.
    A query of only stop words or signs has no terms and so no hits. Raises: EmptyQuery, QueryTooLong.
    """
    asked = _read(query, mode, lang)
    if engine:
        return Answer(engine.rank(corpus, scope, asked, mode, limit), engine.name, mode)
    return _suited(corpus, scope, asked, mode, limit)


def _suited(corpus: Corpus, scope: UUID, asked: Query, mode: Mode, limit: int | None) -> Answer:
    try:
        return Answer(_embedded.rank(corpus, scope, asked, mode, limit), _embedded.name, mode)
    except TooManyRecords:
        return _from_index(corpus, scope, asked, mode, limit)


def _from_index(corpus: Corpus, scope: UUID, asked: Query, mode: Mode, limit: int | None) -> Answer:
    """Ask the index of the corpus, if it has one; where that fails, read the records instead, and say so."""
    failed: tuple[str, ...] = ()
    if isinstance(corpus, Indexed):
        try:
            return Answer(_by_index[corpus.index].rank(corpus, scope, asked, mode, limit), corpus.index, mode)
        except IndexUnusable as failure:
            failed = (failure.name,)
    return Answer(_substitute.rank(corpus, scope, asked, mode, limit), _substitute.name, mode, failed)


def _read(query: str, mode: Mode, lang: Language | None) -> Query:
    blank = not query.strip()
    if blank and mode is not Mode.RECENCY:
        raise EmptyQuery(errors=[FieldError("/query", "blank", EmptyQuery.detail)])
    if len(query) > LONGEST_QUERY:
        raise QueryTooLong(errors=[FieldError("/query", QueryTooLong.code, QueryTooLong.detail)])
    return Query(query_terms(query, lang), plain(query), blank)
