"""Who may not decide, and that nobody slips out of the set."""

from datetime import timedelta

import pytest

from review.domain.binding import Kind
from review.domain.independence import Electorate, Reason, Role, conflict_set, union
from review.domain.refusals import NotEligible, SelfApproval
from tests.unit.review.people import (
    ALICE,
    BOB,
    CAROL,
    DANA,
    ERIN,
    MALLORY,
    NOON,
    SUBMITTED,
    electorate,
    member,
)


def test_everyone_who_had_a_hand_in_it_is_in_the_set():
    found = conflict_set(
        owners_then=[ALICE],
        owners_now=[BOB],
        minters=[CAROL],
        principals=[DANA],
        authors=[ERIN],
        rule_changers=[MALLORY],
    )
    assert found == {
        ALICE: Reason.OWNER_THEN,
        BOB: Reason.OWNER_NOW,
        CAROL: Reason.MINTER,
        DANA: Reason.PRINCIPAL,
        ERIN: Reason.AUTHOR,
        MALLORY: Reason.RULE_CHANGER,
    }


def test_of_several_reasons_the_plainest_is_told():
    assert conflict_set(minters=[BOB], owners_then=[BOB], owners_now=[BOB]) == {BOB: Reason.OWNER_NOW}


def test_who_was_stored_with_a_revision_stays_bound_when_the_tables_have_moved_on():
    stored, now = {BOB: Reason.OWNER_NOW}, {ALICE: Reason.OWNER_NOW, BOB: Reason.MINTER}
    assert union(stored, now) == {BOB: Reason.OWNER_NOW, ALICE: Reason.OWNER_NOW}
    assert union(now, stored) == union(stored, now)
    assert union() == {}


@pytest.mark.parametrize(
    ("reason", "agent", "sentence"),
    [
        (Reason.OWNER_NOW, "scout", "You own scout."),
        (Reason.OWNER_THEN, "scout", "You owned scout when this was submitted."),
        (Reason.PRINCIPAL, "scout", "scout acts for you."),
        (Reason.PRINCIPAL, None, "You proposed this."),
        (Reason.AUTHOR, "scout", "You wrote a revision of this."),
        (Reason.MINTER, "scout", "You minted the token that scout used."),
        (Reason.RULE_CHANGER, "scout", "You changed the rule that applies to this."),
    ],
)
def test_each_reason_has_its_sentence(reason, agent, sentence):
    assert electorate(agent=agent, conflicts={ALICE: reason}).reason(ALICE) == sentence


def test_who_could_decide_is_who_would_not_be_refused():
    members = (
        member(ALICE),
        member(BOB),
        member(CAROL, since=SUBMITTED),
        member(DANA, Role.MANAGER),
        member(ERIN, granted_by=BOB),
        member(MALLORY, is_active=False),
    )
    assert electorate(members=members).eligible(NOON) == {ALICE}


def test_an_owner_hears_that_he_is_one_before_anything_about_his_password():
    """Choosing another password helps alice, and never bob, who owns scout."""
    vouched = frozenset({BOB})
    members = (member(ALICE, vouched_by=vouched), member(BOB, vouched_by=vouched), member(CAROL))
    voters = electorate(members=members)
    assert isinstance(voters.objection(BOB, NOON), SelfApproval)
    assert isinstance(voters.objection(ALICE, NOON), NotEligible)
    assert voters.eligible(NOON) == {CAROL}


def test_managers_decide_a_policy_and_reviewers_do_not():
    assert electorate(kind=Kind.POLICY_CHANGE).eligible(NOON) == {DANA, ERIN}
    assert electorate(kind=Kind.POLICY_CHANGE.value).role is Role.MANAGER, (
        "a kind read from a row is a plain string"
    )


def test_a_membership_holds_from_its_first_moment_until_its_last():
    held = member(ALICE, since=SUBMITTED, until=NOON)
    moment = timedelta(microseconds=1)
    assert [held.holds(at) for at in (SUBMITTED - moment, SUBMITTED, NOON - moment, NOON)] == [
        False,
        True,
        True,
        False,
    ]


def test_an_ended_membership_does_not_age_a_new_one():
    """Who left and came back has the role only since then."""
    left = member(ALICE, until=SUBMITTED - timedelta(days=1))
    back = member(ALICE, since=SUBMITTED + timedelta(minutes=1))
    assert electorate(members=(left, back)).eligible(NOON) == set()
    assert electorate(members=(left, back), submitted_at=NOON).eligible(NOON) == {ALICE}


def test_groups_are_those_of_the_deciding_role():
    members = (
        member(ALICE, groups=frozenset({"security"})),
        member(ALICE, Role.MANAGER, groups=frozenset({"board"})),
    )
    assert electorate(members=members).groups(ALICE, NOON) == {"security"}
    assert electorate(members=members, kind=Kind.POLICY_CHANGE).groups(ALICE, NOON) == {"board"}


def test_an_empty_workspace_has_nobody():
    assert Electorate(Kind.TOOL_CALL, "scout", SUBMITTED, {}, ()).eligible(NOON) == set()
