"""Letting an agent act for oneself: granted by that person alone, and by nobody for another."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from review.access import queries
from review.access.actors import PersonActor
from review.access.models import Agent, Delegation
from review.access.refusals import AlreadyGranted, NotFound
from review.access.services import rules
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write


def grant_delegation(agent_id: UUID, *, by: PersonActor) -> Delegation:
    """Let an agent of one of the person's workspaces act for him, until he takes it back.

    Raises: NotFound, AlreadyGranted.
    """
    with write():
        now = log.take_turn()  # who loses his role meanwhile has lost it
        agent = Agent.objects.filter(id=agent_id).first()
        if agent is None or not queries.is_member(by.person.id, agent.workspace_id, now):
            raise NotFound
        with rules.only_once(AlreadyGranted):
            delegation = Delegation.objects.create(agent=agent, person=by.person, since=now)
        _record(Action.DELEGATION_GRANTED, delegation, by)
        return delegation


def revoke_delegation(delegation_id: int, *, by: PersonActor) -> Delegation:
    """Take it back now. Raises: NotFound, also for what another person granted."""
    now = timezone.now()
    with write():
        held = Delegation.objects.select_for_update(of=("self",), no_key=True).select_related("agent")
        delegation = held.filter(id=delegation_id, person=by.person, until__isnull=True).first()
        if delegation is None:
            raise NotFound
        delegation.until = now
        delegation.save(update_fields=["until"])
        _record(Action.DELEGATION_REVOKED, delegation, by)
        return delegation


def _record(action: Action, delegation: Delegation, by: PersonActor) -> None:
    log.record(
        action,
        actor=by.audit(),
        workspace=delegation.agent.workspace_id,
        object=log.ObjectRef("agent", str(delegation.agent_id)),
        on_behalf_of=delegation.person_id,
        agent=delegation.agent_id,
    )
