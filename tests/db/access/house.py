"""Three people of acme (manager, owner of the agent, reviewer) and one of globex, who must see nothing."""

from __future__ import annotations

from dataclasses import dataclass

from review.access.actors import PersonActor, SystemActor
from review.access.models import Agent, Workspace
from review.access.roles import Role, Scope
from review.access.services.agents import create_agent
from review.access.services.memberships import grant_membership
from review.access.services.minting import Minted, mint_token
from review.access.services.people import create_person_with_account
from review.access.services.workspaces import create_workspace

OPERATOR = SystemActor()


@dataclass(frozen=True)
class House:
    """Two workspaces with their people, and acme's agent scout, owned by bob. Dana and erin manage acme."""

    acme: Workspace
    globex: Workspace
    people: dict[str, PersonActor]
    scout: Agent

    def __getattr__(self, name: str) -> PersonActor:
        return self.people[name]

    def mint(self) -> Minted:
        return mint_token(self.scout.id, scopes=[Scope.PROPOSE, Scope.READ], by=self.people["dana"])


def person(name: str) -> PersonActor:
    """Return a new person who has no role anywhere."""
    user = create_person_with_account(name, name, by=OPERATOR).user
    return PersonActor(person=user.person, user=user, session="s-" + name)


def build() -> House:
    people = {name: person(name) for name in ("dana", "erin", "alice", "bob", "mallory")}
    acme = create_workspace("acme", "dana", by=OPERATOR).workspace
    globex = create_workspace("globex", "mallory", by=OPERATOR).workspace
    for name in ("alice", "bob"):
        grant_membership(people[name].person.id, acme.id, Role.REVIEWER, by=OPERATOR)
    grant_membership(people["erin"].person.id, acme.id, Role.MANAGER, by=OPERATOR)
    scout = create_agent(acme.id, "scout", owner=people["bob"].person.id, by=OPERATOR)
    return House(acme, globex, people, scout)
