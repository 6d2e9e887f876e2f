"""Taking memories out as a file, and bringing a file in: managers only."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from huqan_site.lib.problems import FieldError, Refusal
from memory.domain.lines import LINE, Line, Unfit, read
from memory.gateway.bring_in import Became, Fate, File, bring_in
from memory.gateway.take_out import take_out
from memory.views.address import address
from memory.words import rests_on
from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.access.views.shared import managed, refused_status
from review.domain.refusals import Invalid
from review.views.attached import attachment
from review.views.form import text_of

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

    from review.access.models import Workspace

LARGEST = 1024 * 1024  # bytes of a file that is sent by a form
MOST_HERE = 500  # lines that one request brings in; the command takes more
MOST_ROWS = 100


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def import_page(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Ask for a file; on POST bring it in and say line by line what was not."""
    workspaces = managed(actor)
    if request.method != "POST":
        return _page(request, workspaces)
    try:
        into, (file, lines) = _chosen(request, workspaces), _sent(request)
        became = [one for batch in bring_in(lines, into=into, by=actor, file=file) for one in batch]
    except Refusal as refusal:
        return _page(request, workspaces, refusal=refusal)
    return _page(request, workspaces, status=_recorded(became, file, into), rows=_left_out(became))


@require_safe
@signed_in
def export(request: HttpRequest, actor: PersonActor) -> HttpResponseBase:
    """Give the file, once the log has it that it leaves."""
    into = _named(request.GET.get("workspace", ""), managed(actor))
    taken = take_out(into, by=actor, and_held=request.GET.get("held") == "1")
    lines = (f"{line}\n" for line in taken.lines)
    return attachment(lines, "application/x-ndjson", f"memory-{into.name}.jsonl")


def _chosen(request: HttpRequest, workspaces: list[Workspace]) -> Workspace:
    return _named(request.POST.get("workspace", ""), workspaces)


def _named(name: str, workspaces: list[Workspace]) -> Workspace:
    """Return the workspace of that name that this person manages, the first of them without one. Raises: Invalid."""
    found = next((one for one in workspaces if name in ("", one.name)), None)
    if found is None:
        raise Invalid(
            errors=[FieldError("/workspace", "unknown", _("You manage no workspace of that name."))]
        )
    return found


def _sent(request: HttpRequest) -> tuple[File, list[Line]]:
    """Return the file that the form carried and its lines. Raises: Invalid, Unfit."""
    sent = request.FILES.get("file")
    if sent is None:
        raise _not_taken(_("Choose a file."))
    if (sent.size or 0) > LARGEST:
        raise _not_taken(_("The file is larger than 1 MiB. The command import_memory takes it."))
    content = sent.read()
    lines = read(content.splitlines())
    if len(lines) > MOST_HERE:
        raise _not_taken(
            _("The file has more than %(n)d lines. The command import_memory takes it.") % {"n": MOST_HERE}
        )
    return File(_name(sent), hashlib.sha256(content).hexdigest()), lines


def _name(sent: UploadedFile[Any]) -> str:
    return text_of(sent.name or "")[:200] or _("a file without a name")


def _not_taken(detail: str) -> Invalid:
    return Invalid(errors=[FieldError("/file", "invalid", detail)])


def _page(
    request: HttpRequest,
    workspaces: list[Workspace],
    *,
    refusal: Refusal | None = None,
    status: dict[str, Any] | None = None,
    rows: Sequence[dict[str, Any]] = (),
) -> HttpResponse:
    names = [workspace.name for workspace in workspaces]
    context = {
        "back": {"url": reverse("memory"), "label": _("Memory"), "place": ""},
        "status": _not_imported(refusal) if refusal else status,
        "rows": _faults(refusal) if isinstance(refusal, Unfit) else rows,
        "workspaces": [(name, name) for name in names],
        "chosen": request.POST.get("workspace", ""),
        "file_error": _file_error(refusal),
        "schema": json.dumps(LINE, indent=2),
        "exports": [
            {
                "name": name,
                "url": address("memory_export", {"workspace": name}),
                "held_url": address("memory_export", {"workspace": name, "held": "1"}),
            }
            for name in names
        ],
    }
    return render(request, "memory/import.html", context, status=refusal.status if refusal else 200)


def _not_imported(refusal: Refusal) -> dict[str, Any]:
    why = " ".join(error.detail for error in refusal.errors) or refusal.detail
    return refused_status(refusal, _("Not imported. %(why)s") % {"why": why})


def _file_error(refusal: Refusal | None) -> str:
    return next((error.detail for error in refusal.errors if error.pointer == "/file"), "") if refusal else ""


def _faults(unfit: Unfit) -> list[dict[str, Any]]:
    return [
        {"line": fault.line, "place": fault.pointer, "why": fault.detail, "code": fault.code}
        for fault in unfit.faults
    ]


def _left_out(became: Sequence[Became]) -> list[dict[str, Any]]:
    found = [(one.line, _why_not(one)) for one in became if one.refusal or one.rests_on]
    return [{"line": line, "place": "", "why": why, "code": code} for line, (why, code) in found[:MOST_ROWS]]


def _why_not(one: Became) -> tuple[str, str]:
    if one.refusal:
        return _why(one.refusal), one.refusal.code
    return rests_on(one.rests_on or 0), one.fate.value


def _why(refusal: Refusal) -> str:
    return " ".join(error.detail for error in refusal.errors) or refusal.detail


def _recorded(became: Sequence[Became], file: File, into: Workspace) -> dict[str, Any]:
    fates = Counter(one.fate for one in became)
    told = _("%(proposed)d proposed, %(held)d held, %(known)d known here before, %(refused)d refused.") % {
        fate.value: fates[fate] for fate in Fate
    }
    if fates[Fate.WAITING]:
        told += " " + _("%(n)d wait for what they rest on.") % {"n": fates[Fate.WAITING]}
    title = ngettext("%(n)d line of %(file)s is read.", "%(n)d lines of %(file)s are read.", len(became))
    waiting = address("queue", {"view": "others", "q": f"import-{file.digest[:16]}"})
    return {
        "recorded": True,
        "title": title % {"n": len(became), "file": file.name},
        "sentence": f"{told} {_('You are the author, so others decide.')}" if fates[Fate.PROPOSED] else told,
        "link_url": waiting if fates[Fate.PROPOSED] else "",
        "link_label": _("What was proposed"),
    }
