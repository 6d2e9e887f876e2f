"""One proposal's life on one screen: from the first line that an agent sent to what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from review.access.actors import PersonActor
from review.access.refusals import NotFound
from review.access.sessions import signed_in
from review.audit import queries
from review.audit.queries import Filters
from review.views.trail import unrecorded
from review.views.trail_filters import asked_by
from review.views.trail_rows import lines, texts

if TYPE_CHECKING:
    from review.audit.models import Entry

LONGEST = 300


@require_safe
@signed_in
def life(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    asked = asked_by(request, actor)
    found = queries.page(asked.scope, Filters(proposal=id), limit=LONGEST + 1)
    if not found:
        raise NotFound

    is_unrecorded = unrecorded(asked, actor)

    told = list(reversed(found[:LONGEST]))
    rows, written = lines(told), texts(entry.seq for entry in told)
    context = {
        "back": {"url": reverse("audit"), "label": _("Audit trail")},
        "unrecorded": is_unrecorded,
        "proposal": {"id": id, "tool": told[-1].tool, "url": reverse("proposal", args=[id])},
        "list_url": f"{reverse('audit')}?proposal={id}",
        "cut_short": LONGEST if len(found) > LONGEST else None,
        "events": [
            {**row, **_more(entry), "texts": written[entry.seq]}
            for row, entry in zip(rows, told, strict=True)
        ],
    }
    return render(request, "audit/life.html", context)


def _more(entry: Entry) -> dict[str, Any]:
    """Return what an auditor asks of one act: on which bytes, what the page showed, how the actor was signed in."""
    members = json.loads(entry.canonical)
    return {
        "url": reverse("audit_entry", args=[entry.seq]),
        "binding": members.get("binding"),
        "shown": members.get("shown"),
        **_signed_in(members["actor"]),
    }


def _signed_in(actor: Mapping[str, Any]) -> dict[str, Any]:
    since = actor.get("auth_time")
    return {
        "methods": ", ".join(actor.get("methods", ())),
        "since": datetime.fromisoformat(since) if since else None,
        "token": actor.get("token"),
    }
