"""Managers see their agents, add one, and can stop all of a workspace in one step."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.access.forms import NewAgent, StopAll
from review.access.roster import AgentRow, agent_rows, members_of
from review.access.services.agents import create_agent, stop_all
from review.access.sessions import signed_in
from review.access.views.shared import first_error, managed, show
from review.queries import fleet


@require_http_methods(["GET", "POST"])
@signed_in
def agents(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """The agents of the workspaces that one manages; posting adds one."""
    workspaces = managed(actor)
    if request.method != "POST":
        return _page(request, actor)
    form = NewAgent(request.POST, workspaces=workspaces, members=members_of(workspaces))
    if not form.is_valid():
        return _page(request, actor, create=form)
    told = form.cleaned_data
    try:
        made = create_agent(told["workspace"], told["name"], owner=told["owner"], by=actor)
    except Refusal as refusal:
        return _page(request, actor, create=form, refusal=refusal)
    return redirect("agent", made.id)


@require_POST
@signed_in
def stop_everything(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Stop every agent of one workspace, and say how many that were."""
    form = StopAll(request.POST, workspaces=managed(actor))
    if not form.is_valid():
        return _page(request, actor, stop=form)
    told = form.cleaned_data
    try:
        stopped = stop_all(told["workspace"], reason=told["reason"], by=actor)
    except Refusal as refusal:
        return _page(request, actor, stop=form, refusal=refusal)
    sentence = ngettext(
        "Recorded: %(number)d agent is stopped.", "Recorded: %(number)d agents are stopped.", len(stopped)
    )
    return _page(request, actor, notice=sentence % {"number": len(stopped)})


def _page(
    request: HttpRequest,
    actor: PersonActor,
    *,
    create: NewAgent | None = None,
    stop: StopAll | None = None,
    refusal: Refusal | None = None,
    notice: str = "",
) -> HttpResponse:
    workspaces, now = managed(actor), timezone.now()
    rows = agent_rows(workspaces)
    counts = fleet.open_counts((row.agent.id for row in rows), now)
    blank = NewAgent(workspaces=workspaces, members=members_of(workspaces))
    said = {
        "agents": [_row(row, counts) for row in rows],
        "create": {
            "url": reverse("agents"),
            "workspaces": _choices(blank, "workspace"),
            "owners": _choices(blank, "owner"),
            "name": create.data.get("name", "") if create else "",
            "error": first_error(create),
        },
        "stop": {
            "url": reverse("agents_stop_all"),
            "workspaces": _choices(blank, "workspace"),
            "reason": stop.data.get("reason", "") if stop else "",
            "error": first_error(stop),
        },
    }
    return show(request, "access/agents.html", said, refusal=refusal, form=create or stop, notice=notice)


def _choices(form: forms.Form, field: str) -> list[tuple[str, str]]:
    choices: list[tuple[str, str]] = form.fields[field].choices  # type: ignore[attr-defined]
    return choices


def _row(row: AgentRow, counts: dict[UUID, int]) -> dict[str, Any]:
    return {
        "url": reverse("agent", args=[row.agent.id]),
        "name": row.agent.name,
        "workspace": row.agent.workspace.name,
        "owners": [owner.name for owner in row.owners],
        "state": row.state,
        "tokens": len(row.active),
        "open": counts.get(row.agent.id, 0),
        "last_seen": row.last_seen,
    }
