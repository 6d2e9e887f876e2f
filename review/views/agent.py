"""One agent as its managers set it up: who answers for it, its tokens and webhooks, and the stop."""

from __future__ import annotations

import shlex
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.access.forms import Mint, NewWebhook, Owner, Why
from review.access.roster import agent_row, members_of
from review.access.services.agents import resume_agent, stop_agent, transfer_agent
from review.access.services.minting import Minted, mint_token, revoke_token
from review.access.sessions import signed_in
from review.access.views.shared import managed, show
from review.views import agent_parts as parts
from review.views.agent_parts import secret_of
from review.webhooks.services import register_webhook


@require_safe
@signed_in
def agent_page(request: HttpRequest, actor: PersonActor, agent: UUID) -> HttpResponse:
    return page(request, actor, agent)


@require_POST
@signed_in
def transfer(request: HttpRequest, actor: PersonActor, agent: UUID) -> HttpResponse:
    """Let somebody else answer for the agent."""
    form = Owner(request.POST, members=members_of(managed(actor)))
    if not form.is_valid():
        return page(request, actor, agent, form=form)
    try:
        transfer_agent(agent, to=form.cleaned_data["owner"], by=actor)
    except Refusal as refusal:
        return page(request, actor, agent, form=form, refusal=refusal)
    return redirect("agent", agent)


@require_POST
@signed_in
def mint(request: HttpRequest, actor: PersonActor, agent: UUID) -> HttpResponse:
    """Mint a token and show it, this once, in the answer itself."""
    form = Mint(request.POST)
    if not form.is_valid():
        return page(request, actor, agent, form=form)
    told = form.cleaned_data
    try:
        minted = mint_token(agent, scopes=told["scopes"], days=told["days"], by=actor)
    except Refusal as refusal:
        return page(request, actor, agent, form=form, refusal=refusal)
    return page(request, actor, agent, shown_once=_minted(minted))


@require_POST
@signed_in
def revoke(request: HttpRequest, actor: PersonActor, token: UUID) -> HttpResponse:
    return redirect("agent", revoke_token(token, by=actor).agent_id)


@require_POST
@signed_in
def stop(request: HttpRequest, actor: PersonActor, agent: UUID) -> HttpResponse:
    """Stop the agent, for a reason. An owner who manages nothing may, too; he has no page to come back to."""
    form = Why(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    try:
        stop_agent(agent, reason=reason, by=actor)
    except Refusal as refusal:
        return page(request, actor, agent, form=form, refusal=refusal)
    return redirect("agent", agent)


@require_POST
@signed_in
def resume(request: HttpRequest, actor: PersonActor, agent: UUID) -> HttpResponse:
    try:
        resume_agent(agent, by=actor)
    except Refusal as refusal:
        return page(request, actor, agent, refusal=refusal)
    return redirect("agent", agent)


@require_POST
@signed_in
def register(request: HttpRequest, actor: PersonActor, agent: UUID) -> HttpResponse:
    """Register a webhook and show its secret, this once, in the answer itself."""
    form = NewWebhook(request.POST)
    if not form.is_valid():
        return page(request, actor, agent, form=form)
    try:
        registered = register_webhook(agent, form.cleaned_data["url"], by=actor)
    except Refusal as refusal:
        return page(request, actor, agent, form=form, refusal=refusal)
    return page(request, actor, agent, shown_once=secret_of(registered))


def page(
    request: HttpRequest,
    actor: PersonActor,
    agent: UUID,
    *,
    form: forms.Form | None = None,
    refusal: Refusal | None = None,
    shown_once: dict[str, Any] | None = None,
) -> HttpResponse:
    """Answer with the page of an agent that the actor manages. Raises: NotFound, NotManager."""
    now = timezone.now()
    row = agent_row(agent, managed(actor))
    said = {
        "agent": parts.head(row),
        "warnings": parts.warnings(row, actor, now),
        "shown_once": shown_once,
        "stop": parts.stop(row, actor, form),
        "transfer": parts.transfer(row, form),
        "delegations": parts.delegations(row, now),
        "tokens": [parts.token(token) for token in row.tokens],
        "mint": parts.mint(row, form),
        "webhooks": parts.webhooks(row),
        "register": parts.register(row, form),
        "open": parts.open_proposals(row, now),
    }
    return show(request, "access/agent.html", said, refusal=refusal, form=form)


def _minted(minted: Minted) -> dict[str, Any]:
    address = f"{settings.HUQAN_BASE_URL}/api/v1/me"
    question = ["curl", "-sS", "-H", f"Authorization: Bearer {minted.text}", address]
    return {
        "title": _("A token for %(agent)s, shown this once") % {"agent": minted.token.agent.name},
        "sentence": _("Copy it now. Only its digest is kept."),
        "ends_at": minted.token.expires_at,
        "text": minted.text,
        "curl": shlex.join(question),
    }
