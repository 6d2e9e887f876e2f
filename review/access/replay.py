"""What `verify` replays of this app: no role and no token without its entry, and none gone that has one (I24)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from review.access.models import AgentToken, Membership, Workspace
from review.audit.actions import Action
from review.audit.chain import stamp
from review.audit.models import Entry
from review.audit.stretches import every
from review.audit.verify import register_replay

Told = dict[str, dict[str, Any]]


def register() -> None:
    """Let every whole verification look at roles and tokens too."""
    register_replay("roles", roles)
    register_replay("tokens", tokens)


def roles() -> Iterator[str | None]:
    """Yield for each role, and for each that ought to be there, what is wrong with it, or None."""
    for workspace in Workspace.objects.order_by("id"):
        told = _told(workspace.id, (Action.MEMBERSHIP_GRANTED, Action.MEMBERSHIP_REVOKED), _membership)
        for role in every(Membership.objects.filter(workspace=workspace)):
            yield _of_role(role, told.pop(str(role.id), None))
        yield from (f"The role {id_} is gone; the log knows it." for id_ in told)


def tokens() -> Iterator[str | None]:
    """Yield for each token, and for each that ought to be there, what is wrong with it, or None."""
    for workspace in Workspace.objects.order_by("id"):
        told = _told(workspace.id, (Action.TOKEN_MINTED, Action.TOKEN_REVOKED), _token)
        for token in every(AgentToken.objects.filter(agent__workspace=workspace)):
            yield _of_token(token, told.pop(str(token.id), None))
        yield from (f"The token {told[id_]['handle']} is gone; the log knows it." for id_ in told)


def _of_role(role: Membership, told: Mapping[str, Any] | None) -> str | None:
    if told is None:
        return f"The role {role.role} of person {role.person_id} has no entry."
    stands = {
        "person": str(role.person_id),
        "role": role.role,
        "groups": role.groups or None,  # an empty list is left out of an entry
        "since": stamp(role.since),
        "until": stamp(role.until) if role.until else None,
    }
    if any(told.get(name) != value for name, value in stands.items()):
        return f"The role {role.role} of person {role.person_id} is not as the log tells of it."
    return None


def _of_token(token: AgentToken, told: Mapping[str, Any] | None) -> str | None:
    if told is None:
        return f"The token {token.handle} has no entry."
    stands = {"agent": str(token.agent_id), "handle": token.handle, "scopes": token.scopes}
    stands |= {"digest": token.digest, "until": stamp(token.expires_at)}
    if any(told.get(name) != value for name, value in stands.items()):
        return f"The token {token.handle} is not as the log tells of it."
    if (token.revoked_at is not None) != (told["last"] == Action.TOKEN_REVOKED):
        stands_as = "revoked" if token.revoked_at else "good"
        return f"The token {token.handle} is {stands_as}; its last entry says otherwise."
    return None


def _told(workspace: UUID, actions: tuple[Action, ...], key: Any) -> Told:
    """How the entries of each object left it: what a later one says counts, over what an earlier one said."""
    told: Told = {}
    for entry in every(Entry.objects.filter(workspace=str(workspace), action__in=actions), "seq"):
        members = json.loads(entry.canonical)
        id_, state = key(members)
        told[id_] = {**told.get(id_, {}), **state, "last": entry.action}
    return told


def _membership(members: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    after = members["after"]
    return after["membership"], {"person": members["object"]["id"], **after}


def _token(members: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return members["object"]["id"], members["after"]
