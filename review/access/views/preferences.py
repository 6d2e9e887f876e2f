"""The language of the pages, chosen before a sign-in or after it, and whether they answer to single keys."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from review.access import sessions
from review.access.actors import PersonActor
from review.access.forms import ChooseKeys, ChooseLanguage
from review.access.roles import Language
from review.access.services.preferences import choose_keys, choose_language
from review.access.sessions import signed_in


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Keep the language in this browser, and with the account of who is signed in; no address carries it."""
    form = ChooseLanguage(request.POST)
    answer = _back(request)
    if not form.is_valid():
        return answer
    chosen = Language(form.cleaned_data["language"])
    if actor := sessions.person_actor(request):
        choose_language(chosen, by=actor)
    answer.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        chosen.value,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        httponly=True,
        samesite="Lax",
        secure=settings.LANGUAGE_COOKIE_SECURE,
    )
    return answer


@require_POST
@signed_in
def keys(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Switch single keys on or off; a switch in an open page is answered with nothing, so that it stays."""
    form = ChooseKeys(request.POST)
    if form.is_valid():
        choose_keys(form.cleaned_data["keys"], by=actor)
    return HttpResponse(status=204) if request.headers.get("HX-Request") else _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    """Lead back to the page that the form stands on, if it is one of ours that can be opened again."""
    sent_from = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(sent_from, {request.get_host()}, require_https=request.is_secure())
    here = urlsplit(sent_from)
    return redirect(f"{here.path or '/'}?{here.query}".rstrip("?") if ours else resolve_url("queue"))
