"""What these pages have in common: how a refusal is said, and who may open them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.access import queries
from review.access.actors import PersonActor
from review.access.models import Workspace
from review.access.refusals import Mistyped, NotAMember
from review.access.services import rules
from review.access.step_up import step_up


def managed(actor: PersonActor) -> list[Workspace]:
    """Return the workspaces this person manages. Raises: NotManager when there is none."""
    return rules.require_any_managed(actor, timezone.now())


def show(
    request: HttpRequest,
    template: str,
    said: dict[str, Any],
    *,
    refusal: Refusal | None = None,
    form: forms.Form | None = None,
    notice: str = "",
) -> HttpResponse:
    """Show a page with its refusal, or with that of a posted `form` that is wrong, and with the status of either."""
    wrong = form is not None and form.is_bound and not form.is_valid()
    told = refusal or (Mistyped() if wrong else None)
    status = told.status if told else 200
    return render(request, template, {"status": _status(told, notice), **said}, status=status)


def refused_status(refusal: Refusal, title: str, sentence: str = "") -> dict[str, Any]:
    """Return templates/components/status.html's context for what was not done: why, and what can be done."""
    return {
        "recorded": False,
        "title": title,
        "sentence": sentence,
        "next": getattr(refusal, "advice", ""),
        "code": refusal.code,
    }


def with_fresh_factor(request: HttpRequest, actor: PersonActor) -> PersonActor:
    """Return the person as proved anew by what stands in the form's `password`, if anything does.

    Raises: WrongPassword, WrongCode, TooManyAttempts.
    """
    given = request.POST.get("password", "")
    return step_up(request, given) if given else actor


def person_named(username: str, otherwise: str) -> UUID:
    """Return who has the account `username`. Raises: NotAMember, which says `otherwise`."""
    user = queries.account(username)
    if user is None:
        raise NotAMember(otherwise)
    return user.person_id


def first_error(form: forms.Form | None) -> str:
    """Return the first sentence that `form` has against what was posted, or nothing."""
    errors = form.errors if form is not None and form.is_bound else {}
    return next((str(error) for found in errors.values() for error in found), "")


def _status(refusal: Refusal | None, notice: str = "") -> dict[str, Any] | None:
    """Return templates/components/status.html's context, or None where there is nothing to say."""
    if refusal:
        return refused_status(refusal, f"{refusal.title}.", refusal.detail)
    return {"recorded": True, "title": notice} if notice else None
