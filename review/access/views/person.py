"""One person as managers set him up: his accounts, one-time links, and that two people are one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from huqan_site.lib.problems import Refusal
from review.access import factors, queries
from review.access.actors import PersonActor
from review.access.forms import AccountName
from review.access.models import Person, User
from review.access.refusals import NotFound
from review.access.services.passwords import reset_password
from review.access.services.people import Invited, disable_person, link_account, link_people
from review.access.sessions import signed_in
from review.access.views.people import link_shown_once, role_row
from review.access.views.shared import managed, person_named, show


@require_safe
@signed_in
def person(request: HttpRequest, actor: PersonActor, person: UUID) -> HttpResponse:
    return _page(request, _seen_by(actor, person))


@require_POST
@signed_in
def disable(request: HttpRequest, actor: PersonActor, person: UUID) -> HttpResponse:
    """End all that a person can do here, for good."""
    seen = _seen_by(actor, person)
    try:
        disable_person(seen.id, by=actor)
    except Refusal as refusal:
        return _page(request, seen, refusal=refusal)
    return redirect("people")


@require_POST
@signed_in
def add_account(request: HttpRequest, actor: PersonActor, person: UUID) -> HttpResponse:
    """Give a person another account; its one-time link is shown in the answer, this once."""
    seen, form = _seen_by(actor, person), AccountName(request.POST)
    if not form.is_valid():
        return _page(request, seen, account_form=form)
    try:
        made = link_account(seen.id, form.cleaned_data["username"], by=actor)
    except Refusal as refusal:
        return _page(request, seen, account_form=form, refusal=refusal)
    return _page(request, seen, link=link_shown_once(made, _("Another account")))


@require_POST
@signed_in
def link(request: HttpRequest, actor: PersonActor, person: UUID) -> HttpResponse:
    """Say that whoever has an account is this person, too."""
    seen, form = _seen_by(actor, person), AccountName(request.POST)
    if not form.is_valid():
        return _page(request, seen, link_form=form)
    try:
        link_people(
            seen.id, person_named(form.cleaned_data["username"], "No account has this name."), by=actor
        )
    except Refusal as refusal:
        return _page(request, seen, link_form=form, refusal=refusal)
    return redirect("person", person=seen.id)


@require_POST
@signed_in
def reset(request: HttpRequest, actor: PersonActor, person: UUID, username: str) -> HttpResponse:
    """End an account's sessions and show a one-time link to choose another password, this once."""
    seen = _seen_by(actor, person)
    if username not in [account.username for account in queries.accounts_of(seen.id)]:
        raise NotFound
    try:
        made = reset_password(username, by=actor)
    except Refusal as refusal:
        return _page(request, seen, refusal=refusal)
    shown = link_shown_once(Invited(made.user, made.secret), _("Choose another password"))
    return _page(request, seen, link=shown)


def _seen_by(actor: PersonActor, person_id: UUID) -> Person:
    """Return a person who has or had a role where `actor` manages. Raises: NotManager, NotFound."""
    workspaces = {workspace.id for workspace in managed(actor)}
    person = queries.person(person_id)
    if person is None or not workspaces & queries.workspaces_ever(person.id):
        raise NotFound
    return person


def _page(
    request: HttpRequest,
    person: Person,
    *,
    account_form: AccountName | None = None,
    link_form: AccountName | None = None,
    link: dict[str, Any] | None = None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    memberships = queries.memberships_of(person.id, timezone.now())
    said = {
        "person": {"name": person.name, "disabled_at": person.disabled_at},
        "accounts": [_account(user, person) for user in queries.accounts_of(person.id)],
        "roles": [{"workspace": m.workspace.name, **role_row(m)} for m in memberships],
        "account_form": account_form or AccountName(auto_id="account_%s"),
        "link_form": link_form or AccountName(auto_id="link_%s"),
        "invited": link,
        "urls": {
            name: reverse(f"person_{name}", args=[person.id]) for name in ("disable", "link", "add_account")
        },
    }
    return show(request, "access/person.html", said, refusal=refusal, form=account_form or link_form)


def _account(user: User, person: Person) -> dict[str, Any]:
    return {
        "name": user.username,
        "address": user.email,
        "last_sign_in": user.last_login,
        "second_factor": factors.has_second(user),
        "active": user.is_active,
        "reset_url": reverse("person_reset", args=[person.id, user.username]),
    }
