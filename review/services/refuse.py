"""What was refused at the gate is recorded too: who tried which tool, and why not (I27)."""

from __future__ import annotations

import secrets
from uuid import UUID

from huqan_site.lib.problems import Refusal
from review.access.actors import Actor, AgentActor, PersonActor
from review.audit import chain, log
from review.audit.actions import Action


def record_refused(
    refusal: Refusal, *, tool: str, text: str, by: AgentActor, proposal: UUID | None = None
) -> None:
    """Append the entry of a refused submission of an agent."""
    _record(refusal, tool, text, by, by.agent.workspace_id, proposal, agent=by.agent.id)


def record_refused_own(
    refusal: Refusal, *, tool: str, text: str, by: PersonActor, workspace: UUID, proposal: UUID | None = None
) -> None:
    """Append the entry of a refused submission of a person, who acts in `workspace`."""
    _record(refusal, tool, text, by, workspace, proposal)


def _record(
    refusal: Refusal,
    tool: str,
    text: str,
    by: Actor,
    workspace: UUID,
    proposal: UUID | None,
    agent: UUID | None = None,
) -> None:
    """Append the entry.

    Of the arguments only a salted digest stands in it and the salt is thrown away: a refused value may be a
    secret or one that people have rejected, and the log must not be the place that keeps it.
    """
    sealed = chain.commitment(text, secrets.token_bytes(chain.SALT_BYTES))
    log.record(
        Action.PROPOSAL_REFUSED,
        actor=by.audit(),
        workspace=workspace,
        agent=agent,
        tool=tool[:128],
        proposal=proposal,
        after={"code": refusal.code, "arguments": sealed},
    )
