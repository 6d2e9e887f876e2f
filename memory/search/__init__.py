"""Ranking of what a workspace may recall: one question, one answer, whichever engine runs."""

from memory.search.answer import LONGEST_QUERY, Answer, EmptyQuery, QueryTooLong, search
from memory.search.contract import Corpus, Engine, Epoch, Hit, Mode, Query, Row
from memory.search.embedded import EmbeddedEngine

__all__ = [
    "LONGEST_QUERY",
    "Answer",
    "Corpus",
    "EmbeddedEngine",
    "EmptyQuery",
    "Engine",
    "Epoch",
    "Hit",
    "Mode",
    "Query",
    "QueryTooLong",
    "Row",
    "search",
]
