"""What became of a proposal while its page was open: asked for again and again, and said once."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from review.access.sessions import person_actor
from review.domain.status import Status, current
from review.queries.story import Story
from review.queries.visible import visible
from review.views import parts
from review.views.address import moment_in
from review.views.asking import next_item, viewer_of

if TYPE_CHECKING:
    from review.models import Proposal


def poll_url(found: Proposal, now: datetime) -> str:
    """Return where the page of `found` as it stands asks what became of it since."""
    asked = urlencode({"seen": _standing(found, now), "since": now.isoformat()})
    return f"{reverse('meanwhile', args=[found.id])}?{asked}"


def _standing(found: Proposal, now: datetime) -> str:
    return f"{current(found.status, found.expires_at, now)}.{found.revision}.{found.approvals_given}"


@require_safe
def meanwhile(request: HttpRequest, id: UUID) -> HttpResponse:
    """Say what others did since the page was made, and nothing, by 204, as long as that is nothing.

    Who was signed out is not led to the sign-in: it would take what he typed.
    """
    actor, now = person_actor(request), timezone.now()
    if actor is None:
        return HttpResponse(status=204)
    found = visible(actor.person, id, now)
    seen, standing = request.GET.get("seen", ""), _standing(found, now)
    if seen == standing:
        return HttpResponse(status=204)
    stands = seen.split(".")[:2] == standing.split(".")[:2]
    context = {
        "said": _said(found, moment_in(request.GET.get("since", "")), now),
        "poll_url": poll_url(found, now) if stands else None,
        "links": [] if stands else [_as_it_stands(found), next_item(viewer_of(request, actor))],
    }
    return render(request, "review/meanwhile.html", context)


def _said(found: Proposal, since: datetime | None, now: datetime) -> str:
    """Return in a few sentences what happened after `since`, the earliest first."""
    events = sorted(parts.history(Story(found), since=since), key=lambda event: event["at"])
    told = [f"{event['who']} {event['did']}" for event in events if event["new"] and "text" not in event]
    return " ".join(told) or parts.ended(current(found.status, found.expires_at, now))


def _as_it_stands(found: Proposal) -> dict[str, Any]:
    page = "quarantine_item" if found.status == Status.QUARANTINED else "proposal"
    return {"url": reverse(page, args=[found.id]), "label": _("Show it as it stands")}
