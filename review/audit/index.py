"""The filter columns of an entry, derived from its members and from nothing else.

`log` writes what this says and `verify` says it again, so a column that was changed alone is found out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_UUID_LENGTH = 36
_NOTHING: Mapping[str, Any] = {}


class Columns(NamedTuple):
    """What the log can be filtered by. All is text as in the entry; None where it has no such member."""

    action: str
    workspace: str | None
    person: str | None
    account: str | None
    agent: str | None
    object_type: str | None
    object_id: str | None
    proposal: str | None
    tool: str | None


def columns(members: Mapping[str, Any]) -> Columns:
    """The columns of the entry with these members."""
    return Columns(*derived(members))


def derived(members: Mapping[str, Any]) -> tuple[Any, ...]:
    """The same as a plain tuple, in plain style: it runs for every entry of a walk.

    What `after` holds as agent or proposal counts where it is an id: it may hold something else under that name.
    """
    actor = members.get("actor") or _NOTHING
    object_ = members.get("object") or _NOTHING
    after = members.get("after") or _NOTHING
    object_type, object_id = object_.get("type"), object_.get("id")
    agent, proposal = after.get("agent"), after.get("proposal")
    if agent is None and actor.get("kind") == "agent":
        agent = actor.get("subject")
    if proposal is None and object_type == "proposal":
        proposal = object_id
    return (
        members["action"],
        members.get("workspace"),
        actor.get("person"),
        actor.get("account"),
        agent if isinstance(agent, str) and len(agent) == _UUID_LENGTH else None,
        object_type,
        object_id,
        proposal if isinstance(proposal, str) and len(proposal) == _UUID_LENGTH else None,
        after.get("tool"),
    )
