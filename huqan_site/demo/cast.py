"""Who is in the demo: made once, found again at every later start."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils import timezone

from huqan_site.demo import policies
from huqan_site.demo.keepsake import Keepsake, new_password
from review.access import queries, tokens
from review.access.actors import AgentActor, PersonActor, SystemActor
from review.access.models import Agent, User, Workspace
from review.access.refusals import Unauthorized
from review.access.roles import Role, Scope
from review.access.services.agents import create_agent
from review.access.services.memberships import grant_membership
from review.access.services.minting import mint_token
from review.access.services.passwords import choose_password, reset_password
from review.access.services.people import create_person_with_account
from review.access.services.workspaces import create_workspace
from review.queries.policies import in_force
from review.services.activate_policy import activate_first


class House(NamedTuple):
    """A workspace of the demo, its first manager and its policy."""

    name: str
    manager: str
    policy: dict[str, Any]


class Part(NamedTuple):
    """A person of the demo: account name, workspace, roles."""

    name: str
    workspace: str | None
    roles: tuple[Role, ...] = ()


class Program(NamedTuple):
    """An agent of the demo: its owner, who mints its token, and what that may do."""

    name: str
    workspace: str
    owner: str
    minter: str
    scopes: tuple[Scope, ...]


PEOPLE = (
    Part("alice", "acme", (Role.REVIEWER,)),
    Part("carol", "acme", (Role.REVIEWER,)),
    Part("bob", "acme", (Role.REVIEWER,)),
    Part("dana", "acme", (Role.MANAGER,)),
    Part("erin", "acme", (Role.MANAGER,)),
    Part("mallory", "globex", (Role.REVIEWER, Role.MANAGER)),
    Part("oscar", "globex", (Role.REVIEWER,)),
    Part("nina", "globex", (Role.REVIEWER,)),
    Part("root", None),
)

AGENTS = (
    Program("scout", "acme", "bob", "dana", (Scope.PROPOSE, Scope.READ, Scope.REDEEM)),
    Program("ranger", "acme", "erin", "erin", (Scope.PROPOSE, Scope.READ)),
    Program("prowler", "globex", "mallory", "mallory", (Scope.PROPOSE, Scope.READ, Scope.REDEEM)),
    Program("mailer", "acme", "erin", "erin", (Scope.REDEEM,)),
)

HOUSES = (House("acme", "dana", policies.ACME), House("globex", "mallory", policies.GLOBEX))


@dataclass(frozen=True)
class Cast:
    """The demo's workspaces, people and agents, by name, as they stand in the database."""

    workspaces: dict[str, Workspace]
    people: dict[str, PersonActor]
    agents: dict[str, AgentActor]


def assemble(keepsake: Keepsake) -> Cast:
    """Make whatever of the demo is missing, and note passwords and tokens in `keepsake`."""
    workspaces = {house.name: _workspace(house) for house in HOUSES}
    people = {part.name: _person(part, workspaces, keepsake) for part in PEOPLE}
    agents = {program.name: _agent(program, workspaces, people, keepsake) for program in AGENTS}
    return Cast(workspaces, people, agents)


def described(keepsake: Keepsake, url: str) -> dict[str, Any]:
    """Return the object that `seed_demo --json` prints."""
    return {
        "url": url,
        "people": {
            part.name: {
                "password": keepsake.passwords[part.name],
                "workspace": part.workspace,
                "roles": [str(role) for role in part.roles],
            }
            for part in PEOPLE
        },
        "agents": {
            program.name: {
                "token": keepsake.tokens[program.name],
                "workspace": program.workspace,
                "owner": program.owner,
                "scopes": [str(scope) for scope in program.scopes],
            }
            for program in AGENTS
        },
    }


def _workspace(house: House) -> Workspace:
    workspace = queries.workspace(house.name)
    if workspace is None:
        workspace = create_workspace(house.name, house.manager, by=SystemActor()).workspace
    if in_force(workspace.id).version == 0:
        activate_first(workspace, house.policy, by=SystemActor())
    return workspace


def _person(part: Part, workspaces: dict[str, Workspace], keepsake: Keepsake) -> PersonActor:
    user = queries.account(part.name) or _new_account(part)
    _give_password(user, keepsake)
    if part.workspace:
        _grant_missing(user, workspaces[part.workspace], part.roles)
    return PersonActor(person=user.person, user=user, session="", methods=("demo",))


def _new_account(part: Part) -> User:
    """Roles come from the operator: one that a token's minter granted would not count for its proposals."""
    superuser = part.workspace is None
    return create_person_with_account(part.name, part.name, by=SystemActor(), is_superuser=superuser).user


def _give_password(user: User, keepsake: Keepsake) -> None:
    if user.username in keepsake.passwords and user.has_usable_password():
        return
    keepsake.passwords[user.username] = password = new_password()
    keepsake.save()
    choose_password(reset_password(user.username, by=SystemActor()).secret, password)


def _grant_missing(user: User, workspace: Workspace, roles: Collection[Role]) -> None:
    now = timezone.now()
    for role in roles:
        if not queries.has_role(user.person_id, workspace.id, role, now):
            grant_membership(user.person_id, workspace.id, role, by=SystemActor())


def _agent(
    program: Program, workspaces: dict[str, Workspace], people: dict[str, PersonActor], keepsake: Keepsake
) -> AgentActor:
    workspace, owner = workspaces[program.workspace], people[program.owner].person
    agent = queries.agents_of([workspace.id]).filter(name=program.name).first() or create_agent(
        workspace.id, program.name, owner=owner.id, by=SystemActor()
    )
    return _known(keepsake.tokens.get(program.name, "")) or _minted(program, agent, people, keepsake)


def _minted(program: Program, agent: Agent, people: dict[str, PersonActor], keepsake: Keepsake) -> AgentActor:
    minted = mint_token(agent.id, scopes=program.scopes, by=people[program.minter])
    keepsake.tokens[program.name] = minted.text
    keepsake.save()
    return AgentActor(agent=agent, token=minted.token)


def _known(token: str) -> AgentActor | None:
    try:
        return tokens.authenticate([f"Bearer {token}"], now=timezone.now())
    except Unauthorized:
        return None
