"""Saying that one looks at a proposal, and that one does no longer."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.domain.refusals import AlreadyDecided, Expired
from review.queries.visible import visible
from review.services import claim as services
from review.views.answers import page_of
from review.views.form import Typed


@require_POST
@signed_in
def claim(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    return _answer(request, actor, id, services.claim)


@require_POST
@signed_in
def let_go(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    return _answer(request, actor, id, services.let_go)


def _answer(request: HttpRequest, actor: PersonActor, id: UUID, act: Callable[..., object]) -> HttpResponse:
    """Do it and lead back to the page, or show the page as it stands with why it was not done."""
    try:
        act(id, by=actor)
    except (AlreadyDecided, Expired) as refusal:
        status = refused_status(refusal, _("Not recorded. %(why)s") % {"why": refusal.detail})
        found = visible(actor.person, id, timezone.now())
        return page_of(request, actor, found, status=status, typed=Typed(), code=refusal.status)
    return HttpResponseRedirect(reverse("proposal", args=[id]))
