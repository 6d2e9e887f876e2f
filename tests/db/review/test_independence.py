"""Who may approve what: a table of people, each row through the real services, with its positive control beside it.

A row says what happened, who then approves, and what he is told; None is an approval that is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from review.access.actors import AgentActor, PersonActor
from review.access.models import Membership, Ownership, Person, User
from review.access.services.agents import transfer_agent
from review.access.services.delegations import grant_delegation
from review.access.services.memberships import grant_membership, revoke_membership
from review.access.services.people import disable_person
from review.audit.models import Entry
from review.domain.refusals import DecisionDeclined
from review.models import Decision, Proposal
from review.queries.cases import case_of
from review.queries.queue import View, Viewer, in_view
from review.services.decide import decide
from review.services.revise import revise
from review.services.withdraw import withdraw
from tests.support import factories
from tests.support.memory_acts import doubtful
from tests.support.policy_acts import proposed, with_rule
from tests.support.review_acts import at, ballot, call, vote

pytestmark = pytest.mark.django_db


@dataclass
class Scene:
    """The cast, and the proposal that the story is about once it has been made."""

    cast: factories.Team
    proposal: Proposal = field(init=False)

    def person(self, name: str) -> PersonActor:
        found: PersonActor = getattr(self.cast, name, None) or self.others[name]
        return found

    others: dict[str, PersonActor] = field(default_factory=dict)
    token: Any = None

    @property
    def scout(self) -> AgentActor:
        return AgentActor(self.cast.scout.agent, self.token or self.cast.scout.token)


Step = Callable[[Scene], None]
ORDER = {"order": "20817"}


# What happens.


def scout_asks(tool: str = "payments.refund", **more: Any) -> Step:
    def step(scene: Scene) -> None:
        scene.proposal = call(scene.scout, tool, ORDER, **more)

    return step


def prowler_asks(scene: Scene) -> None:
    scene.proposal = call(scene.cast.prowler, arguments=ORDER)


def scout_remembers(scene: Scene) -> None:
    scene.proposal = doubtful(scene.scout, "The staging port is 7443.")


def scout_revises(scene: Scene) -> None:
    scene.proposal = revise(
        scene.proposal.id,
        by=scene.scout,
        replaces=scene.proposal.revision,
        arguments={"order": str(scene.proposal.revision)},
    )


def manager_proposes_policy(name: str) -> Step:
    def step(scene: Scene) -> None:
        policy = with_rule(scene.cast.acme, "payments.*", risk="high", approvals=1)
        scene.proposal = proposed(scene.person(name), scene.cast.acme, policy)

    return step


def rule_is_changed(tool: str, by: str, approved_by: str) -> Step:
    def step(scene: Scene) -> None:
        terms = {"risk": "high", "approvals": 2} if tool == "memory.release" else {"risk": "medium"}
        policy = with_rule(scene.cast.acme, tool, ttl_seconds=7200, **terms)
        vote(scene.person(approved_by), proposed(scene.person(by), scene.cast.acme, policy))

    return step


def also_reviews(name: str) -> Step:
    """A manager who has long been a reviewer too."""

    def step(scene: Scene) -> None:
        long_ago = timezone.now() - factories.LONG_AGO
        Membership.objects.create(
            person=scene.person(name).person, workspace=scene.cast.acme, role="reviewer", since=long_ago
        )

    return step


def is_given(name: str, *roles: str) -> Step:
    def step(scene: Scene) -> None:
        scene.others[name] = factories.person(name, scene.cast.acme, roles)

    return step


def becomes_owner(name: str) -> Step:
    def step(scene: Scene) -> None:
        Ownership.objects.create(
            agent=scene.cast.scout.agent, person=scene.person(name).person, since=timezone.now()
        )

    return step


def stops_owning(name: str) -> Step:
    def step(scene: Scene) -> None:
        Ownership.objects.filter(person=scene.person(name).person).update(until=timezone.now())

    return step


def is_handed_to(name: str) -> Step:
    def step(scene: Scene) -> None:
        transfer_agent(scene.cast.scout.agent.id, to=scene.person(name).person.id, by=scene.cast.dana)

    return step


def mints(name: str) -> Step:
    def step(scene: Scene) -> None:
        scene.token = factories.token(scene.cast.scout.agent, scene.person(name), ["propose", "redeem"])

    return step


def lets_scout_act(name: str) -> Step:
    def step(scene: Scene) -> None:
        grant_delegation(scene.cast.scout.agent.id, by=scene.person(name))

    return step


def edits(name: str) -> Step:
    def step(scene: Scene) -> None:
        scene.proposal = revise(
            scene.proposal.id,
            by=scene.person(name),
            replaces=scene.proposal.revision,
            arguments={"order": name},
            rationale="Mistyped.",
        )

    return step


def approves(name: str) -> Step:
    return lambda scene: _vote(scene, name, "approve")


def sends_back(name: str) -> Step:
    return lambda scene: _vote(scene, name, "request_changes")


def _vote(scene: Scene, name: str, verdict: str) -> None:
    scene.proposal = vote(scene.person(name), scene.proposal, verdict).proposal


def role_was_granted(name: str, by: str) -> Step:
    def step(scene: Scene) -> None:
        Membership.objects.filter(person=scene.person(name).person).update(granted_by=scene.person(by).person)

    return step


def is_granted_now(name: str, role: str, by: str) -> Step:
    def step(scene: Scene) -> None:
        grant_membership(scene.person(name).person.id, scene.cast.acme.id, role, by=scene.person(by))

    return step


def loses_role(name: str) -> Step:
    def step(scene: Scene) -> None:
        held = Membership.objects.get(person=scene.person(name).person, until=None)
        revoke_membership(held.id, by=scene.cast.dana)

    return step


def is_disabled(name: str) -> Step:
    return lambda scene: disable_person(scene.person(name).person.id, by=scene.cast.dana) and None


def account_is_switched_off(name: str) -> Step:
    def step(scene: Scene) -> None:
        User.objects.filter(person=scene.person(name).person).update(is_active=False)

    return step


def uses_another_account(name: str, username: str) -> Step:
    """From now on this name acts through a second account of the same person."""

    def step(scene: Scene) -> None:
        someone = scene.person(name)
        user = User.objects.create(
            person=someone.person, username=username, password="!", date_joined=timezone.now()
        )
        scene.others[username] = PersonActor(someone.person, user, "another session", ("password",))

    return step


def turns_out_to_be(double: str, name: str) -> Step:
    def step(scene: Scene) -> None:
        same = scene.person(name).person
        Person.objects.filter(pk=scene.person(double).person.pk).update(same_as=same)

    return step


def is_renamed(name: str, to: str) -> Step:
    def step(scene: Scene) -> None:
        User.objects.filter(person=scene.person(name).person).update(username=to)
        Person.objects.filter(pk=scene.person(name).person.pk).update(name=to)

    return step


def is_made_superuser(name: str) -> Step:
    def step(scene: Scene) -> None:
        scene.person(name).user.is_superuser = scene.person(name).user.is_staff = True
        scene.person(name).user.save()

    return step


def both(*steps: Step) -> tuple[Step, ...]:
    return steps


ASKS = scout_asks()
OWN, NEW, NONE, SAME = "self_approval", "role_too_new", "not_eligible", "same_person"
Row = tuple[str, tuple[Step, ...], str, str | None]

TABLE: list[Row] = [
    # The owner.
    ("somebody independent approves", both(ASKS), "alice", None),
    ("the owner approves her own agent's proposal", both(ASKS), "bob", OWN),
    ("a superuser who owns the agent approves it", both(is_made_superuser("bob"), ASKS), "bob", OWN),
    ("a superuser with no role approves",
     both(is_given("sam"), is_made_superuser("sam"), ASKS), "sam", "not_found"),
    ("a superuser who reviews and has no hand in it approves", both(is_made_superuser("carol"), ASKS), "carol", None),
    ("the second owner approves", both(becomes_owner("carol"), ASKS), "carol", OWN),
    ("beside a second owner the others approve", both(becomes_owner("carol"), ASKS), "alice", None),
    ("a former owner of long ago approves", both(is_handed_to("dana"), mints("dana"), ASKS), "bob", None),
    ("who owned it when it asked approves after handing it over", both(ASKS, is_handed_to("dana")), "bob", OWN),
    ("who was handed the agent since approves", both(ASKS, is_handed_to("carol")), "carol", OWN),
    ("who owned it between two revisions approves",
     both(ASKS, becomes_owner("carol"), scout_revises, stops_owning("carol"), scout_revises), "carol", OWN),
    ("who owned it and stopped before the first revision approves",
     both(becomes_owner("carol"), stops_owning("carol"), ASKS), "carol", None),
    ("the owner of another agent approves", both(becomes_owner("carol"), stops_owning("carol"), ASKS), "alice", None),
    ("the owner of an agent elsewhere approves here", both(ASKS), "mallory", "not_found"),
    ("a reviewer of elsewhere approves here", both(ASKS), "nina", "not_found"),
    ("a reviewer approves where he has his role", both(prowler_asks), "nina", None),
    ("a reviewer of here approves elsewhere", both(prowler_asks), "alice", "not_found"),
    # Who minted the token.
    ("who minted the token that was used approves", both(mints("carol"), ASKS), "carol", OWN),
    ("who minted a token that was not used approves", both(ASKS, mints("carol")), "carol", None),
    ("who minted the token of an earlier revision approves",
     both(mints("carol"), ASKS, mints("dana"), scout_revises), "carol", OWN),
    ("who minted the token of a later revision approves", both(ASKS, mints("carol"), scout_revises), "carol", OWN),
    # Whom it acts for.
    ("whom the agent acts for approves", both(lets_scout_act("carol"), scout_asks(on_behalf_of="carol")), "carol", OWN),
    ("who lets the agent act for him, while it does not, approves", both(lets_scout_act("carol"), ASKS), "carol", None),
    ("whom it acts for in other letters approves",
     both(lets_scout_act("carol"), scout_asks(on_behalf_of="CAROL")), "carol", OWN),
    # Authors.
    ("who edited the arguments approves", both(ASKS, edits("carol")), "carol", OWN),
    ("beside who edited the others approve", both(ASKS, edits("carol")), "alice", None),
    ("who edited an earlier revision approves the next of the agent",
     both(ASKS, edits("carol"), scout_revises), "carol", OWN),
    ("who edited and was edited after that approves",
     both(is_given("eve", "reviewer"), ASKS, edits("carol"), edits("alice")), "carol", OWN),
    ("after two edits a third reviewer approves",
     both(is_given("eve", "reviewer"), ASKS, edits("carol"), edits("alice")), "eve", None),
    ("who only requested changes approves the next revision",
     both(ASKS, sends_back("carol"), scout_revises), "carol", None),
    ("who approved an earlier revision approves the next one too",
     both(scout_asks("mail.send"), approves("carol"), scout_revises), "carol", None),
    # The rule.
    ("who changed the rule meanwhile approves",
     both(also_reviews("dana"), ASKS, rule_is_changed("payments.*", "dana", "erin")), "dana", OWN),
    ("who approved the change of the rule approves",
     both(also_reviews("erin"), ASKS, rule_is_changed("payments.*", "dana", "erin")), "erin", OWN),
    ("who changed another rule approves",
     both(also_reviews("dana"), ASKS, rule_is_changed("other.*", "dana", "erin")), "dana", None),
    ("who changed the rule before it was submitted approves",
     both(also_reviews("dana"), rule_is_changed("payments.*", "dana", "erin"), ASKS), "dana", None),
    # Roles.
    ("a manager without the reviewer's role approves", both(ASKS), "dana", NONE),
    ("a manager who reviews too approves", both(also_reviews("dana"), ASKS), "dana", None),
    ("a reviewer whom the owner appointed approves", both(role_was_granted("carol", "bob"), ASKS), "carol", NONE),
    ("a reviewer whom a manager appointed approves", both(role_was_granted("carol", "dana"), ASKS), "carol", None),
    ("a reviewer whom the minter appointed approves",
     both(role_was_granted("carol", "dana"), mints("dana"), ASKS), "carol", NONE),
    ("a reviewer whom an editor appointed approves",
     both(role_was_granted("carol", "alice"), is_given("eve", "reviewer"), ASKS, edits("alice")), "carol", NONE),
    ("a reviewer appointed since approves",
     both(is_given("eve"), ASKS, is_granted_now("eve", "reviewer", "dana")), "eve", NEW),
    ("a reviewer appointed since approves the next revision",
     both(is_given("eve"), ASKS, is_granted_now("eve", "reviewer", "dana"), scout_revises), "eve", None),
    ("who lost the role approves", both(ASKS, loses_role("carol")), "carol", "not_found"),
    ("who lost one role of two approves", both(also_reviews("dana"), ASKS), "dana", None),
    ("who was disabled approves", both(ASKS, is_disabled("carol")), "carol", "not_found"),
    ("who lost the role and got it again approves what came between",
     both(ASKS, loses_role("carol"), is_granted_now("carol", "reviewer", "dana")), "carol", NEW),
    ("who has no role anywhere approves", both(is_given("sam"), ASKS), "sam", "not_found"),
    # One person, however many accounts.
    ("the owner approves from his second account", both(ASKS, uses_another_account("bob", "bob2")), "bob2", OWN),
    ("a reviewer approves from his second account",
     both(ASKS, uses_another_account("carol", "carol2")), "carol2", None),
    ("who approved approves again from his second account",
     both(scout_asks("mail.send"), approves("carol"), uses_another_account("carol", "carol2")), "carol2", SAME),
    ("the owner approves under another name", both(ASKS, is_renamed("bob", "robert")), "bob", OWN),
    ("the owner approves, renamed before the agent asked", both(is_renamed("bob", "robert"), ASKS), "bob", OWN),
    ("somebody who took the owner's old name approves",
     both(is_renamed("bob", "robert"), is_given("bob ", "reviewer"), ASKS), "bob ", None),
    ("who turns out to be the owner approves",
     both(is_given("eve", "reviewer"), ASKS, turns_out_to_be("eve", "bob")), "eve", OWN),
    ("the owner approves after he turned out to be somebody else",
     both(is_given("eve", "reviewer"), ASKS, turns_out_to_be("bob", "eve")), "bob", OWN),
    ("who turns out to be somebody independent approves",
     both(is_given("eve", "reviewer"), ASKS, turns_out_to_be("eve", "carol")), "eve", None),
    ("who turns out to be one who approved approves",
     both(is_given("eve", "reviewer"), scout_asks("mail.send"), approves("carol"), turns_out_to_be("eve", "carol")),
     "eve", SAME),
    ("a reviewer whom the owner's double appointed approves",
     both(is_given("eve", "manager"), role_was_granted("carol", "eve"), turns_out_to_be("eve", "bob"), ASKS),
     "carol", NONE),
    # The policy, and what is held.
    ("who proposed a policy approves it", both(manager_proposes_policy("dana")), "dana", OWN),
    ("another manager approves a policy", both(manager_proposes_policy("dana")), "erin", None),
    ("a reviewer approves a policy", both(manager_proposes_policy("dana")), "alice", NONE),
    ("a manager whom its author appointed approves a policy",
     both(role_was_granted("erin", "dana"), is_given("eve", "manager"), manager_proposes_policy("dana")), "erin", NONE),
    ("the owner releases what his agent had held", both(scout_remembers), "bob", OWN),
    ("somebody independent votes to release it", both(scout_remembers), "carol", None),
    ("who changed the rule of releases since votes to release it",
     both(also_reviews("dana"), scout_remembers, rule_is_changed("memory.release", "dana", "erin")), "dana", OWN),
    ("who changed another rule since votes to release it",
     both(also_reviews("dana"), scout_remembers, rule_is_changed("other.*", "dana", "erin")), "dana", None),
]  # fmt: skip


@pytest.fixture
def scene() -> Scene:
    return Scene(factories.team())


@pytest.mark.parametrize(("steps", "who", "code"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_who_may_approve(scene: Scene, steps: tuple[Step, ...], who: str, code: str | None) -> None:
    for step in steps:
        step(scene)
    scene.proposal.refresh_from_db()
    person, listed = scene.person(who), _is_listed(scene, who)
    votes = Decision.objects.count()
    told = _told(person, scene.proposal)
    assert told == code
    assert Decision.objects.count() == votes + (code is None)
    assert listed is (code is None), "the queue offers exactly what can be decided"
    if code not in (None, "not_found"):
        assert f'"code":"{code}"' in Entry.objects.filter(action="decision.refused").latest("seq").canonical


def test_the_table_is_large_enough_and_has_both_answers() -> None:
    assert len(TABLE) >= 40 and len({row[0] for row in TABLE}) == len(TABLE)
    assert sum(row[3] is None for row in TABLE) >= 15


def _told(person: PersonActor, proposal: Proposal) -> str | None:
    try:
        decide(proposal.id, by=person, ballot=ballot(person, proposal))
    except DecisionDeclined as declined:
        return declined.code
    return None


def _is_listed(scene: Scene, who: str) -> bool:
    now = timezone.now()
    if scene.proposal.status == "quarantined":
        return case_of(scene.proposal, now).electorate.objection(scene.person(who).person.id, now) is None
    mine = in_view(Viewer(scene.person(who).person, now), View.MINE)
    return mine.filter(pk=scene.proposal.pk).exists()


MEANWHILE: list[tuple[str, Step, str]] = [
    ("his role is taken", loses_role("carol"), "not_found"),
    ("he is disabled", is_disabled("carol"), "not_found"),
    ("he becomes an owner", becomes_owner("carol"), OWN),
    ("the agent is handed to him", is_handed_to("carol"), OWN),
    ("somebody else edits it", edits("alice"), "stale_binding"),
    ("the agent revises it", scout_revises, "stale_binding"),
    ("the rule changes", rule_is_changed("payments.*", "dana", "erin"), "stale_binding"),
    (
        "it is withdrawn",
        lambda scene: withdraw(scene.proposal.id, by=scene.scout) and None,
        "already_decided",
    ),
]


@pytest.mark.parametrize(("step", "code"), [row[1:] for row in MEANWHILE], ids=[row[0] for row in MEANWHILE])
def test_between_the_page_and_the_click(scene: Scene, step: Step, code: str) -> None:
    ASKS(scene)
    carol = scene.cast.carol
    read = ballot(carol, scene.proposal)
    step(scene)
    with pytest.raises(DecisionDeclined) as declined:
        decide(scene.proposal.id, by=carol, ballot=read)
    assert declined.value.code == code
    assert not Decision.objects.filter(person=carol.person).exists()


LOST: list[tuple[str, Step]] = [
    ("his role was taken", loses_role("carol")),
    ("he was disabled", is_disabled("carol")),
    ("his only account was switched off", account_is_switched_off("carol")),
    ("he became an owner", becomes_owner("carol")),
    ("he turned out to be the owner", turns_out_to_be("carol", "bob")),
]


@pytest.mark.parametrize("step", [row[1] for row in LOST], ids=[row[0] for row in LOST])
def test_a_vote_that_was_good_counts_no_more_when_the_last_one_comes(scene: Scene, step: Step) -> None:
    scene.others["eve"] = factories.person("eve", scene.cast.acme, ["reviewer"])
    scout_asks("mail.send")(scene)
    approves("carol")(scene)
    step(scene)
    approves("alice")(scene)
    assert scene.proposal.status == "pending" and scene.proposal.approvals_given == 1
    approves("eve")(scene)
    assert scene.proposal.status == "approved"


def test_a_role_that_begins_in_the_same_moment_is_too_new(scene: Scene) -> None:
    eve = factories.person("eve")
    now = timezone.now()
    with at(now):
        grant_membership(eve.person.id, scene.cast.acme.id, "reviewer", by=scene.cast.dana)
        ASKS(scene)
        assert _told(eve, scene.proposal) == NEW
    with at(now + timedelta(seconds=1)):
        scout_revises(scene)
        assert _told(eve, scene.proposal) is None
