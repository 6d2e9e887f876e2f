"""Ranking of what a workspace may recall: one question, one answer, whichever engine runs."""

from memory.search.answer import LONGEST_QUERY, Answer, EmptyQuery, QueryTooLong, search
from memory.search.candidates import CandidateEngine
from memory.search.contract import (
    Candidate,
    Corpus,
    Engine,
    Epoch,
    Hit,
    Indexed,
    IndexUnusable,
    Mode,
    Query,
    Row,
    Statistics,
)
from memory.search.embedded import EmbeddedEngine

__all__ = [
    "LONGEST_QUERY",
    "Answer",
    "Candidate",
    "CandidateEngine",
    "Corpus",
    "EmbeddedEngine",
    "EmptyQuery",
    "Engine",
    "Epoch",
    "Hit",
    "IndexUnusable",
    "Indexed",
    "Mode",
    "Query",
    "QueryTooLong",
    "Row",
    "Statistics",
    "search",
]
