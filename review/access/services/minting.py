"""Tokens: minted by a person who then counts as part of what they propose, and revoked."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from review.access.actors import Actor, PersonActor
from review.access.models import Agent, AgentToken
from review.access.refusals import BadTerm, NotFound
from review.access.roles import Scope
from review.access.services import rules
from review.access.tokens import new_token
from review.audit import log
from review.audit.actions import Action
from review.audit.chain import stamp
from review.audit.transaction import write

MAX_DAYS = 90


class Minted(NamedTuple):
    """A stored token, and its text, which nobody can show again."""

    token: AgentToken
    text: str


def mint_token(agent_id: UUID, *, scopes: Collection[Scope], days: int = MAX_DAYS, by: PersonActor) -> Minted:
    """Mint a token of `agent_id` that lasts `days` days (1 to 90).

    Raises: BadTerm, NotFound, NotManager.
    """
    if not 1 <= days <= MAX_DAYS or not scopes or not set(scopes) <= set(Scope):
        raise BadTerm
    new = new_token()
    with write():
        agent = Agent.objects.select_for_update(no_key=True).filter(id=agent_id).first()
        if agent is None:
            raise NotFound
        now = log.take_turn()
        rules.require_manager(by, agent.workspace_id, now)
        token = AgentToken.objects.create(
            agent=agent,
            handle=new.handle,
            digest=new.digest,
            scopes=[str(scope) for scope in Scope if scope in scopes],
            minted_by=by.person,
            created_at=now,
            expires_at=now + timedelta(days=days),
        )
        _record(Action.TOKEN_MINTED, token, by)
        return Minted(token, new.text)


def revoke_token(token_id: UUID, *, by: Actor) -> AgentToken:
    """End a token now; revoking a revoked one changes nothing.

    Raises: NotFound, NotManager.
    """
    with write():
        held = AgentToken.objects.select_for_update(of=("self",), no_key=True).select_related("agent")
        token = held.filter(id=token_id).first()
        if token is None:
            raise NotFound
        now = log.take_turn()
        rules.require_manager_or_owner(by, token.agent, now)
        if token.revoked_at is None:
            token.revoked_at = now
            token.save(update_fields=["revoked_at"])
            _record(Action.TOKEN_REVOKED, token, by)
        return token


def _record(action: Action, token: AgentToken, by: Actor) -> None:
    log.record(
        action,
        actor=by.audit(),
        workspace=token.agent.workspace_id,
        object=log.ObjectRef("token", str(token.id)),
        after={
            "agent": str(token.agent_id),
            "handle": token.handle,
            "scopes": token.scopes,
            "digest": token.digest,
            "until": stamp(token.expires_at),
        },
        agent=token.agent_id,
    )
