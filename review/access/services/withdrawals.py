"""Rights that were taken away, as `withdrawn.jsonl` keeps them, and taking them away again in an older copy."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from review.access.actors import SystemActor
from review.access.models import Agent, AgentToken, Membership, Person, Workspace
from review.access.services.agents import stop_within
from review.audit import log, withdrawn
from review.audit.actions import Action
from review.audit.chain import stamp
from review.audit.models import Entry
from review.audit.stretches import every
from review.audit.withdrawn import Line

CONSOLE = SystemActor("restore")
STOPPED = "It was stopped before the database was put back."


def register() -> None:
    """Have revoked tokens and roles, disabled people and stopped agents kept outside the database."""
    withdrawn.register("token", _tokens, _revoke)
    withdrawn.register("person", _people, _disable)
    withdrawn.register("membership", _memberships, _end)
    withdrawn.register("agent", _agents, _stop)


def _tokens() -> Iterator[Line]:
    for row in every(AgentToken.objects.filter(revoked_at__isnull=False).only("id", "revoked_at")):
        yield _line("token", row.id, row.revoked_at)


def _people() -> Iterator[Line]:
    for row in every(Person.objects.filter(disabled_at__isnull=False).only("id", "disabled_at")):
        yield _line("person", row.id, row.disabled_at)


def _memberships() -> Iterator[Line]:
    for row in every(Membership.objects.filter(until__isnull=False).only("id", "until")):
        yield _line("membership", row.id, row.until)


def _agents() -> Iterator[Line]:
    """Agents that are stopped, and those that somebody let run again: of both the file has to know the latest."""
    resumed = _resumed()
    for row in every(Agent.objects.only("id", "stopped_at")):
        if row.stopped_at:
            yield {**_line("agent", row.id, row.stopped_at), "stopped": True}
        elif str(row.id) in resumed:
            yield {"v": 1, "what": "agent", "id": str(row.id), "time": resumed[str(row.id)], "stopped": False}


def _resumed() -> dict[str | None, str]:
    """When each agent was last let run again."""
    everywhere = [str(id_) for id_ in Workspace.objects.values_list("id", flat=True)]
    told = Entry.objects.filter(workspace__in=everywhere, action=Action.AGENT_RESUMED)
    return dict(told.order_by("seq").values_list("object_id", "stamp"))


def _line(what: str, id_: UUID, at: datetime | None) -> Line:
    assert at is not None, "asked for where it is there"
    return {"v": 1, "what": what, "id": str(id_), "time": stamp(at)}


def _revoke(line: Line) -> bool:
    token = AgentToken.objects.select_related("agent").filter(id=line["id"], revoked_at__isnull=True).first()
    if token is None:
        return False
    token.revoked_at = _time(line)
    token.save(update_fields=["revoked_at"])
    after = {"agent": str(token.agent_id), "handle": token.handle, "scopes": token.scopes}
    _record(Action.TOKEN_REVOKED, "token", token.id, token.agent.workspace_id, after, agent=token.agent_id)
    return True


def _disable(line: Line) -> bool:
    person = Person.objects.filter(id=line["id"], disabled_at__isnull=True).first()
    if person is None:
        return False
    person.accounts.update(is_active=False)
    person.disabled_at = _time(line)
    person.save(update_fields=["disabled_at"])
    _record(Action.PERSON_DISABLED, "person", person.id, None, {})
    return True


def _end(line: Line) -> bool:
    """A role that the older copy knows as longer, or without an end, ends when it did."""
    until, row = _time(line), Membership.objects.filter(id=line["id"]).first()
    if row is None or (row.until is not None and row.until <= until):
        return False
    row.until = until
    row.save(update_fields=["until"])
    after = {
        "membership": str(row.id),
        "role": row.role,
        "groups": row.groups,
        "until": stamp(until),
    }
    _record(Action.MEMBERSHIP_REVOKED, "person", row.person_id, row.workspace_id, after)
    return True


def _stop(line: Line) -> bool:
    """Letting an agent run again is for a manager, so of the file only that it was stopped is believed."""
    agent = Agent.objects.filter(id=line["id"], stopped_at__isnull=True).first()
    if agent is None or not line["stopped"]:
        return False
    stop_within(agent, STOPPED, CONSOLE, _time(line))
    return True


def _time(line: Line) -> datetime:
    return datetime.fromisoformat(str(line["time"]))


def _record(
    action: Action, kind: str, id_: UUID, workspace: UUID | None, after: dict[str, Any], **more: Any
) -> None:
    log.record(
        action,
        actor=CONSOLE.audit(),
        workspace=workspace,
        object=log.ObjectRef(kind, str(id_)),
        after={**after, "put_back": True},
        **more,
    )
