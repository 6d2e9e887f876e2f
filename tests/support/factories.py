"""People, workspaces and agents for tests, as rows: whoever appears in a test, in one line.

`team()` makes the cast of most tests: acme, where alice and carol review, bob reviews and owns the agent scout,
dana and erin manage; and globex, where nina and oscar review, and mallory, who must see nothing of acme, owns
the agent prowler.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.canonical_json import digest
from review.access.actors import AgentActor, PersonActor
from review.access.models import Agent, AgentToken, Membership, Ownership, Person, User, Workspace
from review.access.tokens import new_token
from review.audit import log
from review.audit.actions import Action
from review.audit.actors import SYSTEM
from review.audit.transaction import write
from review.models import PolicyVersion

POLICY: Mapping[str, Any] = {
    "defaults": {"route": "review", "risk": "medium", "approvals": 1, "ttl_seconds": 604_800},
    "rules": [
        {"tool": "memory.write", "risk": "low", "approvals": 1},
        {"tool": "memory.release", "risk": "high", "approvals": 2},
        {"tool": "mail.send", "risk": "high", "approvals": 2, "ttl_seconds": 86_400, "audience": "mailer"},
        {"tool": "search.*", "route": "allow", "risk": "low"},
        {"tool": "shell.*", "route": "block"},
    ],
}
LONG_AGO = timedelta(days=30)


@dataclass(frozen=True)
class Team:
    """The cast. People and agents are actors, ready to be passed as `by`."""

    acme: Workspace
    globex: Workspace
    alice: PersonActor
    bob: PersonActor
    carol: PersonActor
    dana: PersonActor
    erin: PersonActor
    mallory: PersonActor
    nina: PersonActor
    oscar: PersonActor
    scout: AgentActor
    prowler: AgentActor


def team(policy: Mapping[str, Any] = POLICY) -> Team:
    """Make the cast, with `policy` in force in both workspaces."""
    acme, globex = workspace("acme", policy), workspace("globex", policy)
    bob, mallory = person("bob", acme, ["reviewer"]), person("mallory", globex, ["reviewer", "manager"])
    return Team(
        acme=acme,
        globex=globex,
        alice=person("alice", acme, ["reviewer"]),
        bob=bob,
        carol=person("carol", acme, ["reviewer"]),
        dana=person("dana", acme, ["manager"]),
        erin=person("erin", acme, ["manager"]),
        mallory=mallory,
        nina=person("nina", globex, ["reviewer"]),
        oscar=person("oscar", globex, ["reviewer"]),
        scout=agent("scout", acme, owner=bob),
        prowler=agent("prowler", globex, owner=mallory),
    )


def workspace(name: str, policy: Mapping[str, Any] | None = POLICY) -> Workspace:
    """Make a workspace; without a `policy` the built-in defaults hold, which review everything."""
    made = Workspace.objects.create(name=name, created_at=_long_ago())
    if policy is not None:
        set_policy(made, policy)
    return made


def set_policy(workspace: Workspace, policy: Mapping[str, Any]) -> None:
    """Put `policy` in force, in place of what was."""
    number = PolicyVersion.objects.filter(workspace=workspace).count() + 1
    with write():
        version = PolicyVersion.objects.create(
            workspace=workspace, version=number, document=json.dumps(policy), created_at=_long_ago()
        )
        log.record(
            Action.POLICY_ACTIVATED,
            actor=SYSTEM,
            workspace=workspace.id,
            object=log.ObjectRef("policy", version.id, number),
            after={"digest": digest(dict(policy)), "version": number},
        )


def person(name: str, workspace: Workspace | None = None, roles: Sequence[str] = ()) -> PersonActor:
    """Make a person with one account of that name, who has had `roles` in `workspace` for long."""
    someone = Person.objects.create(name=name, created_at=_long_ago())
    user = User.objects.create(person=someone, username=name, password="!", date_joined=_long_ago())
    for role in roles:
        Membership.objects.create(person=someone, workspace=workspace, role=role, since=_long_ago())
    return PersonActor(
        someone, user, session=f"session of {name}", methods=("password",), auth_time=timezone.now()
    )


def crew(workspace: Workspace, roles: Mapping[str, str], suffix: str) -> dict[str, PersonActor]:
    """Make people with one account and one role each, by name, in few statements; `suffix` keeps accounts apart."""
    now, since = timezone.now(), _long_ago()
    people = [Person(name=name + suffix, created_at=since) for name in roles]
    users = [User(person=one, username=one.name, password="!", date_joined=since) for one in people]
    held = [
        Membership(person=one, workspace=workspace, role=role, since=since)
        for one, role in zip(people, roles.values(), strict=True)
    ]
    Person.objects.bulk_create(people)
    User.objects.bulk_create(users)
    Membership.objects.bulk_create(held)
    return {
        name: PersonActor(one, user, f"session of {name}", ("password",), now)
        for name, one, user in zip(roles, people, users, strict=True)
    }


def agent(
    name: str,
    workspace: Workspace,
    owner: PersonActor,
    scopes: Sequence[str] = ("propose", "read", "redeem"),
) -> AgentActor:
    """Make an agent that `owner` answers for, with a token; `bearer` gives the header of that token."""
    made = Agent.objects.create(workspace=workspace, name=name, created_at=_long_ago())
    Ownership.objects.create(agent=made, person=owner.person, since=_long_ago())
    return AgentActor(made, token(made, owner, scopes))


def token(agent: Agent, minted_by: PersonActor, scopes: Sequence[str]) -> AgentToken:
    """Mint a token; its text is kept here, as an agent would keep it."""
    new, now = new_token(), timezone.now()
    made = AgentToken.objects.create(
        agent=agent,
        handle=new.handle,
        digest=new.digest,
        scopes=list(scopes),
        minted_by=minted_by.person,
        created_at=now,
        expires_at=now + timedelta(days=30),
    )
    _texts[made.id] = new.text
    return made


def bearer(agent: AgentActor) -> dict[str, str]:
    """Return the header with which `agent` calls the API, for Django's test client."""
    return {"HTTP_AUTHORIZATION": f"Bearer {_texts[agent.token.id]}"}


_texts: dict[UUID, str] = {}


def _long_ago() -> Any:
    return timezone.now() - LONG_AGO
