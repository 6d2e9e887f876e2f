"""Managers set up agents: who answers for them, their tokens, and the stop."""

from __future__ import annotations

import shlex
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.access.forms import Mint, NewAgent
from review.access.models import Workspace
from review.access.roles import Scope
from review.access.roster import AgentRow, TokenRow, agent_rows, members_of
from review.access.services.agents import create_agent, resume_agent, stop_agent
from review.access.services.minting import Minted, mint_token, revoke_token
from review.access.sessions import signed_in
from review.access.views.shared import first_error, managed, show


@require_http_methods(["GET", "POST"])
@signed_in
def agents(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """The agents of the workspaces that one manages; posting adds one."""
    workspaces = managed(actor)
    if request.method != "POST":
        return _agents_page(request, workspaces)
    form = NewAgent(request.POST, workspaces=workspaces, members=members_of(workspaces))
    if not form.is_valid():
        return _agents_page(request, workspaces, form=form)
    told = form.cleaned_data
    try:
        create_agent(told["workspace"], told["name"], owner=told["owner"], by=actor)
    except Refusal as refusal:
        return _agents_page(request, workspaces, form=form, refusal=refusal)
    return redirect("agents")


@require_POST
@signed_in
def mint(request: HttpRequest, actor: PersonActor, agent: UUID) -> HttpResponse:
    """Mint a token and show it, this once, in the answer itself."""
    workspaces, form = managed(actor), Mint(request.POST)
    if not form.is_valid():
        return _agents_page(request, workspaces, mint=(agent, form))
    told = form.cleaned_data
    try:
        minted = mint_token(agent, scopes=told["scopes"], days=told["days"], by=actor)
    except Refusal as refusal:
        return _agents_page(request, workspaces, mint=(agent, form), refusal=refusal)
    return _agents_page(request, workspaces, minted=minted)


@require_POST
@signed_in
def revoke(request: HttpRequest, actor: PersonActor, token: UUID) -> HttpResponse:
    revoke_token(token, by=actor)
    return redirect("agents")


@require_POST
@signed_in
def stop(request: HttpRequest, actor: PersonActor, agent: UUID) -> HttpResponse:
    stop_agent(agent, by=actor)
    return redirect("agents")


@require_POST
@signed_in
def resume(request: HttpRequest, actor: PersonActor, agent: UUID) -> HttpResponse:
    resume_agent(agent, by=actor)
    return redirect("agents")


def _agents_page(
    request: HttpRequest,
    workspaces: list[Workspace],
    *,
    form: NewAgent | None = None,
    mint: tuple[UUID, Mint] | None = None,
    minted: Minted | None = None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    said = {
        "agents": [_agent(row, mint) for row in agent_rows(workspaces)],
        "create": _create(workspaces, form),
        "minted": _minted(minted) if minted else None,
    }
    return show(
        request, "access/agents.html", said, refusal=refusal, form=form or (mint[1] if mint else None)
    )


def _agent(row: AgentRow, mint: tuple[UUID, Mint] | None) -> dict[str, Any]:
    agent = row.agent
    return {
        "id": agent.id,
        "name": agent.name,
        "workspace": agent.workspace.name,
        "owners": [owner.name for owner in row.owners],
        "stopped": row.state != "running",
        "stop_url": reverse("agent_stop", args=[agent.id]),
        "resume_url": reverse("agent_resume", args=[agent.id]),
        "tokens": [_token(token) for token in row.tokens],
        "mint": _mint(agent.id, mint[1] if mint and mint[0] == agent.id else None),
    }


def _token(row: TokenRow) -> dict[str, Any]:
    token = row.token
    return {
        "id": token.handle,
        "scopes": token.scopes,
        "minted_by": token.minted_by.name,
        "minted_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used_at": row.last_used_at,
        "revoked": row.state == "revoked",
        "revoke_url": reverse("token_revoke", args=[token.id]),
    }


def _mint(agent: UUID, form: Mint | None) -> dict[str, Any]:
    chosen = form.data.getlist("scopes") if form else [Scope.PROPOSE, Scope.READ]  # type: ignore[attr-defined]
    return {
        "url": reverse("agent_mint", args=[agent]),
        "scopes": [
            {"value": value, "label": label, "checked": value in chosen} for value, label in Scope.choices
        ],
        "days": form.data.get("days") if form else 90,
        "error": first_error(form),
    }


def _create(workspaces: list[Workspace], form: NewAgent | None) -> dict[str, Any]:
    blank = NewAgent(workspaces=workspaces, members=members_of(workspaces))
    return {
        "url": reverse("agents"),
        "workspaces": blank.fields["workspace"].choices,  # type: ignore[attr-defined]
        "owners": blank.fields["owner"].choices,  # type: ignore[attr-defined]
        "name": form.data.get("name", "") if form else "",
        "error": first_error(form),
    }


def _minted(minted: Minted) -> dict[str, Any]:
    question = [
        "curl",
        "-sS",
        "-H",
        f"Authorization: Bearer {minted.text}",
        f"{settings.HUQAN_BASE_URL}/api/v1/me",
    ]
    return {
        "agent": minted.token.agent.name,
        "token": minted.text,
        "expires_at": minted.token.expires_at,
        "curl": shlex.join(question),
    }
