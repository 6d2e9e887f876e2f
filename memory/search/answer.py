"""A query as a caller asks it: checked, read into terms, ranked by an engine."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from huqan_site.lib.problems import FieldError, Refusal
from memory.domain.tokens import Language, query_terms
from memory.search.contract import Corpus, Engine, Hit, Mode, Query
from memory.search.embedded import EmbeddedEngine
from memory.search.index import plain

LONGEST_QUERY = 10_000  # characters: some pages of text, and still well under a second to stem

_embedded = EmbeddedEngine()


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
    engine: Engine = _embedded,
) -> Answer:
    """Ask for at most `limit` hits (None: all) among the eligible records of `scope`.

    A query of only stop words or signs has no terms and so no hits. Raises: EmptyQuery, QueryTooLong.
    """
    asked = _read(query, mode, lang)
    return Answer(engine.rank(corpus, scope, asked, mode, limit), engine.name, mode)


def _read(query: str, mode: Mode, lang: Language | None) -> Query:
    blank = not query.strip()
    if blank and mode is not Mode.RECENCY:
        raise EmptyQuery(errors=[FieldError("/query", EmptyQuery.code, EmptyQuery.detail)])
    if len(query) > LONGEST_QUERY:
        raise QueryTooLong(errors=[FieldError("/query", QueryTooLong.code, QueryTooLong.detail)])
    return Query(query_terms(query, lang), plain(query), blank)
