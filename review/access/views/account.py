"""A person's own pages: the password, what he lets agents do for him, and the one-time link."""

from __future__ import annotations

from typing import Any

from allauth.core import ratelimit
from django import forms
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from huqan_site.lib.problems import Refusal
from review.access import factors, mails, queries
from review.access.actors import PersonActor
from review.access.forms import Address, Delegate, NewPassword, OtherPassword
from review.access.models import Delegation
from review.access.refusals import LinkSpent, TooManyAttempts, WeakPassword, WrongPassword
from review.access.services import links
from review.access.services.delegations import grant_delegation, revoke_delegation
from review.access.services.factors import set_address
from review.access.services.passwords import change_password, choose_password
from review.access.sessions import forget, signed_in
from review.access.views.shared import show, with_fresh_factor


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def set_up(request: HttpRequest, secret: str) -> HttpResponse:
    """Let whoever holds the link choose a password. Opening the page does not use the link up."""
    form = NewPassword(request.POST or None)
    refusal: Refusal | None = None
    try:
        links.owner_of(secret, timezone.now())
        if form.is_valid():
            choose_password(secret, form.cleaned_data["password"])
            return render(request, "account/password_reset_from_key_done.html")
    except WeakPassword as weak:
        refusal = weak
        form.add_error("password", weak.detail)
    except LinkSpent as spent:
        said = {"token_fail": True, "code": spent.code}
        return render(request, "account/password_reset_from_key.html", said, status=spent.status)
    said = {"form": form, "action_url": request.path}
    return show(request, "account/password_reset_from_key.html", said, form=form, refusal=refusal)


@require_safe
@signed_in
def account(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    notice = _("Your password was changed. Every other session of this account ended.")
    return _account_page(request, actor, notice=notice if "changed" in request.GET else "")


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def password(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Change one's own password; every other session of the account ends."""
    form = OtherPassword(request.POST or None)
    refusal = _change_password(request, form, actor) if form.is_valid() else None
    if form.is_valid():
        return redirect(f"{reverse('account')}?changed")
    return show(request, "account/password_change.html", {"form": form}, form=form, refusal=refusal)


@require_POST
@signed_in
def delegate(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Let an agent act for whoever is signed in, and for nobody else."""
    form = Delegate(request.POST, agents=_delegable(actor))
    if not form.is_valid():
        return _account_page(request, actor, form=form)
    try:
        grant_delegation(form.cleaned_data["agent"], by=actor)
    except Refusal as refusal:
        return _account_page(request, actor, refusal=refusal)
    return redirect("account")


@require_POST
@signed_in
def undelegate(request: HttpRequest, actor: PersonActor, delegation: int) -> HttpResponse:
    revoke_delegation(delegation, by=actor)
    return redirect("account")


@sensitive_post_parameters()
@require_POST
@signed_in
def address(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Set or take away one's mail address; it takes a password or code, since a link sent there opens the account."""
    form = Address(request.POST, by_code=factors.has_second(actor.user))
    if not form.is_valid():
        return _account_page(request, actor, form=form, address_form=form)
    try:
        set_address(form.cleaned_data["address"], by=with_fresh_factor(request, actor))
    except Refusal as refusal:
        return _account_page(request, actor, address_form=form, refusal=refusal)
    return redirect("account")


def _change_password(request: HttpRequest, form: OtherPassword, actor: PersonActor) -> Refusal | None:
    """Change it and keep this one session, or return why not, which then stands beside its field, too."""
    try:
        if not ratelimit.consume(request, action="change_password", user=actor.user):
            raise TooManyAttempts
        user = change_password(form.cleaned_data["current"], form.cleaned_data["password"], by=actor)
    except WeakPassword as weak:
        form.add_error("password", weak.detail)
        return weak
    except (WrongPassword, TooManyAttempts) as wrong:
        form.add_error("current", wrong.detail)
        return wrong
    update_session_auth_hash(request, user)
    forget(request)
    return None


def _account_page(
    request: HttpRequest,
    actor: PersonActor,
    *,
    form: forms.Form | None = None,
    address_form: Address | None = None,
    refusal: Refusal | None = None,
    notice: str = "",
) -> HttpResponse:
    now = timezone.now()
    said = {
        "person": {"name": actor.person.name, "username": actor.user.username, "language": get_language()},
        "memberships": queries.memberships_of(actor.person.id, now),
        "delegations": [_row(delegation) for delegation in queries.delegations_by(actor.person.id, now)],
        "delegable": _delegable(actor),
        "grant_url": reverse("account_delegate"),
        "password_url": reverse("account_change_password"),
        "mfa_url": reverse("second_factor"),
        "has_second": factors.has_second(actor.user),
        "mail": _mail(actor, address_form),
    }
    return show(request, "access/account.html", said, form=form, refusal=refusal, notice=notice)


def _mail(actor: PersonActor, form: Address | None) -> dict[str, Any]:
    """Return the form about mail as it stands; `can_send` is false where the operator named no mail server."""
    user, by_code = actor.user, factors.has_second(actor.user)
    return {
        "can_send": mails.can_send(),
        "address": user.email,
        "address_form": form or Address(by_code=by_code, initial={"address": user.email}),
    }


def _row(delegation: Delegation) -> dict[str, Any]:
    return {
        "agent": delegation.agent.name,
        "workspace": delegation.agent.workspace.name,
        "since": delegation.since,
        "revoke_url": reverse("account_undelegate", args=[delegation.id]),
    }


def _delegable(actor: PersonActor) -> list[tuple[str, str]]:
    """Return the agents that could act for this person and do not yet, as choices of a form."""
    now = timezone.now()
    granted = {delegation.agent_id for delegation in queries.delegations_by(actor.person.id, now)}
    workspaces = [workspace.id for workspace in queries.workspaces_of(actor.person.id, now)]
    return [(str(agent.id), agent.name) for agent in queries.agents_of(workspaces) if agent.id not in granted]
