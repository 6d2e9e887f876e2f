"""Beginning a change of a record: what it would do, why, and the proposal that others decide."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from huqan_site.lib.problems import Refusal
from memory import preview
from memory.domain.masking import masked
from memory.gateway.ask import ask, replacement
from memory.gateway.columns import as_arguments
from memory.queries import people
from memory.words import standing_in_words
from review.access.actors import PersonActor
from review.access.queries import workspaces_of
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.domain.refusals import NotFound, ReasonRequired
from review.views.form import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory.models import MemoryRecord
    from review.effects import PreviewRow


class Change(NamedTuple):
    """A tool that a person begins on the page of a record, in words, and the records it takes.

    What it does happens once others approve; `at_once` is said of the brake, which others release.
    """

    tool: str
    name: str
    label: str | Promise
    title: str | Promise
    sentence: str | Promise
    lifecycle: str
    rows: Callable[[MemoryRecord], list[PreviewRow]]
    at_once: bool = False

    def takes(self, record: MemoryRecord) -> bool:
        return (record.trust, record.lifecycle) == ("trusted", self.lifecycle)


RETRACT = Change(
    "memory.retract",
    "memory_retract",
    gettext_lazy("Retract"),
    gettext_lazy("Retract this memory"),
    gettext_lazy("It was wrong, or must not be known. Nothing brings its value back but a proposal."),
    "active",
    preview.of_retraction,
)
SUPERSEDE = Change(
    "memory.supersede",
    "memory_supersede",
    gettext_lazy("Replace"),
    gettext_lazy("Replace this memory"),
    gettext_lazy("It is not right any more. What you write takes its place and names it."),
    "active",
    preview.of_superseding,
)
ARCHIVE = Change(
    "memory.archive",
    "memory_archive",
    gettext_lazy("Archive"),
    gettext_lazy("Archive this memory"),
    gettext_lazy("It was right and is not needed now. It can be restored, and said anew."),
    "active",
    preview.of_archiving,
)
RESTORE = Change(
    "memory.restore",
    "memory_restore",
    gettext_lazy("Restore"),
    gettext_lazy("Restore this memory"),
    gettext_lazy("Agents recall it again, as it was."),
    "archived",
    preview.of_restoring,
)
QUARANTINE = Change(
    "memory.release",
    "memory_quarantine",
    gettext_lazy("Put into quarantine"),
    gettext_lazy("Put this memory into quarantine"),
    gettext_lazy("You doubt it. No agent recalls it from now on, until independent people release it."),
    "active",
    preview.of_setting_aside,
    at_once=True,
)
CHANGES = (RESTORE, SUPERSEDE, ARCHIVE, QUARANTINE, RETRACT)


def actions(record: MemoryRecord) -> list[dict[str, Any]]:
    """Return what can be begun on the page of `record`, as it stands."""
    return [
        {"url": reverse(change.name, args=[record.id]), "label": change.label}
        for change in CHANGES
        if change.takes(record)
    ]


NO_TIMES: Mapping[str, str] = MappingProxyType({})
TIMES = ("valid_from", "valid_to", "expires_at")


class Typed(NamedTuple):
    """What stands in the form: why, and for a replacement what takes the place."""

    reason: str = ""
    content: str | None = None
    times: Mapping[str, str] = NO_TIMES


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def begin(request: HttpRequest, actor: PersonActor, record_id: UUID, change: Change) -> HttpResponse:
    """Show what `change` would do; on POST propose it, and go to where others decide."""
    scopes = [workspace.id for workspace in workspaces_of(actor.person.id, timezone.now())]
    record = people.record(scopes, record_id)
    if request.method != "POST":
        return _form(request, record, change, _to_replace(record) if change is SUPERSEDE else Typed())
    typed = _typed(request, change)
    terms = {} if typed.content is None else replacement(record, typed.content, actor, typed.times)
    try:
        made = ask(change.tool, record_id, by=actor, reason=typed.reason, terms=terms)
    except NotFound:
        raise
    except Refusal as refusal:
        return _form(request, record, change, typed, refusal)
    return HttpResponseRedirect(reverse("quarantine_item" if change.at_once else "proposal", args=[made.id]))


def _to_replace(record: MemoryRecord) -> Typed:
    """Return what a replacement starts from. A secret is not shown, and what stands for it must not take its place."""
    said, shown = as_arguments(record), masked(record.content)
    times = {name: said.get(name, "") for name in TIMES}
    return Typed(content="" if shown.is_masked else shown.text, times=times)


def _typed(request: HttpRequest, change: Change) -> Typed:
    reason = text_of(request.POST.get("reason", ""))
    if change is not SUPERSEDE:
        return Typed(reason)
    times = {name: text_of(request.POST.get(name, "")).strip() for name in TIMES}
    return Typed(reason, text_of(request.POST.get("content", "")), times)


def _form(
    request: HttpRequest, record: MemoryRecord, change: Change, typed: Typed, refusal: Refusal | None = None
) -> HttpResponse:
    lifecycle, trust = standing_in_words(record)
    said = {
        "back": {"url": reverse("memory_record", args=[record.id]), "label": _("Memory"), "place": ""},
        "title": change.title,
        "sentence": change.sentence,
        "content": masked(record.content).text,
        "stands": None if change.takes(record) else f"{lifecycle}, {trust}",
        "at_once": change.label if change.at_once else None,
    }
    return form_page(request, said, change.rows(record), typed, refusal)


def form_page(
    request: HttpRequest,
    said: dict[str, Any],
    rows: list[PreviewRow],
    typed: Typed,
    refusal: Refusal | None = None,
) -> HttpResponse:
    """Show templates/memory/change.html: what is `said` of the thing, what would become of it, and what was typed."""
    errors = {error.pointer: error.detail for error in refusal.errors} if refusal else {}
    context = {
        **said,
        "status": _refused(refusal) if refusal else None,
        "preview": {"rows": [row._asdict() for row in rows]},
        "replacement": _replacement(typed, errors),
        "reason": typed.reason,
        "reason_error": refusal.detail if isinstance(refusal, ReasonRequired) else "",
    }
    return render(request, "memory/change.html", context, status=refusal.status if refusal else 200)


def _replacement(typed: Typed, errors: Mapping[str, str]) -> dict[str, Any] | None:
    if typed.content is None:
        return None
    labels = {
        "valid_from": _("Holds from"),
        "valid_to": _("Holds until"),
        "expires_at": _("Kept until"),
    }
    times = [
        {
            "name": name,
            "label": labels[name],
            "value": typed.times.get(name, ""),
            "error": errors.get(f"/arguments/{name}", ""),
        }
        for name in TIMES
    ]
    return {"text": typed.content, "error": errors.get("/arguments/content", ""), "times": times}


def _refused(refusal: Refusal) -> dict[str, Any]:
    """Return the status region of a form whose proposal was refused."""
    why = " ".join(error.detail for error in refusal.errors) or refusal.detail
    return refused_status(refusal, _("Not proposed. %(why)s") % {"why": why})
