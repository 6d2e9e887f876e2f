"""A person names an address of the queue, or forgets it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from review.access.actors import PersonActor
from review.access.refusals import Mistyped
from review.access.sessions import signed_in
from review.services.saved_view import remove_view, save_view
from review.views.form import text_of
from review.views.queue import show
from review.views.queue_address import Asked
from review.views.queue_list import saved


@require_POST
@signed_in
def save(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Keep what the form was shown with under the name that was typed, and show it."""
    asked, name = Asked.of(request.POST), text_of(request.POST.get("name", ""))
    try:
        save_view(name, asked.query, by=actor)
    except Mistyped as refusal:
        answer = show(request, actor, asked, saved(asked, actor.person, typed=name, error=refusal.detail))
        answer.status_code = refusal.status
        return answer
    return redirect(asked.url())


@require_POST
@signed_in
def remove(request: HttpRequest, actor: PersonActor, view: int) -> HttpResponse:
    remove_view(view, by=actor)
    return redirect("queue")
