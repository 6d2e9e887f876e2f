"""The memory calls of the agents' API. The scope is the token's workspace; no argument can widen it."""

from __future__ import annotations

import secrets
from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from ninja import Query, Router

from huqan_site.lib.problems import FieldError
from memory.api.schemas import ContextIn, ContextOut, ItemOut, QueryIn, RecallOut, RecordIn
from memory.domain.context import fenced
from memory.domain.validity import BadTime, parse_time
from memory.queries.recall import Question, item, recall, record_for_agent
from memory.queries.verdicts import Moment
from memory.search import Mode
from review.api.auth import actor_of
from review.api.documented import answers
from review.api.reading import refuse_unknown
from review.api.routes import MAY_READ
from review.domain.refusals import Invalid

router = Router(auth=MAY_READ, tags=["Memory"])


@router.post(
    "/query", response=answers({200: RecallOut}, body=True), summary="Recall what the workspace knows"
)
def query(request: HttpRequest, body: QueryIn) -> HttpResponse:
    """Hits are trusted, active and of this workspace. A degraded one is given with the reasons to doubt it."""
    question = Question(body.query, Mode(body.mode), body.limit, body.lang)
    found = recall(_scope(request), question, _moment(body.as_of, body.known_at))
    answer = {
        "items": [item(hit.judged, hit.score) for hit in found.hits],
        "mode": found.mode.value,
        "engine": found.engine,
        "degraded": list(found.degraded),
    }
    return JsonResponse(answer)


@router.get(
    "/records/{uuid:record_id}",
    response=answers({200: ItemOut}, refuses=[404, 422]),
    summary="Read one record",
)
def record(request: HttpRequest, record_id: UUID, query: Query[RecordIn]) -> HttpResponse:
    """What may not be recalled is not found, in the same words as what is not there."""
    refuse_unknown(request, RecordIn)
    moment = _moment(query.as_of, query.known_at)
    return JsonResponse(item(record_for_agent(_scope(request), record_id, moment)))


@router.post(
    "/context", response=answers({200: ContextOut}, body=True), summary="Memory for a prompt, as fenced data"
)
def context(request: HttpRequest, body: ContextIn) -> HttpResponse:
    """The same hits as text between two marks, new for each answer; whole records, as many as the budget takes."""
    found = recall(_scope(request), Question(body.query, limit=body.limit), _moment(None, None))
    items = [item(hit.judged, hit.score) for hit in found.hits]
    return JsonResponse(fenced(items, secrets.token_hex(16), body.max_tokens)._asdict())


def _scope(request: HttpRequest) -> UUID:
    return actor_of(request).agent.workspace_id


def _moment(as_of: str | None, known_at: str | None) -> Moment:
    """Raises: Invalid where a text names no moment."""
    return Moment(timezone.now(), _time("as_of", as_of), _time("known_at", known_at))


def _time(name: str, text: str | None) -> datetime | None:
    try:
        return None if text is None else parse_time(text)
    except BadTime as bad:
        raise Invalid(errors=[FieldError(f"/{name}", "time", bad.detail)]) from None
