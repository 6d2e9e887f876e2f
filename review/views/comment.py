"""Commenting on a proposal, for the others who read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from review.access.actors import PersonActor
from review.access.refusals import Mistyped
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.queries.visible import visible
from review.services.comment import comment
from review.views.answers import page_of
from review.views.form import Typed, text_of

if TYPE_CHECKING:
    from review.models import Proposal


@require_POST
@signed_in
def comment_view(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    """Keep the comment and lead back to the history that it then stands in."""
    text, pointer = text_of(request.POST.get("comment", "")), text_of(request.POST.get("about", ""))
    try:
        comment(id, by=actor, text=text, pointer=pointer)
    except Mistyped as refusal:
        status: dict[str, Any] = refused_status(refusal, _("Not kept. %(why)s") % {"why": refusal.detail})
        found: Proposal = visible(actor.person, id, timezone.now())
        typed = Typed(comment=text, comment_error=refusal.detail)
        return page_of(request, actor, found, status=status, typed=typed, code=refusal.status)
    return HttpResponseRedirect(f"{reverse('proposal', args=[id])}#history")
