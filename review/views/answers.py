"""Which page a proposal is decided on: its own, or the quarantine page while it is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string

from review.access.actors import PersonActor
from review.domain.status import Status
from review.views.form import Typed
from review.views.proposal import show

if TYPE_CHECKING:
    from review.models import Proposal

Show = Callable[..., HttpResponse]


def page_of(
    request: HttpRequest,
    actor: PersonActor,
    found: Proposal,
    *,
    status: dict[str, Any],
    typed: Typed,
    code: int,
) -> HttpResponse:
    """Return the page that the form was on: what was ever held is decided and shown on the quarantine page."""
    came_from_held = (
        request.resolver_match is not None and request.resolver_match.url_name == "quarantine_decide"
    )
    held = came_from_held or found.status == Status.QUARANTINED
    page: Show = import_string(settings.HUQAN_HELD_PAGE) if held else show
    return page(request, actor, found, status=status, typed=typed, code=code)
