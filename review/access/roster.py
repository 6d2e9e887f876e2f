"""What the pages of setting up list: agents with their owners and tokens, people with their roles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.utils import timezone

from review.access import queries
from review.access.models import Agent, AgentToken, Person, Workspace
from review.access.queries import Member


class TokenRow(NamedTuple):
    """A token, whether it opens anything now ("active", "revoked" or "expired"), and when it last did."""

    token: AgentToken
    state: str
    last_used_at: datetime | None


class AgentRow(NamedTuple):
    """An agent, who answers for it now, its tokens, and whether it may change anything."""

    agent: Agent
    owners: list[Person]
    tokens: list[TokenRow]
    state: str


class Team(NamedTuple):
    """A workspace and everyone who has a role in it now."""

    workspace: Workspace
    members: list[Member]


def agent_rows(workspaces: Sequence[Workspace]) -> list[AgentRow]:
    """Return the agents of `workspaces`; state is "running", "stopped" or "unowned" (as good as stopped)."""
    now = timezone.now()
    agents = list(queries.agents_of(workspace.id for workspace in workspaces))
    owners = queries.owners_now((agent.id for agent in agents), now)
    used = queries.last_used(token.id for agent in agents for token in agent.tokens.all())
    return [
        AgentRow(
            agent,
            owners[agent.id],
            [TokenRow(token, _token_state(token, now), used.get(token.id)) for token in agent.tokens.all()],
            _agent_state(agent, owners[agent.id]),
        )
        for agent in agents
    ]


def _token_state(token: AgentToken, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "active" if now < token.expires_at else "expired"


def teams(workspaces: Sequence[Workspace]) -> list[Team]:
    now = timezone.now()
    return [Team(workspace, queries.members(workspace.id, now)) for workspace in workspaces]


def members_of(workspaces: Sequence[Workspace]) -> list[Member]:
    return [member for team in teams(workspaces) for member in team.members]


def _agent_state(agent: Agent, owners: Sequence[Person]) -> str:
    if agent.stopped_at is not None:
        return "stopped"
    return "running" if any(owner.disabled_at is None for owner in owners) else "unowned"
