"""What the pages of setting up list: agents with their owners and tokens, people with their roles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.utils import timezone

from review.access import queries
from review.access.models import Agent, AgentToken, Person, Workspace
from review.access.queries import Member
from review.access.refusals import NotFound


class TokenRow(NamedTuple):
    """A token, whether it opens anything now ("active", "revoked" or "expired"), and when it last did.

    `requests` is how many it sent in the minute in which it was last used.
    """

    token: AgentToken
    state: str
    last_used_at: datetime | None
    requests: int


class AgentRow(NamedTuple):
    """An agent, who answers for it, its tokens, whether somebody active does answer, and whether it was stopped."""

    agent: Agent
    owners: list[Person]
    tokens: list[TokenRow]
    answered: bool
    stopped: bool

    @property
    def state(self) -> str:
        """Whether it may change anything: "running", "stopped" or "unowned", which is as good as stopped."""
        return "stopped" if self.stopped else "running" if self.answered else "unowned"

    @property
    def last_seen(self) -> datetime | None:
        return max((row.last_used_at for row in self.tokens if row.last_used_at), default=None)

    @property
    def active(self) -> list[TokenRow]:
        return [row for row in self.tokens if row.state == "active"]


class Team(NamedTuple):
    """A workspace and everyone who has a role in it now."""

    workspace: Workspace
    members: list[Member]


def agent_rows(workspaces: Sequence[Workspace]) -> list[AgentRow]:
    """Return the agents of `workspaces`, by workspace and name."""
    return _rows(list(queries.agents_of(workspace.id for workspace in workspaces)))


def agent_row(agent: UUID, workspaces: Sequence[Workspace]) -> AgentRow:
    """Return one agent of `workspaces`. Raises: NotFound."""
    rows = _rows(list(queries.agents_of(workspace.id for workspace in workspaces).filter(id=agent)))
    if not rows:
        raise NotFound
    return rows[0]


def _rows(agents: list[Agent]) -> list[AgentRow]:
    now = timezone.now()
    owners = queries.owners_now((agent.id for agent in agents), now)
    usage = queries.usage(token.id for agent in agents for token in agent.tokens.all())
    answered = set(queries.answered(now).filter(agent__in=agents).values_list("agent_id", flat=True))
    return [
        AgentRow(
            agent,
            owners[agent.id],
            [
                TokenRow(token, _token_state(token, now), *usage.get(token.id, (None, 0)))
                for token in agent.tokens.all()
            ],
            agent.id in answered,
            agent.stopped_at is not None,
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
