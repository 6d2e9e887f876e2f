"""Values that are refused for good, and lifting one: a proposal that others decide."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from huqan_site.lib.problems import Refusal
from memory import preview
from memory.domain.masking import masked
from memory.gateway.ask import ask_to_lift
from memory.queries import rejected
from memory.queries.rejected import Tries
from memory.views.address import address
from memory.views.change import Typed, form_page
from review.access.actors import PersonActor
from review.access.queries import has_role, workspaces_of
from review.access.roles import Role
from review.access.sessions import signed_in
from review.domain.refusals import NotFound
from review.views.form import text_of

if TYPE_CHECKING:
    from memory.models import Tombstone


@require_safe
@signed_in
def rejected_values(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    now = timezone.now()
    scopes = _scopes(actor, now)

    found = rejected.page(scopes, request.GET.get("cursor"))
    reviewed = {scope for scope in scopes if has_role(actor.person.id, scope, Role.REVIEWER, now)}
    told = _Told(rejected.texts(found.rows), rejected.reasons(found.rows), rejected.tries(found.rows))

    context = {
        "back": {"url": reverse("memory"), "label": _("Memory"), "place": ""},
        "rows": [_row(one, told, one.workspace_id in reviewed) for one in found.rows],
        "shown": _("%(n)d shown") % {"n": len(found.rows)},
        "next_url": address("rejected", {"cursor": found.next_cursor}) if found.next_cursor else None,
    }
    return render(request, "memory/rejected.html", context)


def _scopes(actor: PersonActor, now: datetime) -> list[UUID]:
    return [workspace.id for workspace in workspaces_of(actor.person.id, now)]


class _Told(NamedTuple):
    """What is known of tombstones, by id: what each stands for, why it was made, and who tried its value again."""

    texts: dict[UUID, str]
    reasons: dict[UUID, str]
    tries: dict[UUID, Tries]


def _row(tombstone: Tombstone, told: _Told, may_lift: bool) -> dict[str, Any]:
    proposal, tries = tombstone.proposal_id, told.tries.get(tombstone.id)
    return {
        "id": tombstone.id,
        "text": masked(told.texts[tombstone.id]).text or _("Not kept"),
        "reason": masked(told.reasons.get(tombstone.id, "")).text,
        "tries": tries._asdict() if tries else None,
        "workspace": tombstone.workspace.name,
        "who": rejected.by_whom(tombstone),
        "at": tombstone.created_at,
        "lifted_at": tombstone.lifted_at,
        "proposal_url": reverse("proposal", args=[proposal]) if proposal else None,
        "lift_url": reverse("tombstone_lift", args=[tombstone.id])
        if may_lift and tombstone.lifted_at is None
        else None,
    }


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def lift(request: HttpRequest, actor: PersonActor, tombstone_id: UUID) -> HttpResponse:
    """Show what lifting would do; on POST propose it, and go to where others decide."""
    tombstone = rejected.one_of(_scopes(actor, timezone.now()), tombstone_id)
    if tombstone is None:
        raise NotFound
    reason = text_of(request.POST.get("reason", ""))
    if request.method != "POST":
        return _form(request, tombstone, reason)
    try:
        made = ask_to_lift(tombstone_id, by=actor, reason=reason)
    except NotFound:
        raise
    except Refusal as refusal:
        return _form(request, tombstone, reason, refusal)
    return HttpResponseRedirect(reverse("proposal", args=[made.id]))


def _form(
    request: HttpRequest, tombstone: Tombstone, reason: str, refusal: Refusal | None = None
) -> HttpResponse:
    said = masked(rejected.texts([tombstone])[tombstone.id]).text
    about = {
        "back": {"url": reverse("rejected"), "label": _("Rejected values"), "place": ""},
        "title": _("Lift this rejection"),
        "sentence": _("The value may be proposed again. Nothing is remembered by that."),
        "content": said or _("Not kept"),
        "stands": _("lifted") if tombstone.lifted_at else None,
    }
    return form_page(request, about, preview.of_lifting(tombstone), Typed(reason), refusal)
