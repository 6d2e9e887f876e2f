"""Ruling how something of unknown outcome ended: the same page again, with what was recorded or why it was not."""

from __future__ import annotations

from typing import Any
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
from review.domain.status import Status
from review.queries.visible import visible
from review.services.rule_outcome import rule_outcome
from review.views.form import Typed, text_of
from review.views.proposal import show


@require_POST
@signed_in
def rule(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    """Record the ruling that the form carries."""
    result, reason = request.POST.get("result", ""), text_of(request.POST.get("reason", ""))
    try:
        ruled = rule_outcome(id, by=actor, result=result, reason=reason)
    except NotFound:
        raise
    except Refusal as refusal:
        found, typed = visible(actor.person, id, timezone.now()), Typed(reason=reason, refusal=refusal)
        status = refused_status(refusal, _("Not recorded. %(why)s") % {"why": refusal.detail})
        return show(request, actor, found, status=status, typed=typed, code=refusal.status)
    return show(request, actor, ruled, status=_recorded(Status(ruled.status)))


def _recorded(status: Status) -> dict[str, Any]:
    title = {
        Status.SUCCEEDED: _("Recorded: you ruled that it succeeded"),
        Status.FAILED: _("Recorded: you ruled that it failed"),
    }[status]
    return {"recorded": True, "title": title, "sentence": _("That is final. Nothing runs again by itself.")}
