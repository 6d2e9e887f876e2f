"""Agents: made, handed over, stopped and resumed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.canonical_json import JSON
from review.access import queries
from review.access.actors import Actor, SystemActor
from review.access.models import Agent, Ownership, Person
from review.access.refusals import NameTaken, NotAMember, NotFound, OwnStop, ReasonMissing, Unanswered
from review.access.services import rules
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write

Consequence = Callable[[Agent, Actor, datetime], None]
_when_stopped: list[Consequence] = []
CONSOLE = SystemActor()
UNANSWERED = "Nobody active answers for it."


def when_stopped(consequence: Consequence) -> Consequence:
    """Have `consequence` run inside the transaction that stops an agent.

    This app knows no proposals; the app that does withdraws them here, together with the stop or not at all.
    """
    if consequence not in _when_stopped:
        _when_stopped.append(consequence)
    return consequence


def create_agent(workspace_id: UUID, name: str, *, owner: UUID, by: Actor) -> Agent:
    """Make an agent for which `owner`, a member of the workspace, answers.

    Raises: BadName, NameTaken, NotAMember, Disabled, NotFound, NotManager.
    """
    with write():
        now = log.take_turn()
        rules.require_manager(by, workspace_id, now)
        person = _future_owner(owner, workspace_id, now)
        with rules.only_once(NameTaken):
            agent = Agent.objects.create(workspace_id=workspace_id, name=rules.slug(name), created_at=now)
        Ownership.objects.create(agent=agent, person=person, since=now)
        _record(Action.AGENT_CREATED, agent, by, after={"owners": [str(person.id)]})
        return agent


def transfer_agent(agent_id: UUID, *, to: UUID, by: Actor) -> Agent:
    """Let `to` answer for the agent instead of its owners until now, who keep being those of past revisions.

    Raises: NotAMember, Disabled, NotFound, NotManager.
    """
    with write():
        agent, now = _locked(agent_id), timezone.now()
        rules.require_manager(by, agent.workspace_id, now)
        person = _future_owner(to, agent.workspace_id, now)
        before = queries.owners(agent.id, now)
        Ownership.objects.filter(agent=agent, until__isnull=True).exclude(person=person).update(until=now)
        Ownership.objects.get_or_create(agent=agent, person=person, until=None, defaults={"since": now})
        rules.require_manager(by, agent.workspace_id, log.take_turn())  # he may have lost it while he waited
        _record(
            Action.AGENT_TRANSFERRED,
            agent,
            by,
            before={"owners": sorted(map(str, before))},
            after={"owners": [str(person.id)]},
        )
        return agent


def stop_agent(agent_id: UUID, *, reason: str, by: Actor) -> Agent:
    """Let the agent change nothing more, with what that entails; stopping a stopped one changes nothing.

    Raises: NotFound, NotManager, ReasonMissing.
    """
    now = timezone.now()
    with write():
        agent = _locked(agent_id)
        rules.require_manager_or_owner(by, agent, now)
        stop_within(agent, _said(reason), by, now)
        rules.require_manager_or_owner(by, agent, log.take_turn())  # he may have lost it while he waited
        return agent


def stop_all(workspace_id: UUID, *, reason: str, by: Actor) -> list[Agent]:
    """Stop every agent of a workspace that still runs, and return those.

    Each stop is whole by itself: whoever decides on a proposal of one agent waits for that one alone.

    Raises: NotFound, NotManager, ReasonMissing.
    """
    rules.require_manager(by, workspace_id, timezone.now())
    _said(reason)
    running = Agent.objects.filter(workspace_id=workspace_id, stopped_at__isnull=True).order_by("name")
    return [stop_agent(agent_id, reason=reason, by=by) for agent_id in running.values_list("id", flat=True)]


def stop_unanswered() -> int:
    """Stop every agent that nobody active answers for any more; return how many.

    At the door such an agent is refused at once. This also takes back what it left open, whatever ended its
    owner's right: disabled, a role that was revoked or ran out, an account that was closed.
    """
    now = timezone.now()
    return sum(_stop_if_unanswered(agent) for agent in queries.unanswered(now))


def hold_agents_of(person_id: UUID) -> None:
    """Let none of the agents he answers for do anything until the caller's transaction ends.

    Whoever ends his right calls it before he takes his turn in the log: what an agent does holds its row
    and asks who answers for it, so it is in the log before its last owner's end, or refused.
    """
    owned = Ownership.objects.filter(person=person_id, until__isnull=True).values("agent")
    list(Agent.objects.select_for_update(no_key=True).filter(id__in=owned).order_by("id").values("id"))


def resume_agent(agent_id: UUID, *, by: Actor) -> Agent:
    """Let a stopped agent propose again. Only a manager can, and not the one who stopped it.

    Raises: NotFound, NotManager, OwnStop, Unanswered.
    """
    with write():
        agent = _locked(agent_id)
        now = log.take_turn()
        rules.require_manager(by, agent.workspace_id, now)
        if agent.stopped_at is not None:
            _mind_who_lifts(agent, by, now)
            _set_stopped(agent, None, None, "")
            _record(Action.AGENT_RESUMED, agent, by)
        return agent


def _said(reason: str) -> str:
    if not reason.strip():
        raise ReasonMissing
    return reason.strip()


def stop_within(agent: Agent, reason: str, by: Actor, now: datetime) -> None:
    """Stop a locked agent within the caller's transaction, unless it is stopped."""
    if agent.stopped_at is not None:
        return
    _set_stopped(agent, now, rules.person_behind(by), reason)
    for consequence in _when_stopped:  # each locks its rows, and recording comes after every lock
        consequence(agent, by, now)
    _record(Action.AGENT_STOPPED, agent, by, private={"reason": reason})


def _stop_if_unanswered(agent_id: UUID) -> bool:
    now = timezone.now()
    with write():
        agent = _locked(agent_id)
        unanswered = agent.stopped_at is None and not queries.has_active_owner(agent.id, now)
        if unanswered:
            stop_within(agent, UNANSWERED, CONSOLE, now)
        return unanswered


def _mind_who_lifts(agent: Agent, by: Actor, now: datetime) -> None:
    person, stopper = rules.person_behind(by), agent.stopped_by_id
    if person and stopper and queries.himself(person.id) == queries.himself(stopper):
        raise OwnStop
    if not queries.has_active_owner(agent.id, now):
        raise Unanswered


def _set_stopped(agent: Agent, at: datetime | None, by: Person | None, reason: str) -> None:
    agent.stopped_at, agent.stopped_by, agent.stop_reason = at, by, reason
    agent.save(update_fields=["stopped_at", "stopped_by", "stop_reason"])


def _future_owner(person_id: UUID, workspace_id: UUID, now: datetime) -> Person:
    person = Person.objects.filter(id=person_id).first()
    if person is None:
        raise NotFound
    rules.require_active(person)
    if not queries.is_member(person.id, workspace_id, now):
        raise NotAMember
    return person


def _locked(agent_id: UUID) -> Agent:
    agent = Agent.objects.select_for_update(no_key=True).filter(id=agent_id).first()
    if agent is None:
        raise NotFound
    return agent


def _record(
    action: Action,
    agent: Agent,
    by: Actor,
    *,
    before: dict[str, JSON] | None = None,
    after: dict[str, JSON] | None = None,
    private: dict[str, str] | None = None,
) -> None:
    log.record(
        action,
        actor=by.audit(),
        workspace=agent.workspace_id,
        object=log.ObjectRef("agent", str(agent.id)),
        before=before,
        after=after,
        private=private,
        agent=agent.id,
    )
