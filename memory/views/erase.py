"""Asking that a text be erased: one record, or all about somebody. Two others decide, and nothing brings it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from huqan_site.lib.problems import Refusal
from memory.domain.arguments import ERASE
from memory.domain.masking import masked
from memory.erasing import rows
from memory.gateway.ask import ask, ask_to_erase
from memory.gateway.reach import of_label, of_record
from memory.gateway.values import label_keys_in
from memory.queries import erasures, people
from memory.views.change import Typed, form_page
from review.access.actors import PersonActor
from review.access.queries import has_role, workspaces_of
from review.access.roles import Role
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.audit.attest import attest
from review.domain.refusals import NotFound, ReasonRequired
from review.queries.visible import visible
from review.views.attached import attachment
from review.views.form import text_of

if TYPE_CHECKING:
    from memory.models import MemoryRecord
    from review.access.models import Workspace

ERASED = "erased"
SENTENCE = gettext_lazy(
    "For good: nobody can read it again, people neither. Do not repeat in the reason what is to go."
)


def action(record: MemoryRecord) -> list[dict[str, Any]]:
    """Return how erasing is begun on the page of `record`, unless it is erased."""
    if record.lifecycle == ERASED:
        return []
    return [{"url": reverse("memory_erase", args=[record.id]), "label": _("Erase")}]


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def erase(request: HttpRequest, actor: PersonActor, record_id: UUID) -> HttpResponse:
    """Show what erasing a record would take with it; on POST propose it, and go to where others decide."""
    scopes = [workspace.id for workspace in workspaces_of(actor.person.id, timezone.now())]
    record = people.record(scopes, record_id)
    reason = text_of(request.POST.get("reason", ""))
    if request.method != "POST":
        return _form(request, record, reason)
    try:
        made = ask(ERASE, record_id, by=actor, reason=reason)
    except NotFound:
        return _form(request, record, reason)
    except Refusal as refusal:
        return _form(request, record, reason, refusal)
    return HttpResponseRedirect(reverse("proposal", args=[made.id]))


def _form(
    request: HttpRequest, record: MemoryRecord, reason: str, refusal: Refusal | None = None
) -> HttpResponse:
    said = {
        "back": {"url": reverse("memory_record", args=[record.id]), "label": _("Memory"), "place": ""},
        "title": _("Erase this memory"),
        "sentence": str(SENTENCE),
        "content": masked(record.content).text or _("Erased"),
        "stands": _("erased") if record.lifecycle == ERASED else None,
    }
    return form_page(request, said, rows(of_record(record.workspace_id, record.id)), Typed(reason), refusal)


class Asked(NamedTuple):
    """What stands in the form: whose texts, where, and why. `is_shown` says that he saw what it reaches."""

    label: str
    reason: str
    workspace: Workspace | None
    is_shown: bool


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def erase_label(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Show all that carries a label; once that was shown, propose to erase it. The label is never in an address."""
    now = timezone.now()
    reviewed = [
        one
        for one in workspaces_of(actor.person.id, now)
        if has_role(actor.person.id, one.id, Role.REVIEWER, now)
    ]
    if not reviewed:
        raise NotFound
    asked = _asked(request, reviewed)
    if not (asked.is_shown and asked.workspace and asked.label):
        return _label_form(request, reviewed, asked)
    try:
        made = ask_to_erase(asked.label, asked.workspace.id, by=actor, reason=asked.reason)
    except Refusal as refusal:
        return _label_form(request, reviewed, asked, refusal)
    return HttpResponseRedirect(reverse("proposal", args=[made.id]))


def _asked(request: HttpRequest, reviewed: list[Workspace]) -> Asked:
    wanted = request.POST.get("workspace", "")
    return Asked(
        label=text_of(request.POST.get("label", "")).strip(),
        reason=text_of(request.POST.get("reason", "")),
        workspace=next((one for one in reviewed if one.name == wanted), reviewed[0]),
        is_shown=bool(request.POST.get("label")) and request.POST.get("shown") == request.POST.get("label"),
    )


def _label_form(
    request: HttpRequest, reviewed: list[Workspace], asked: Asked, refusal: Refusal | None = None
) -> HttpResponse:
    """Show templates/memory/erase.html."""
    found = _found(asked)
    why = " ".join(error.detail for error in refusal.errors) or refusal.detail if refusal else ""
    context = {
        "back": {"url": reverse("memory"), "label": _("Memory"), "place": ""},
        "sentence": str(SENTENCE),
        "status": refused_status(refusal, _("Not proposed. %(why)s") % {"why": why}) if refusal else None,
        "label": asked.label,
        "workspaces": [(one.name, one.name) for one in reviewed],
        "workspace": asked.workspace.name if asked.workspace else "",
        "preview": {"rows": found} if found else None,
        "nothing": found == [],
        "reason": asked.reason,
        "reason_error": refusal.detail if isinstance(refusal, ReasonRequired) else "",
    }
    return render(request, "memory/erase.html", context, status=refusal.status if refusal else 200)


def _found(asked: Asked) -> list[dict[str, Any]] | None:
    """What carries the label, as rows of a preview; None before one was typed."""
    if not asked.label or asked.workspace is None:
        return None
    scope = asked.workspace.id
    reach = of_label(scope, label_keys_in(scope)(asked.label)[0])
    return [row._asdict() for row in rows(reach)] if reach else []


@require_safe
@signed_in
def certificate(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponseBase:
    """Hand out the signed certificate of an erasure to whoever may see its proposal."""
    found = visible(actor.person, id, timezone.now())
    erasure = erasures.named(found.id)
    if erasure is None:
        raise NotFound
    note = attest(erasures.certificate(erasure))
    return attachment([note], "text/plain; charset=utf-8", f"erasure-{found.id}.json.note")
