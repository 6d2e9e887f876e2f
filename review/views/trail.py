"""The audit trail: managers read, filter, verify and export what happened in their workspaces."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from review.access.actors import PersonActor
from review.access.refusals import NotFound
from review.access.sessions import signed_in
from review.audit import queries
from review.audit.findings import Kind, Outcome, Report
from review.audit.proof_files import Unproved, entry_is_in
from review.audit.queries import Scope
from review.audit.refusals import Unavailable
from review.audit.verify import verify
from review.services.read_log import note_reading, note_verification
from review.views.adoption import shown_dispute
from review.views.attached import attachment
from review.views.trail_filters import Asked, asked_by, picks
from review.views.trail_rows import detail, line, lines

if TYPE_CHECKING:
    from review.audit.models import Entry

PAGE = 50
PATIENCE = timedelta(seconds=20)


@require_safe
@signed_in
def trail(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    asked = asked_by(request, actor)
    state = {"unrecorded": unrecorded(asked, actor), "check": None}
    return render(request, "audit/list.html", {**_page(request, asked), **state})


@require_safe
@signed_in
def entry(request: HttpRequest, actor: PersonActor, seq: int) -> HttpResponse:
    asked = asked_by(request, actor)
    found = queries.entry(asked.scope, seq)
    if found is None:
        raise NotFound
    context = {
        "unrecorded": unrecorded(asked, actor),
        "back": {"url": reverse("audit"), "label": _("Audit trail")},
        "line": line(found),
        "entry": detail(found),
        "previous_url": _neighbour(asked.scope, seq - 1),
        "next_url": _neighbour(asked.scope, seq + 1),
    }
    return render(request, "audit/entry.html", context)


@require_safe
@signed_in
def proof(request: HttpRequest, actor: PersonActor, seq: int) -> HttpResponseBase:
    """The file by which somebody else can see that an entry is in the log: docs/log_verifier.py checks it."""
    asked = asked_by(request, actor)
    found = queries.entry(asked.scope, seq)
    if found is None:
        raise NotFound
    unrecorded(asked, actor)
    try:
        document = entry_is_in(found)
    except Unproved:
        raise NotFound("No checkpoint covers this entry yet. Come back in a minute.") from None
    text = json.dumps(document, indent=1, ensure_ascii=False)
    return attachment([text], "application/json", f"proof-{seq}.json")


@require_POST
@signed_in
def verify_log(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Walk the whole log, as far as a page can wait; a longer one is the command's to walk."""
    asked = asked_by(request, actor)
    report = verify(budget=PATIENCE)
    note_verification(asked.workspaces, report, by=actor)
    return render(
        request, "audit/list.html", {**_page(request, asked), "unrecorded": False, "check": _check(report)}
    )


def unrecorded(asked: Asked, actor: PersonActor) -> bool:
    """Record the reading; where that cannot be done, the page is shown and says so."""
    try:
        note_reading(asked.workspaces, by=actor)
    except Unavailable:
        return True
    return False


def _page(request: HttpRequest, asked: Asked) -> dict[str, Any]:
    before, opened = _number(request, "before"), _number(request, "open")
    found = [] if asked.faults else queries.page(asked.scope, asked.filters, before=before, limit=PAGE + 1)
    shown, more = found[:PAGE], len(found) > PAGE
    filtered = any(asked.typed.values())
    return {
        "list_url": reverse("audit"),
        "day": "",
        "fields": asked.typed,
        "filters": picks(asked),
        "fault": asked.sentence(),
        "filtered": filtered,
        "clear_url": reverse("audit"),
        "export_jsonl_url": asked.address("audit_export_jsonl"),
        "export_zip_url": asked.address("audit_export_zip"),
        "export_csv_url": asked.address("audit_export_csv"),
        "verify_url": reverse("audit_verify"),
        "ranges": None,
        "dispute": shown_dispute(request),
        "entries": [_opened(row, one, opened, asked) for row, one in zip(lines(shown), shown, strict=True)],
        "shown": ngettext("Newest first, %(n)d entry", "Newest first, %(n)d entries", len(shown))
        % {"n": len(shown)},
        "next_url": asked.address("audit", before=str(shown[-1].seq)) if more else None,
        "first_url": asked.address("audit") if before is not None else None,
    }


def _opened(row: dict[str, Any], one: Entry, opened: int | None, asked: Asked) -> dict[str, Any]:
    is_open = one.seq == opened
    more = {} if is_open else {"open": str(one.seq)}
    return {
        **row,
        "open_url": asked.address("audit", **more),
        "opened": detail(one) if is_open else None,
    }


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _neighbour(scope: Scope, seq: int) -> str | None:
    return reverse("audit_entry", args=[seq]) if seq >= 0 and queries.entry(scope, seq) else None


def _check(report: Report) -> dict[str, Any]:
    states = {Outcome.OK: "ok", Outcome.FAULT: "bad", Outcome.CANNOT_JUDGE: "unknown"}
    return {
        "state": states[report.outcome],
        "at": report.finished,
        "range": _("Entries %(first)d to %(last)d of %(size)d walked")
        % {"first": report.first, "last": max(report.stop - 1, 0), "size": report.size},
        "edited": _listed(report, Kind.EDITED),
        "missing": _listed(report, Kind.MISSING),
        "states": _("%(good)d of %(all)d agree") % {"good": report.states_agreeing, "all": report.states},
        "checkpoint": _("%(n)d entries vouched for") % {"n": report.checkpoint}
        if report.checkpoint
        else _("None yet"),
        "first_bad": report.first_bad,
    }


def _listed(report: Report, kind: Kind) -> str:
    faults = report.of_kind(kind)
    return "; ".join(fault.sentence for fault in faults[:5]) or _("None")
