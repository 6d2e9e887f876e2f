"""Search memory as an agent would, and see what it would not get, and why."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from memory.domain.masking import masked
from memory.domain.recall import Outcome
from memory.domain.validity import BadTime, parse_time, typed_time
from memory.queries.conflicts import open_number
from memory.queries.people import kept_from_agents
from memory.queries.recall import Found, Question, Recalled, recall
from memory.queries.verdicts import Moment
from memory.search import LONGEST_QUERY, EmptyQuery, Mode, QueryTooLong
from memory.views.address import asked
from memory.words import reason_in_words, source_in_words, standing_in_words
from review.access.actors import PersonActor
from review.access.queries import managed_by, workspaces_of
from review.access.sessions import signed_in

if TYPE_CHECKING:
    from memory.models import MemoryRecord
    from review.access.models import Workspace


SHOWN = 50
VERDICTS = {verdict.value for verdict in Outcome}


@require_safe
@signed_in
def search(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    now = timezone.now()
    workspaces = workspaces_of(actor.person.id, now)
    workspace = _workspace(workspaces, asked(request, "workspace"))
    question = _question(request)

    found, recalled, error = _search(request, workspace, question, now)
    verdict = asked(request, "verdict")
    hits = [hit for hit in found if verdict not in VERDICTS or _decision(hit) == verdict]

    context = {
        "list_url": reverse("memory"),
        "exchange_url": reverse("memory_import") if managed_by(actor.person.id, now) else None,
        "query": question.query,
        "filters": _picks(request, workspaces, workspace),
        "times": _times(request),
        "open_conflicts": open_number(one.id for one in workspaces),
        "filtered": bool(request.GET),
        "clear_url": reverse("memory"),
        "searched": workspace is not None,
        "error": error,
        "engine": _engine(recalled),
        "hits": [_row(hit) for hit in hits],
        "counts": _counts(found),
        "shown": _shown(found),
        "next_url": None,
    }
    return render(request, "memory/search.html", context)


def _workspace(workspaces: list[Workspace], name: str) -> Workspace | None:
    """The workspace asked for, else the first in which this person has a role; an agent only ever has one."""
    return next((one for one in workspaces if one.name == name), workspaces[0] if workspaces else None)


def _question(request: HttpRequest) -> Question:
    """What is asked; without any query the newest, so that the page says something."""
    query, mode = asked(request, "q", LONGEST_QUERY + 1), request.GET.get("mode", "")
    if mode not in set(Mode):
        mode = Mode.BM25 if query else Mode.RECENCY
    return Question(query, Mode(mode), SHOWN)


def _times(request: HttpRequest) -> list[dict[str, str]]:
    """Return the fields of the time of the world and that of the system, as they were typed."""
    labels = {"as_of": _("Holds at, UTC"), "known_at": _("Known at, UTC")}
    return [{"name": name, "label": label, "value": asked(request, name)} for name, label in labels.items()]


def _moment(request: HttpRequest, now: datetime) -> Moment:
    """Return when it is asked for. Raises: BadTime."""
    as_of, known_at = (asked(request, name) for name in ("as_of", "known_at"))
    return Moment(now, _time(as_of), _time(known_at))


def _time(text: str) -> datetime | None:
    return parse_time(typed_time(text)) if text else None


def _search(
    request: HttpRequest, workspace: Workspace | None, question: Question, now: datetime
) -> tuple[list[Found], Recalled | None, str | None]:
    """Return what an agent would get, then what it would not; or the sentence that says what to type."""
    if workspace is None:
        return [], None, None
    try:
        moment = _moment(request, now)
        recalled = recall(workspace.id, question, moment)
        kept = kept_from_agents(workspace.id, question, moment)
    except (EmptyQuery, QueryTooLong, BadTime) as refusal:
        return [], None, refusal.detail
    return [*recalled.hits, *recalled.withheld, *kept], recalled, None


def _picks(
    request: HttpRequest, workspaces: list[Workspace], chosen: Workspace | None
) -> list[dict[str, Any]]:
    modes = [
        ("", _("best match")),
        (Mode.SUBSTRING.value, _("exact words")),
        (Mode.RECENCY.value, _("newest first")),
    ]
    verdicts = [
        ("", _("any")),
        (Outcome.ADMIT.value, _("admitted")),
        (Outcome.DEGRADE.value, _("given with a doubt")),
        (Outcome.WITHHOLD.value, _("withheld")),
    ]
    names = [(workspace.name, workspace.name) for workspace in workspaces]
    return [
        {"name": "mode", "label": _("Order"), "options": modes, "chosen": request.GET.get("mode", "")},
        {"name": "verdict", "label": _("Verdict"), "options": verdicts, "chosen": asked(request, "verdict")},
        {
            "name": "workspace",
            "label": _("Workspace"),
            "options": names,
            "chosen": chosen.name if chosen else "",
        },
    ]


def _engine(recalled: Recalled | None) -> dict[str, Any]:
    if recalled is None:
        return {"sorted": "", "degraded": []}
    sentence = (
        _("Best match first, %(engine)s") if recalled.mode is Mode.BM25 else _("Newest first, %(engine)s")
    )
    engines = {"embedded": _("embedded engine")}
    engine = engines.get(recalled.engine, recalled.engine)
    return {"sorted": sentence % {"engine": engine}, "degraded": list(recalled.degraded)}


def _row(hit: Found) -> dict[str, Any]:
    record, verdict = hit.judged.record, hit.judged.verdict
    return {
        "id": record.id,
        "url": reverse("memory_record", args=[record.id]),
        "content": masked(record.content).text,
        "verdict": verdict.decision.value,
        "reasons": [_reason(reason, record) for reason in verdict.reasons],
        "source": source_in_words(record.provenance),
        "confidence": record.confidence,
        "recorded_at": record.recorded_at,
        "score": hit.score,
    }


def _reason(reason: str, record: MemoryRecord) -> str:
    """Return a reason as a clause; people are told what became of a record that agents only miss."""
    return standing_in_words(record)[0] if reason == "inactive" else reason_in_words(reason)


def _decision(hit: Found) -> str:
    return hit.judged.verdict.decision.value


def _counts(hits: list[Found]) -> dict[str, int]:
    decisions = [_decision(hit) for hit in hits]
    return {
        "admitted": decisions.count(Outcome.ADMIT),
        "degraded": decisions.count(Outcome.DEGRADE),
        "withheld": decisions.count(Outcome.WITHHOLD),
        "total": len(decisions),
    }


def _shown(hits: list[Found]) -> str:
    counts = _counts(hits)
    sentence = _("%(admitted)d admitted, %(degraded)d given with a doubt, %(withheld)d withheld from agents")
    return sentence % counts
