"""Editing the arguments of a proposal into a new revision, whose author the reviewer is from then on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from huqan_site.lib.canonical_json import JSON
from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.domain import editing
from review.domain.editing import Field, Kind, Written
from review.domain.refusals import NotFound, ReasonRequired, StaleRevision
from review.domain.schemas import Schema
from review.domain.status import Status
from review.effects import effect_of
from review.queries.cases import case_of, electorate_of, rule_of
from review.queries.story import current_revision
from review.queries.visible import visible
from review.services.revise import revise
from review.views import parts
from review.views.answers import page_of
from review.views.form import Typed, number_of, text_of

if TYPE_CHECKING:
    from review.models import Proposal, Revision


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def edit(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    """Show the arguments as a form; on POST, make them the next revision and show the proposal as it then stands."""
    if request.method == "POST":
        return _revised(request, actor, id)
    now = timezone.now()
    found = visible(actor.person, id, now)
    if not parts.edit_url(found, electorate_of(found, now), actor.person, now):
        return HttpResponseRedirect(reverse("proposal", args=[id]))
    revision = current_revision(found)
    members = (
        None if "raw" in request.GET else editing.fields(_schema(revision), json.loads(revision.arguments))
    )
    return _form(request, found, revision, _controls(members), raw=_pretty(revision))


def _revised(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    posted = request.POST
    reason, replaces = text_of(posted.get("reason", "")), number_of(posted.get("revision", "")) or 0
    try:
        made = revise(id, by=actor, replaces=replaces, arguments=_arguments(posted), rationale=reason)
    except NotFound:
        raise
    except Refusal as refusal:
        return _refused(request, actor, id, refusal)
    return page_of(request, actor, made, status=_recorded(made), typed=Typed(), code=200)


def _arguments(posted: QueryDict) -> dict[str, JSON]:
    """Return the arguments that were posted, by the strict reader. Raises: Unreadable."""
    if "raw" in posted:
        return editing.read_raw(posted.get("raw", ""))
    return editing.read(_written(posted), posted.get("more", ""))


def _written(posted: QueryDict) -> list[Written]:
    found = []
    for at in range(editing.MAX_MEMBERS):
        if f"member-{at}" not in posted:
            break
        kind = Kind.TEXT if posted.get(f"kind-{at}") == Kind.TEXT else Kind.JSON
        value = posted.get(f"value-{at}", "")
        text = value.replace("\r\n", "\n") if kind is Kind.TEXT else value
        found.append(Written(posted.get(f"member-{at}", ""), kind, text, kept=f"keep-{at}" in posted))
    return found


def _refused(request: HttpRequest, actor: PersonActor, id: UUID, refusal: Refusal) -> HttpResponse:
    """Return the form with what was typed, and why nothing was recorded; it replaces what is current now."""
    found = visible(actor.person, id, timezone.now())
    revision = current_revision(found)
    title = _("Not recorded. %(why)s") % {"why": refusal.detail}
    meanwhile = _meanwhile(found, revision) if isinstance(refusal, StaleRevision) else ""
    status = {
        **refused_status(refusal, title, meanwhile),
        "link_url": reverse("proposal", args=[id]),
        "link_label": _("Open the proposal as it is now"),
    }
    posted = request.POST
    answer = _form(
        request,
        found,
        revision,
        None if "raw" in posted else _typed_controls(posted, revision, refusal),
        raw=posted.get("raw", ""),
        more=posted.get("more", ""),
        reason=text_of(posted.get("reason", "")),
        refusal=refusal,
        status=status,
    )
    answer.status_code = refusal.status
    return answer


def _meanwhile(found: Proposal, revision: Revision) -> str:
    author = parts.author_of(revision, found)
    return _(
        "Revision %(n)d came from %(who)s meanwhile. What you typed is kept; sending it again replaces that one."
    ) % {"n": found.revision, "who": author}


def _form(
    request: HttpRequest,
    found: Proposal,
    revision: Revision,
    controls: list[dict[str, Any]] | None,
    *,
    raw: str,
    more: str = "",
    reason: str = "",
    refusal: Refusal | None = None,
    status: dict[str, Any] | None = None,
) -> HttpResponse:
    now = timezone.now()
    case = case_of(found, now)
    errors = {error.pointer: error.detail for error in refusal.errors} if refusal else {}
    placed = {control["error"] for control in controls or ()}
    context = {
        "back": {"url": reverse("proposal", args=[found.id]), "label": _("Proposal"), "place": ""},
        "tool": found.tool,
        "revision": found.revision,
        "next": found.revision + 1,
        "status": status,
        "action": reverse("edit", args=[found.id]),
        "raw_url": None if controls is None else "?raw=1",
        "controls": controls,
        "spare": any(not control["in_sight"] for control in controls or ()),
        "raw": {"text": raw, "error": "; ".join(errors.values()) if controls is None else ""},
        "more": {"text": more, "error": "; ".join(e for e in errors.values() if e not in placed)}
        if controls is not None and editing.takes_others(_schema(revision))
        else None,
        "reason": {"text": reason, "error": refusal.detail if isinstance(refusal, ReasonRequired) else ""},
        "left": _left(len(case.electorate.eligible(now)), case.rule.people),
    }
    return render(request, "review/edit.html", context)


def _left(eligible: int, needed: int) -> str:
    return ngettext(
        "%(n)d person could approve it now; you will not be among them. It needs %(needed)d.",
        "%(n)d people could approve it now; you will not be among them. It needs %(needed)d.",
        eligible,
    ) % {"n": eligible, "needed": needed}


def _controls(members: list[Field] | None) -> list[dict[str, Any]] | None:
    return None if members is None else [_control(at, field, "") for at, field in enumerate(members)]


def _control(at: int, field: Field, error: str) -> dict[str, Any]:
    return {
        "at": at,
        "member": field.name,
        "kind": "text" if field.kind is Kind.TEXT else "json",
        "is_choice": field.kind is Kind.CHOICE,
        "options": field.options,
        "value": field.text,
        "rows": min(12, max(1, field.text.count("\n") + 1 + len(field.text) // 80)),
        "kept": field.kept,
        "required": field.required,
        "in_sight": field.kept or field.required or bool(error),
        "help": field.help,
        "type": _("JSON") if field.kind is Kind.JSON else field.type,
        "error": error,
    }


def _typed_controls(posted: QueryDict, revision: Revision, refusal: Refusal) -> list[dict[str, Any]]:
    """Return the members as they were typed, in the shape that the current revision gives them."""
    shapes = {f.name: f for f in editing.fields(_schema(revision), json.loads(revision.arguments)) or ()}
    return [
        _control(at, _typed(written, shapes.get(written.name)), _error_of(written, refusal))
        for at, written in enumerate(_written(posted))
    ]


def _typed(written: Written, shape: Field | None) -> Field:
    kind, options = written.kind, shape.options if shape else ()
    if kind is Kind.JSON and written.text in options:
        kind = Kind.CHOICE
    return Field(
        written.name,
        kind,
        written.text,
        kept=written.kept,
        required=shape.required if shape else False,
        options=options if kind is Kind.CHOICE else (),
        help=shape.help if shape else "",
        type=shape.type if shape else "",
    )


def _error_of(written: Written, refusal: Refusal) -> str:
    at = Field(written.name, written.kind, "").pointer
    found = [e.detail for e in refusal.errors if e.pointer == at or e.pointer.startswith(f"{at}/")]
    return " ".join(found)


def _schema(revision: Revision) -> Schema:
    """The rule's schema where it names members, else that of the inner tool."""
    schema, effect = rule_of(revision).schema, effect_of(revision.proposal.tool)
    named = isinstance(schema, dict) and schema.get("properties")
    return schema if named or effect is None else effect.schema


def _pretty(revision: Revision) -> str:
    return editing.as_json(json.loads(revision.arguments))


def _recorded(made: Proposal) -> dict[str, Any]:
    leads_to = {
        Status.QUARANTINED: _("The gate holds it. Releasing it takes other people than you."),
        Status.PENDING: _("Earlier votes are outdated. You are its author, so other people decide it."),
    }.get(Status(made.status), _("The policy lets it through without a vote."))
    at = made.submitted_at.strftime("%H:%M")
    return {
        "recorded": True,
        "title": _("Recorded: your revision %(n)d at %(at)s UTC") % {"n": made.revision, "at": at},
        "sentence": leads_to,
    }
