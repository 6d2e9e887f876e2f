"""How a person signs in besides the password: the second factor, its recovery codes, and the mail address."""

from __future__ import annotations

from typing import Any

from allauth.mfa.totp.internal.auth import clear_totp_secret, get_totp_secret
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from huqan_site.lib.problems import Refusal
from review.access import factors, qr
from review.access.actors import PersonActor
from review.access.forms import Enrol, Proof
from review.access.services.factors import enrol_app, remove_app, renew_recovery_codes
from review.access.sessions import signed_in
from review.access.views.shared import show, with_fresh_factor


@require_safe
@signed_in
def second_factor(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    return _page(request, actor)


@sensitive_post_parameters()
@require_POST
@signed_in
def enrol(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Let the app count that shows the right code now; the recovery codes are shown in the answer, this once."""
    form = Enrol(request.POST, by_code=False)
    if not form.is_valid():
        return _page(request, actor, form=form)
    try:
        proved = with_fresh_factor(request, actor)
        codes = enrol_app(get_totp_secret(), form.cleaned_data["code"], by=proved)
    except Refusal as refusal:
        return _page(request, actor, refusal=refusal)
    clear_totp_secret(request)
    return _page(request, actor, codes=codes)


@sensitive_post_parameters()
@require_POST
@signed_in
def renew(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Make new recovery codes; they are shown in the answer, this once."""
    try:
        codes = renew_recovery_codes(by=with_fresh_factor(request, actor))
    except Refusal as refusal:
        return _page(request, actor, refusal=refusal)
    return _page(request, actor, codes=codes)


@sensitive_post_parameters()
@require_POST
@signed_in
def remove(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Go back to the password alone."""
    try:
        remove_app(by=with_fresh_factor(request, actor))
    except Refusal as refusal:
        return _page(request, actor, refusal=refusal)
    return redirect("account")


def _page(
    request: HttpRequest,
    actor: PersonActor,
    *,
    form: Enrol | None = None,
    codes: list[str] | None = None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    has = factors.enrolled(actor.user)
    said: dict[str, Any] = {
        "enrolled": has,
        "codes": codes,
        "setup": None if has.app else _setup(request, actor, form),
        "proof": Proof(by_code=True) if has.app else None,
        "urls": {name: reverse(f"second_factor_{name}") for name in ("enrol", "renew", "remove")},
    }
    return show(request, "access/second_factor.html", said, refusal=refusal, form=form)


def _setup(request: HttpRequest, actor: PersonActor, form: Enrol | None) -> dict[str, Any]:
    """Return what an app needs; the same secret until it is enrolled, so that a wrong code can be typed again."""
    secret = get_totp_secret()
    address = factors.FactorAdapter().build_totp_url(actor.user, secret)
    return {"secret": secret, "picture": qr.picture(address), "form": form or Enrol(by_code=False)}
