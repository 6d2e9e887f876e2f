"""The trail as files: canonical entries a line, and a table that a spreadsheet opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.audit import bundle, export, queries
from review.services.read_log import note_export
from review.views.attached import attachment
from review.views.spreadsheet import csv_line
from review.views.trail_filters import Asked, asked_by

if TYPE_CHECKING:
    from review.audit.models import Entry

COLUMNS = (
    *("seq", "time", "who", "kind", "methods", "signed_in_at", "action", "object", "proposal", "tool"),
    *("risk", "binding", "shown", "code", "leaf"),
)


@require_safe
@signed_in
def export_jsonl(request: HttpRequest, actor: PersonActor) -> HttpResponseBase:
    """One canonical entry a line; what the reader may not see, or filtered away, as its place and leaf."""
    asked, size = asked_by(request, actor).readable(), queries.size()
    note_export(asked.workspaces, size, "jsonl", by=actor)
    texts = (f"{text}\n" for text in export.lines(asked.scope, asked.filters, stop=size))
    return attachment(texts, "application/x-ndjson", "audit.jsonl")


@require_safe
@signed_in
def export_zip(request: HttpRequest, actor: PersonActor) -> HttpResponseBase:
    """The same lines with all that it takes to check them without the console, the export's own entry among them."""
    asked = asked_by(request, actor).readable()
    note_export(asked.workspaces, queries.size(), "zip", by=actor)
    files = bundle.parts(asked.scope, asked.filters, stop=queries.size())
    return attachment(bundle.zipped(files), "application/zip", "audit.zip")


@require_safe
@signed_in
def export_csv(request: HttpRequest, actor: PersonActor) -> HttpResponseBase:
    """The entries of the page's filter as a table, safe to open in a spreadsheet."""
    asked = asked_by(request, actor).readable()
    note_export(asked.workspaces, queries.count(asked.scope, asked.filters), "csv", by=actor)
    return attachment(_table(asked), "text/csv; charset=utf-8", "audit.csv")


def _table(asked: Asked) -> Iterator[str]:
    yield csv_line(COLUMNS)
    before: int | None = None
    while chunk := queries.page(asked.scope, asked.filters, before=before, limit=500):
        yield from (csv_line(_cells(one)) for one in chunk)
        before = chunk[-1].seq


def _cells(one: Entry) -> list[object]:
    members = json.loads(one.canonical)
    actor, subject, after = members["actor"], members.get("object", {}), members.get("after", {})
    return [
        *(one.seq, members["time"], actor.get("account"), actor["kind"]),
        *(" ".join(actor.get("methods", ())), actor.get("auth_time"), members["action"], subject.get("id")),
        *(one.proposal, one.tool, members.get("risk"), members.get("binding"), members.get("shown")),
        *(after.get("code"), one.leaf),
    ]
