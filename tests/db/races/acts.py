"""What can be done to a proposal, or to the right of whoever does it: each as a race needs it.

An act is prepared before the barrier (a form is filled in, a change is proposed), and done after it in one or
more steps, each a transaction of its own. Who acts second has hands of his own: `place` is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count
from typing import Any, NamedTuple

from review.access.actors import AgentActor, PersonActor
from review.access.models import Membership, Workspace
from review.access.services.agents import stop_agent
from review.access.services.memberships import revoke_membership
from review.access.services.people import disable_person, link_account, link_people
from review.audit.transaction import write
from review.models import Proposal
from review.services.decide import decide
from review.services.expire import meet
from review.services.issue_permit import redeem
from review.services.rebind import rebind_outdated
from review.services.revise import revise
from review.services.transitions import lock
from review.services.withdraw import withdraw
from tests.support import factories
from tests.support.memory_acts import arguments_of, doubtful
from tests.support.policy_acts import proposed, with_rule
from tests.support.review_acts import ballot, call, mail, vote

Step = Callable[[], Any]
ROLES = {"alice": "reviewer", "bob": "reviewer", "carol": "reviewer", "dave": "reviewer"}
ROLES |= {"dana": "manager", "erin": "manager", "gina": "manager"}
_numbers = count()


@dataclass(frozen=True)
class House:
    """A workspace for one round, since what a round takes away must not be missing in the next.

    Carol and dave review, erin and gina manage, first and second; alice has voted where somebody has. Bob owns
    the agent scout, and dana writes the policy.
    """

    acme: Workspace
    people: Mapping[str, PersonActor]
    scout: AgentActor

    @classmethod
    def new(cls) -> House:
        number = next(_numbers)
        acme = factories.workspace(f"acme-{number}")
        people = factories.crew(acme, ROLES, f"-{number}")
        return cls(acme, people, factories.agent("scout", acme, people["bob"]))

    @property
    def names(self) -> dict[str, str]:
        """The name of each person by his id, as the log has it."""
        return {str(actor.person.id): name for name, actor in self.people.items()}


@dataclass(frozen=True)
class Scene:
    """The one proposal that a round is about, in its house."""

    house: House
    proposal: Proposal

    @cached_property
    def change(self) -> Proposal:
        """A change of the rule that this proposal stands under, which waits for another manager."""
        tool, people = self.proposal.tool, 2 if self.proposal.tool == "mail.send" else 1
        document = with_rule(self.house.acme, tool, risk="high", approvals=people)
        return proposed(self.house.people["dana"], self.house.acme, document)


class Place(NamedTuple):
    """Where an act stands in a round: its hands, and whose right the other act rests on."""

    number: int
    rival: str

    @property
    def reviewer(self) -> str:
        return ("carol", "dave")[self.number]

    @property
    def manager(self) -> str:
        return ("erin", "gina")[self.number]


class Act(NamedTuple):
    """`right` says whose right the act rests on; `ready` prepares it."""

    right: Callable[[Place], str]
    ready: Callable[[Scene, Place], Sequence[Step]]


ACTS: dict[str, Act] = {}
Ready = Callable[[Scene, Place], Sequence[Step]]


def act(right: Callable[[Place], str]) -> Callable[[Ready], Ready]:
    def register(ready: Ready) -> Ready:
        ACTS[ready.__name__] = Act(right, ready)
        return ready

    return register


def reviewer(place: Place) -> str:
    return place.reviewer


def manager(place: Place) -> str:
    return place.manager


def owner(_: Place) -> str:
    return "bob"


@act(reviewer)
def approve(scene: Scene, place: Place) -> Sequence[Step]:
    return [_decides(scene, scene.proposal, place.reviewer, "approve")]


@act(reviewer)
def reject(scene: Scene, place: Place) -> Sequence[Step]:
    return [_decides(scene, scene.proposal, place.reviewer, "reject")]


@act(reviewer)
def edit(scene: Scene, place: Place) -> Sequence[Step]:
    return [_rewrites(scene, scene.house.people[place.reviewer], f"Edited at place {place.number}.")]


@act(owner)
def revise_it(scene: Scene, place: Place) -> Sequence[Step]:
    return [_rewrites(scene, scene.house.scout, f"Revised at place {place.number}.")]


@act(owner)
def take_back(scene: Scene, place: Place) -> Sequence[Step]:
    return [partial(withdraw, scene.proposal.id, by=scene.house.scout)]


@act(owner)
def take_a_permit(scene: Scene, place: Place) -> Sequence[Step]:
    return [partial(redeem, scene.proposal.id, by=scene.house.scout, binding=scene.proposal.binding)]


@act(owner)
def run_out(scene: Scene, place: Place) -> Sequence[Step]:
    """The sweeper comes at the very moment in which the time is over that the proposal had."""
    return [partial(sweep, scene.proposal)]


@act(manager)
def end_a_role(scene: Scene, place: Place) -> Sequence[Step]:
    by, whose = scene.house.people[place.manager], scene.house.people[place.rival].person
    held = Membership.objects.get(person=whose, workspace=scene.house.acme)
    return [partial(revoke_membership, held.id, by=by)]


@act(manager)
def disable(scene: Scene, place: Place) -> Sequence[Step]:
    by, whose = scene.house.people[place.manager], scene.house.people[place.rival].person
    return [partial(disable_person, whose.id, by=by)]


@act(manager)
def link(scene: Scene, place: Place) -> Sequence[Step]:
    by, whose = scene.house.people[place.manager], scene.house.people[place.rival].person
    return [partial(link_account, whose.id, f"{whose.name}.again", by=by)]


@act(manager)
def turn_out_to_be_one(scene: Scene, place: Place) -> Sequence[Step]:
    """Whose right is at stake is found to be the owner of the agent; the owner, to be alice."""
    by, whose = scene.house.people[place.manager], scene.house.people[place.rival].person
    really = scene.house.people["alice" if place.rival == "bob" else "bob"].person
    return [partial(link_people, really.id, whose.id, by=by)]


@act(manager)
def stop(scene: Scene, place: Place) -> Sequence[Step]:
    by, agent = scene.house.people[place.manager], scene.house.scout.agent
    return [partial(stop_agent, agent.id, reason="It went wrong.", by=by)]


@act(manager)
def change_the_rule(scene: Scene, place: Place) -> Sequence[Step]:
    """What was open is bound anew in transactions of their own, so that others come in between."""
    change = _decides(scene, scene.change, place.manager, "approve")
    return [change, partial(rebind_outdated, workspace=scene.house.acme.id)]


def sweep(proposal: Proposal) -> None:
    """Do what `expire` does, at the very moment that `proposal` runs out."""
    assert proposal.expires_at is not None
    with write():
        meet(lock(proposal.id), proposal.expires_at)


def _decides(scene: Scene, proposal: Proposal, name: str, verdict: str) -> Step:
    person = scene.house.people[name]
    return partial(decide, proposal.id, by=person, ballot=ballot(person, proposal, verdict))


def _rewrites(scene: Scene, author: AgentActor | PersonActor, note: str) -> Step:
    arguments = {**arguments_of(scene.proposal), "note": note}
    return partial(
        revise,
        scene.proposal.id,
        by=author,
        replaces=scene.proposal.revision,
        arguments=arguments,
        rationale="It was wrong.",
    )


# The states in which a proposal is met.


def waiting(house: House) -> Proposal:
    """A call that one person can approve."""
    return call(house.scout)


def half_approved(house: House) -> Proposal:
    """A mail that needs two people, of whom alice is one."""
    return _voted(house, mail(house.scout))


def approved(house: House) -> Proposal:
    """A call that alice has approved, for scout to run."""
    return _voted(house, call(house.scout))


def held(house: House) -> Proposal:
    """A memory from the web that alice has agreed to release."""
    return _voted(house, doubtful(house.scout, f"{house.acme.name} opens to the north."))


def _voted(house: House, proposal: Proposal) -> Proposal:
    voted = vote(house.people["alice"], proposal).proposal
    voted.refresh_from_db()
    return voted
