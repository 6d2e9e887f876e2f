"""Memories that contradict each other: what waits for a person, and one conflict with both of its sides."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from huqan_site.lib.problems import Refusal
from memory.domain.arguments import KEEP_BOTH, KEEP_NEW, KEEP_OLD, REMOVE_BOTH
from memory.domain.masking import masked
from memory.domain.validity import typed_time
from memory.gateway.ask import ask_to_resolve
from memory.queries import conflicts
from memory.views.address import address
from memory.words import answer_in_words, source_in_words, standing_in_words
from review.access.actors import PersonActor
from review.access.queries import has_role, workspaces_of
from review.access.roles import Role
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.domain.refusals import NotFound, ReasonRequired
from review.views.form import text_of

if TYPE_CHECKING:
    from memory.models import MemoryRecord, RecordConflict

SIDES = ("old", "new")
TIMES = ("valid_from", "valid_to")


@require_safe
@signed_in
def open_conflicts(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    found = conflicts.page(_scopes(actor, timezone.now()), request.GET.get("cursor"))
    context = {
        "back": {"url": reverse("memory"), "label": _("Memory"), "place": ""},
        "rows": [_row(one) for one in found.rows],
        "shown": _("%(n)d shown") % {"n": len(found.rows)},
        "next_url": address("conflicts", {"cursor": found.next_cursor}) if found.next_cursor else None,
    }
    return render(request, "memory/conflicts.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def conflict(request: HttpRequest, actor: PersonActor, conflict_id: UUID) -> HttpResponse:
    """Show both sides and what each answer does; on POST propose the answer, and go to where others decide."""
    now = timezone.now()
    found = conflicts.one_of(_scopes(actor, now), conflict_id)
    if request.method != "POST":
        return _page(request, found, actor, now, {})
    reason = text_of(request.POST.get("reason", ""))
    try:
        made = ask_to_resolve(found.id, by=actor, reason=reason, terms=_terms(request))
    except NotFound:
        raise
    except Refusal as refusal:
        return _page(request, found, actor, now, request.POST, refusal)
    return HttpResponseRedirect(reverse("proposal", args=[made.id]))


def _scopes(actor: PersonActor, now: datetime) -> list[UUID]:
    return [workspace.id for workspace in workspaces_of(actor.person.id, now)]


def _terms(request: HttpRequest) -> dict[str, Any]:
    """Return the answer, and the times that were typed with it: they belong to keeping both and to nothing else."""
    answer = request.POST.get("answer", "")
    times = {side: _typed_times(request.POST, side) for side in SIDES} if answer == KEEP_BOTH else {}
    return {"answer": answer, **{side: said for side, said in times.items() if said}}


def _typed_times(typed: Mapping[str, str], side: str) -> dict[str, str]:
    said = {name: typed.get(f"{side}_{name}", "").strip() for name in TIMES}
    return {name: typed_time(text) for name, text in said.items() if text}


def _row(one: RecordConflict) -> dict[str, Any]:
    return {
        "id": one.id,
        "url": reverse("conflict", args=[one.id]),
        "subject": masked(one.older.subject or "").text,
        "predicate": masked(one.older.predicate or "").text,
        "old": masked(one.older.content).text,
        "new": masked(one.newer.content).text,
        "workspace": one.workspace.name,
        "opened_at": one.opened_at,
    }


def _page(
    request: HttpRequest,
    found: RecordConflict,
    actor: PersonActor,
    now: datetime,
    typed: Mapping[str, str],
    refusal: Refusal | None = None,
) -> HttpResponse:
    awaiting = conflicts.awaiting(found, now) if found.is_open else None
    errors = {error.pointer: error.detail for error in refusal.errors} if refusal else {}
    context = {
        "back": {"url": reverse("conflicts"), "label": _("Open conflicts"), "place": ""},
        "status": _refused(refusal) if refusal else None,
        "conflict": _row(found),
        "sides": [_side(_("Old"), found.older), _side(_("New"), found.newer)],
        "open": found.is_open,
        "closed": None if found.is_open else _closed(found),
        "awaiting_url": reverse("proposal", args=[awaiting.id]) if awaiting else None,
        "may_resolve": has_role(actor.person.id, found.workspace_id, Role.REVIEWER, now),
        "answers": _answers(typed.get("answer", ""), errors),
        "times": _times(found, typed, errors),
        "reason": typed.get("reason", ""),
        "reason_error": refusal.detail if isinstance(refusal, ReasonRequired) else "",
    }
    return render(request, "memory/conflict.html", context, status=refusal.status if refusal else 200)


def _side(name: str, record: MemoryRecord) -> dict[str, Any]:
    lifecycle, trust = standing_in_words(record)
    return {
        "name": name,
        "id": record.id,
        "url": reverse("memory_record", args=[record.id]),
        "content": masked(record.content).text,
        "who": record.agent.name if record.agent else _("a person"),
        "proposal_url": reverse("proposal", args=[record.proposal_id]),
        "source": source_in_words(record.provenance),
        "stands": f"{lifecycle}, {trust}",
        "confidence": record.confidence,
        "recorded_at": record.recorded_at,
        "valid_from": record.valid_from,
        "valid_to": record.valid_to,
    }


def _closed(found: RecordConflict) -> dict[str, Any]:
    """Return what became of a conflict that does not wait for anybody."""
    if found.resolved_at is None or found.answer is None or found.resolution is None:
        gone = _("One side does not stand any more, or the two hold at different times.")
        return {"title": _("Nothing is left to resolve."), "sentence": gone, "url": None}
    return {
        "title": _("Resolved: %(answer)s.") % {"answer": answer_in_words(found.answer)},
        "sentence": _("Agents are told of no dispute between these two any more."),
        "url": reverse("proposal", args=[found.resolution.id]),
    }


def _answers(chosen: str, errors: Mapping[str, str]) -> dict[str, Any]:
    """Return the four answers as they stand side by side, none of them suggested."""
    gone = _("retracted: no agent reads it, and its value is refused from then on, also in other letters")
    sentences = {
        KEEP_OLD: _("The old one stays and is in dispute no more. The new one is %(gone)s."),
        KEEP_NEW: _("The new one stays and is in dispute no more. The old one is %(gone)s."),
        KEEP_BOTH: _(
            "Each is right for its own time. Say when each holds; the two must not share a moment. What was "
            "said of their times before stays known."
        ),
        REMOVE_BOTH: _("Neither is right. Both are %(gone)s."),
    }
    rows = [
        {
            "value": answer,
            "label": answer_in_words(answer),
            "sentence": sentence % {"gone": gone} if "%(gone)s" in sentence else sentence,
            "chosen": answer == chosen,
            "times": answer == KEEP_BOTH,
        }
        for answer, sentence in sentences.items()
    ]
    error = _("Choose one of the four.") if "/arguments/answer" in errors else ""
    return {"rows": rows, "error": error}


def _times(
    found: RecordConflict, typed: Mapping[str, str], errors: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return the four fields of keeping both, in UTC, beginning with when each side is said to hold now."""
    labels = {
        ("old", "valid_from"): _("Old holds from, UTC"),
        ("old", "valid_to"): _("Old holds until, UTC"),
        ("new", "valid_from"): _("New holds from, UTC"),
        ("new", "valid_to"): _("New holds until, UTC"),
    }
    records = {"old": found.older, "new": found.newer}
    return [
        {
            "name": f"{side}_{name}",
            "label": label,
            "value": typed.get(f"{side}_{name}", _written(getattr(records[side], name))),
            "error": errors.get(f"/arguments/{side}/{name}")
            or (errors.get(f"/arguments/{side}", "") if name == "valid_from" else ""),
        }
        for (side, name), label in labels.items()
    ]


def _written(at: datetime | None) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M") if at else ""


def _refused(refusal: Refusal) -> dict[str, Any]:
    why = " ".join(error.detail for error in refusal.errors) or refusal.detail
    return refused_status(refusal, _("Not proposed. %(why)s") % {"why": why})
