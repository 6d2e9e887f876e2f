"""A person takes back what he proposed himself."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.domain.refusals import NotFound
from review.queries.visible import visible
from review.services.withdraw import withdraw_own
from review.views.answers import page_of
from review.views.form import Typed, text_of


@require_POST
@signed_in
def withdraw_view(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    """Withdraw it, and show it as it then stands."""
    try:
        found = withdraw_own(id, by=actor, reason=text_of(request.POST.get("reason", "")))
    except NotFound:
        raise
    except Refusal as refusal:
        return _refused(request, actor, id, refusal)
    status = {
        "recorded": True,
        "title": _("Recorded: you withdrew it."),
        "sentence": _("It ended. Nothing runs."),
    }
    return page_of(request, actor, found, status=status, typed=Typed(), code=200)


def _refused(request: HttpRequest, actor: PersonActor, id: UUID, refusal: Refusal) -> HttpResponse:
    status = refused_status(refusal, _("Not recorded. %(why)s") % {"why": refusal.detail})
    found = visible(actor.person, id, timezone.now())
    return page_of(request, actor, found, status=status, typed=Typed(), code=refusal.status)
