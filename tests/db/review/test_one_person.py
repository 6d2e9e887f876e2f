"""Two accounts of one person are one person, also where it comes out late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from review.access import queries
from review.access.actors import PersonActor, SystemActor
from review.access.models import Membership, Ownership, Person, User
from review.access.refusals import AlreadyOne, LastManager, NotFound, NotManager, OwnAccount
from review.access.services.memberships import revoke_membership
from review.access.services.people import disable_person, link_people
from review.audit.models import Entry
from review.domain.refusals import NotEligible, SamePerson, SelfApproval
from review.queries import queue
from review.queries.cases import case_of
from review.queries.identity import identities
from review.services.withdraw import withdraw_own
from tests.support.factories import Team, agent, person, set_policy, team
from tests.support.policy_acts import proposed, revised, with_rule
from tests.support.review_acts import call, vote

pytestmark = pytest.mark.django_db
OPERATOR = SystemActor()
TWO = {"rules": [{"tool": "payments.*", "risk": "medium", "approvals": 2}]}
THREE = {"rules": [{"tool": "payments.*", "risk": "medium", "approvals": 3}]}


@pytest.fixture
def cast() -> Team:
    return team(TWO)


def again(who: PersonActor) -> PersonActor:
    """The same account, as the next request would read it."""
    user = User.objects.select_related("person").get(id=who.user.id)
    return PersonActor(user.person, user, session=who.session, methods=who.methods, auth_time=who.auth_time)


def mine(who: PersonActor) -> int:
    return queue.counts(queue.Viewer(who.person, timezone.now())).mine.n


def test_two_votes_of_two_accounts_that_turn_out_to_be_one_person_count_once(cast: Team) -> None:
    ned = person("ned", cast.acme, ["reviewer"])
    set_policy(cast.acme, THREE)
    proposal = call(cast.scout)
    for voter in (cast.alice, ned):
        vote(voter, proposal)
    assert vote_count(proposal) == 2
    link_people(cast.alice.person.id, ned.person.id, by=cast.dana)
    assert vote_count(proposal) == 1
    assert vote(cast.carol, proposal).proposal.status == "pending"


def vote_count(proposal: Any) -> int:
    from review.domain.decision import tally

    proposal.refresh_from_db()
    return tally(case_of(proposal, timezone.now()), timezone.now()).given


def test_who_voted_with_one_account_cannot_vote_again_with_the_other(cast: Team) -> None:
    ned = person("ned", cast.acme, ["reviewer"])
    proposal = call(cast.scout)
    vote(ned, proposal)
    link_people(cast.alice.person.id, ned.person.id, by=cast.dana)
    assert mine(cast.alice) == 0
    for account in (again(cast.alice), again(ned)):
        with pytest.raises(SamePerson):
            vote(account, proposal)
    vote(cast.carol, proposal)


def test_an_owner_is_recognised_in_his_other_account(cast: Team) -> None:
    ned = person("ned", cast.acme, ["reviewer"])
    ranger = agent("ranger", cast.acme, owner=ned)
    proposal = call(ranger)
    assert mine(cast.alice) == 1
    link_people(cast.alice.person.id, ned.person.id, by=OPERATOR)
    assert mine(cast.alice) == 0
    with pytest.raises(SelfApproval):
        vote(cast.alice, proposal)
    vote(cast.carol, proposal)
    owner = Ownership.objects.get(agent=ranger.agent, until__isnull=True)
    assert owner.person == cast.alice.person
    assert queries.has_active_owner(ranger.agent.id, timezone.now())


def test_a_person_made_anew_stays_who_he_was(cast: Team) -> None:
    """Bob, who owns scout, is disabled and comes back under another name."""
    bert = person("bert", cast.acme, ["reviewer"])
    disable_person(cast.bob.person.id, by=OPERATOR)
    link_people(bert.person.id, cast.bob.person.id, by=cast.dana)
    proposal = call(cast.scout)
    with pytest.raises(SelfApproval):
        vote(bert, proposal)
    vote(cast.alice, proposal)


def test_a_role_that_a_person_granted_to_his_own_other_account_counts_for_nothing(cast: Team) -> None:
    ned = person("ned", cast.acme, ["manager"])
    granted = Membership.objects.get(person=cast.alice.person)
    Membership.objects.filter(id=granted.id).update(granted_by=ned.person)
    proposal = call(cast.scout)
    assert mine(cast.alice) == 1
    link_people(cast.alice.person.id, ned.person.id, by=cast.dana)
    assert mine(cast.alice) == 0
    with pytest.raises(NotEligible):
        vote(cast.alice, proposal)


def test_what_a_person_proposed_under_another_account_is_his_to_rewrite_and_to_take_back(cast: Team) -> None:
    ned = person("ned", cast.acme, ["manager"])
    change = proposed(ned, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    with pytest.raises(NotEligible):
        withdraw_own(change.id, by=cast.dana)
    link_people(cast.dana.person.id, ned.person.id, by=cast.erin)
    change = revised(cast.dana, change, with_rule(cast.acme, "crm.*", risk="medium"))
    for account in (cast.dana, again(ned)):
        with pytest.raises(SelfApproval):
            vote(account, change)
    assert withdraw_own(change.id, by=again(ned)).status == "withdrawn"


def test_linking_gives_nobody_a_role(cast: Team) -> None:
    ned = person("ned", cast.acme, ["manager"])
    link_people(cast.alice.person.id, ned.person.id, by=cast.dana)
    assert not queries.is_manager(cast.alice.person.id, cast.acme.id, timezone.now())
    assert not queries.is_member(ned.person.id, cast.acme.id, timezone.now())
    assert again(ned).person == cast.alice.person
    last = [entry.action for entry in Entry.objects.order_by("-seq")[:2]]
    assert last == ["account.linked", "membership.revoked"]


def test_nobody_links_his_own_accounts(cast: Team) -> None:
    ned = person("ned", cast.acme, ["reviewer"])
    pairs = [(cast.dana, ned), (ned, cast.dana)]
    for one, other in pairs:
        with pytest.raises(OwnAccount):
            link_people(one.person.id, other.person.id, by=cast.dana)
    assert link_people(cast.dana.person.id, ned.person.id, by=cast.erin)


def test_only_who_manages_both_everywhere_links_them(cast: Team) -> None:
    for by, refusal in ((cast.alice, NotManager), (cast.dana, NotFound), (cast.mallory, NotFound)):
        with pytest.raises(refusal):
            link_people(cast.carol.person.id, cast.nina.person.id, by=by)
    assert link_people(cast.carol.person.id, cast.nina.person.id, by=OPERATOR)
    with pytest.raises(AlreadyOne):
        link_people(cast.alice.person.id, cast.nina.person.id, by=OPERATOR)
    with pytest.raises(AlreadyOne):
        link_people(cast.alice.person.id, cast.alice.person.id, by=OPERATOR)


def test_three_accounts_become_one_in_any_order(cast: Team) -> None:
    ned, ted = person("ned"), person("ted")
    link_people(ned.person.id, ted.person.id, by=OPERATOR)
    link_people(cast.alice.person.id, ned.person.id, by=OPERATOR)
    who = identities().one
    assert {who(one.person.id) for one in (ned, ted, cast.alice)} == {cast.alice.person.id}
    assert Person.objects.filter(same_as=cast.alice.person).count() == 2


EndsAManager = Callable[[PersonActor, PersonActor], object]


def revoked(dana: PersonActor, by: PersonActor) -> object:
    return revoke_membership(Membership.objects.get(person=dana.person, role="manager").id, by=by)


def disabled(dana: PersonActor, by: PersonActor) -> object:
    return disable_person(dana.person.id, by=by)


@pytest.mark.parametrize("act", [revoked, disabled])
def test_the_last_manager_cannot_lock_everybody_out(cast: Team, act: EndsAManager) -> None:
    act(cast.erin, cast.erin)
    with pytest.raises(LastManager):
        act(cast.dana, cast.dana)
    assert queries.is_manager(cast.dana.person.id, cast.acme.id, timezone.now())
    act(cast.dana, OPERATOR)  # type: ignore[arg-type]
    assert not queries.is_manager(cast.dana.person.id, cast.acme.id, timezone.now())


def test_who_made_the_link_to_a_password_vouches_for_whoever_used_it(cast: Team) -> None:
    """Dana owns ranger and could have opened the link that she made for alice."""
    ranger = agent("ranger", cast.acme, owner=cast.dana)
    User.objects.filter(id=cast.alice.user.id).update(vouched_by=cast.dana.person)
    hers, others = call(ranger), call(cast.scout)
    assert mine(cast.alice) == 1
    with pytest.raises(NotEligible, match="link"):
        vote(cast.alice, hers)
    vote(cast.alice, others)
    vote(cast.carol, hers)
