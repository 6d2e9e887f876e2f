"""The audit trail: managers read, filter, verify and export what happened in their workspaces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from review.access import queries as access
from review.access.actors import PersonActor
from review.access.refusals import NotFound, NotManager
from review.access.sessions import signed_in
from review.audit import export, queries
from review.audit.actions import Action
from review.audit.findings import Kind, Outcome, Report
from review.audit.queries import EVERYTHING, Filters, Scope
from review.audit.refusals import Unavailable
from review.audit.verify import verify
from review.domain.refusals import Invalid
from review.queries.story import tools
from review.services.read_log import note_export, note_reading, note_verification
from review.views.spreadsheet import attachment, csv_line
from review.views.trail_rows import detail, line, lines

if TYPE_CHECKING:
    from review.access.models import Workspace
    from review.audit.models import Entry

PAGE = 50
PATIENCE = timedelta(seconds=20)
NAMES = ("from", "to", "person", "agent", "action", "tool", "proposal", "workspace")


class Asked(NamedTuple):
    """What the address asks for. `filters` is None where a filter names what is not there: no entry matches."""

    workspaces: list[Workspace]
    scope: Scope
    filters: Filters | None
    typed: dict[str, str]


@require_safe
@signed_in
def trail(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    asked = _asked(request, actor)
    unrecorded = _unrecorded(asked, actor)
    return render(
        request, "audit/list.html", {**_page(request, asked), "unrecorded": unrecorded, "check": None}
    )


@require_safe
@signed_in
def entry(request: HttpRequest, actor: PersonActor, seq: int) -> HttpResponse:
    asked = _asked(request, actor)
    found = queries.entry(asked.scope, seq)
    if found is None:
        raise NotFound
    _unrecorded(asked, actor)
    context = {
        "back": {"url": reverse("audit"), "label": _("Audit trail")},
        "line": line(found),
        "entry": detail(found),
        "previous_url": _neighbour(asked.scope, seq - 1),
        "next_url": _neighbour(asked.scope, seq + 1),
    }
    return render(request, "audit/entry.html", context)


@require_POST
@signed_in
def verify_log(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Walk the whole log, as far as a page can wait; a longer one is the command's to walk."""
    asked = _asked(request, actor)
    report = verify(budget=PATIENCE)
    note_verification(asked.workspaces, report, by=actor)
    return render(
        request, "audit/list.html", {**_page(request, asked), "unrecorded": False, "check": _check(report)}
    )


@require_safe
@signed_in
def export_jsonl(request: HttpRequest, actor: PersonActor) -> HttpResponseBase:
    """One canonical entry a line; what the reader may not see, or filtered away, as its place and leaf."""
    asked, size = _readable(_asked(request, actor)), queries.size()
    note_export(asked.workspaces, size, "jsonl", by=actor)
    texts = (f"{text}\n" for text in export.lines(asked.scope, asked.filters or EVERYTHING, stop=size))
    return attachment(texts, "application/x-ndjson", "audit.jsonl")


@require_safe
@signed_in
def export_csv(request: HttpRequest, actor: PersonActor) -> HttpResponseBase:
    """The entries of the page's filter as a table, safe to open in a spreadsheet."""
    asked = _readable(_asked(request, actor))
    note_export(asked.workspaces, _count(asked), "csv", by=actor)
    return attachment(_table(asked), "text/csv; charset=utf-8", "audit.csv")


def _asked(request: HttpRequest, actor: PersonActor) -> Asked:
    """Raises: NotManager."""
    now = timezone.now()
    managed = access.managed_by(actor.person.id, now)
    if not managed:
        raise NotManager
    typed = {name: request.GET.get(name, "").replace("\0", "").strip() for name in NAMES}
    chosen = [one for one in managed if typed["workspace"] in ("", one.name)]
    members = {member.person.id for one in chosen for member in access.members(one.id, now)}
    scope = Scope(tuple(one.id for one in chosen), tuple(members))
    return Asked(chosen, scope, _filters(typed, chosen), typed)


def _readable(asked: Asked) -> Asked:
    """An export of nothing looks like a log in which nothing happened, so a filter has to be one.

    Raises: Invalid.
    """
    if asked.filters is None:
        raise Invalid(
            "A filter of this address is not a time, a person, an agent, an action or an id that is here."
        )
    return asked


def _filters(typed: dict[str, str], workspaces: list[Workspace]) -> Filters | None:
    try:
        return Filters(
            since=_day(typed["from"]),
            until=_day(typed["to"], after=timedelta(days=1)),
            person=_person(typed["person"]),
            agent=_agent(typed["agent"], workspaces),
            action=Action(typed["action"]) if typed["action"] else None,
            tool=typed["tool"] or None,
            proposal=UUID(typed["proposal"]) if typed["proposal"] else None,
        )
    except (ValueError, LookupError, OverflowError):
        return None


def _day(text: str, after: timedelta = timedelta(0)) -> datetime | None:
    """A day, or a moment with its zone; `after` makes the whole last day count."""
    if not text:
        return None
    if len(text) > len("2026-11-30"):
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return datetime.combine(datetime.fromisoformat(text).date(), time(), UTC) + after


def _person(name: str) -> UUID | None:
    if not name:
        return None
    account = access.account(name)
    if account is None:
        raise LookupError(name)
    return account.person_id


def _agent(name: str, workspaces: list[Workspace]) -> UUID | None:
    if not name:
        return None
    named = [agent.id for agent in access.agents_of(one.id for one in workspaces) if agent.name == name]
    return named[0]


def _unrecorded(asked: Asked, actor: PersonActor) -> bool:
    """Record the reading; where that cannot be done, the page is shown and says so."""
    try:
        note_reading(asked.workspaces, by=actor)
    except Unavailable:
        return True
    return False


def _page(request: HttpRequest, asked: Asked) -> dict[str, Any]:
    before, opened = _number(request, "before"), _number(request, "open")
    found = (
        []
        if asked.filters is None
        else queries.page(asked.scope, asked.filters, before=before, limit=PAGE + 1)
    )
    shown, more = found[:PAGE], len(found) > PAGE
    filtered = any(asked.typed.values())
    return {
        "list_url": reverse("audit"),
        "day": "",
        "fields": {"from": asked.typed["from"], "to": asked.typed["to"], "proposal": asked.typed["proposal"]},
        "filters": _picks(asked),
        "filtered": filtered,
        "clear_url": reverse("audit"),
        "export_jsonl_url": _address("audit_export_jsonl", asked),
        "export_csv_url": _address("audit_export_csv", asked),
        "verify_url": reverse("audit_verify"),
        "ranges": None,
        "entries": [_opened(row, one, opened, asked) for row, one in zip(lines(shown), shown, strict=True)],
        "shown": ngettext("Newest first, %(n)d entry", "Newest first, %(n)d entries", len(shown))
        % {"n": len(shown)},
        "next_url": _address("audit", asked, before=str(shown[-1].seq)) if more else None,
        "first_url": _address("audit", asked) if before is not None else None,
    }


def _opened(row: dict[str, Any], one: Entry, opened: int | None, asked: Asked) -> dict[str, Any]:
    is_open = one.seq == opened
    more = {} if is_open else {"open": str(one.seq)}
    return {
        **row,
        "on_url": None,
        "open_url": _address("audit", asked, **more),
        "opened": detail(one) if is_open else None,
    }


def _picks(asked: Asked) -> list[dict[str, Any]]:
    now, ids = timezone.now(), [workspace.id for workspace in asked.workspaces]
    people = sorted({name for one in ids for member in access.members(one, now) for name in member.accounts})
    offered = {
        "person": (_("Person"), people),
        "agent": (_("Agent"), sorted(agent.name for agent in access.agents_of(ids))),
        "action": (_("Action"), [action.value for action in Action]),
        "tool": (_("Tool"), tools(ids)),
        "workspace": (_("Workspace"), [workspace.name for workspace in asked.workspaces]),
    }
    return [
        {
            "name": name,
            "label": label,
            "options": [("", _("any")), *((value, value) for value in values)],
            "chosen": asked.typed[name],
        }
        for name, (label, values) in offered.items()
    ]


def _address(name: str, asked: Asked, **more: str) -> str:
    query = urlencode({**{key: value for key, value in asked.typed.items() if value}, **more})
    return f"{reverse(name)}?{query}" if query else reverse(name)


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


def _count(asked: Asked) -> int:
    return queries.count(asked.scope, asked.filters) if asked.filters else 0


def _table(asked: Asked) -> Iterator[str]:
    yield csv_line(
        ["seq", "time", "who", "kind", "action", "object", "proposal", "tool", "binding", "code", "leaf"]
    )
    before: int | None = None
    while asked.filters and (chunk := queries.page(asked.scope, asked.filters, before=before, limit=500)):
        yield from (csv_line(_cells(one)) for one in chunk)
        before = chunk[-1].seq


def _cells(one: Entry) -> list[object]:
    members = json.loads(one.canonical)
    actor, subject, after = members["actor"], members.get("object", {}), members.get("after", {})
    return [
        *(one.seq, members["time"], actor.get("account"), actor["kind"], members["action"]),
        *(subject.get("id"), one.proposal, one.tool, members.get("binding"), after.get("code"), one.leaf),
    ]
