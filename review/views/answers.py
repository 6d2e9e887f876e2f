"""Which page a proposal is decided on: its own, or the quarantine page while it is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.module_loading import import_string

from review.access.actors import PersonActor
from review.domain.status import Status
from review.views.differences import asked_of
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
    page: Show = import_string(settings.HUQAN_HELD_PAGE) if _is_held(request, found) else show
    return page(request, actor, found, status=status, typed=typed, code=code)


def into_page(request: HttpRequest, found: Proposal, status: dict[str, Any]) -> HttpResponse:
    """Return what was recorded, for the page that the form is still on: it fetches the rest of what changed itself.

    The whole page takes three times as long, and whoever decides waits to read that it is recorded.
    """
    page = "quarantine_item" if _is_held(request, found) else "proposal"
    url = f"{reverse(page, args=[found.id])}{asked_of(request)}"
    closed = {"title": status["title"], "note": status["sentence"]}
    part = render(request, "review/recorded.html", {"status": status, "closed": closed, "url": url})
    part["HX-Retarget"], part["HX-Reselect"] = "#answer", "unset"
    part["HX-Reswap"] = "innerHTML show:window:top"
    return part


def _is_held(request: HttpRequest, found: Proposal) -> bool:
    """Whether its page is the quarantine page: once it was held, that is where it is decided and shown."""
    came_from = request.resolver_match and request.resolver_match.url_name
    return came_from == "quarantine_decide" or found.status == Status.QUARANTINED
