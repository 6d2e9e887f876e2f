"""What the memory calls take and give. Requests are closed and strict."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field

from memory.domain.context import FEWEST_TOKENS, MOST_TOKENS, USUAL_TOKENS
from memory.domain.validity import RFC_3339
from review.api.schemas import WHOLE, Id, Request

Limit = Annotated[int, Field(ge=1, le=100), WHOLE]
Time = Annotated[
    str,
    Field(
        max_length=40,
        examples=["2026-12-07T10:00:00Z"],
        json_schema_extra={"pattern": f"^{RFC_3339.pattern}$"},
    ),
]
Words = Annotated[str, Field(examples=["staging port"])]


class QueryIn(Request):
    """`as_of`: when it holds in the world. `known_at`: when it was known here. Without them: now."""

    query: Words
    mode: Literal["bm25", "substring", "recency"] = "bm25"
    limit: Limit = 10
    lang: Literal["en", "tr"] | None = None
    as_of: Time | None = None
    known_at: Time | None = None


class ContextIn(Request):
    query: Words
    limit: Limit = 10
    max_tokens: Annotated[int, Field(ge=FEWEST_TOKENS, le=MOST_TOKENS), WHOLE] = USUAL_TOKENS


class RecordIn(Schema):
    """The query of one record."""

    model_config = ConfigDict(extra="forbid")

    as_of: Time | None = None
    known_at: Time | None = None


class VerdictOut(Schema):
    decision: Literal["admit", "degrade"]
    reasons: list[str]


class ItemOut(Schema):
    """`score` is null where the mode gives none; it orders hits and is no confidence."""

    id: Id
    content: str
    subject: str | None
    predicate: str | None
    score: float | None
    verdict: VerdictOut
    provenance: dict[str, Any] | None
    confidence: float | None
    valid_from: str | None
    valid_to: str | None
    recorded_at: str
    expires_at: str | None
    supersedes: Id | None
    proposal: Id


class RecallOut(Schema):
    """`degraded` names what could not be searched; an arm that failed is not one that found nothing."""

    items: list[ItemOut]
    mode: Literal["bm25", "substring", "recency"]
    engine: Literal["embedded", "fts5", "postgres"]
    degraded: list[str]


class ContextOut(Schema):
    text: str
    items: list[ItemOut]
    tokens: int
