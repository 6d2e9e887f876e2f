"""The filter columns of an entry, derived from its members and from nothing else.

`log` writes what this says and `verify` says it again, so a column that was changed alone is found out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID


class Columns(NamedTuple):
    """What the log can be filtered by; ids that are not UUIDs are left out."""

    action: str
    workspace: UUID | None
    person: UUID | None
    account: str | None
    agent: UUID | None
    object_type: str | None
    object_id: str | None
    proposal: UUID | None
    tool: str | None


def columns(members: Mapping[str, Any]) -> Columns:
    """The columns of the entry with these members."""
    actor, object_, after = (members.get(name) or {} for name in ("actor", "object", "after"))
    return Columns(
        action=members["action"],
        workspace=_uuid(members.get("workspace")),
        person=_uuid(actor.get("person")),
        account=actor.get("account"),
        agent=_uuid(after.get("agent") or (actor.get("subject") if actor.get("kind") == "agent" else None)),
        object_type=object_.get("type"),
        object_id=object_.get("id"),
        proposal=_uuid(
            after.get("proposal") or (object_.get("id") if object_.get("type") == "proposal" else None)
        ),
        tool=after.get("tool"),
    )


def _uuid(text: object) -> UUID | None:
    try:
        return UUID(text) if isinstance(text, str) else None
    except ValueError:
        return None
