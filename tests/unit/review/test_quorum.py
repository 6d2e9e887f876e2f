"""What votes add up to: distinct people, on the current binding, who still count; groups too."""

from dataclasses import replace
from itertools import permutations

import pytest

from review.domain import refusals
from review.domain.decision import Vote, refuse_unsatisfiable, tally, why_not
from review.domain.independence import Reason
from review.domain.policy import GroupNeed
from review.domain.status import Status
from tests.unit.review.people import (
    ALICE,
    BOB,
    CAROL,
    CHANGED,
    DANA,
    ERIN,
    NOON,
    RULE,
    SUBMITTED,
    approval,
    case,
    decide,
    electorate,
    member,
)

TWO = replace(RULE, approvals=2)
SECURITY = frozenset({"security"})
LEGAL = frozenset({"legal"})
BOTH = SECURITY | LEGAL


def test_two_people_are_two_people():
    first = decide(case(rule=TWO), ALICE)
    assert (first.status, first.tally.given, first.tally.required) == (Status.PENDING, 1, 2)
    assert decide(case(rule=TWO, votes=(approval(ALICE),)), CAROL).status is Status.EXECUTED


def test_one_person_counts_once():
    with pytest.raises(refusals.SamePerson):
        decide(case(rule=TWO, votes=(approval(ALICE),)), ALICE)


def test_a_vote_on_other_bytes_counts_for_nothing():
    ruling = decide(case(rule=TWO, votes=(approval(CAROL, CHANGED),)), ALICE)
    assert (ruling.status, ruling.tally.given) == (Status.PENDING, 1)


def test_after_a_revision_the_same_person_may_approve_again():
    assert decide(case(rule=TWO, votes=(approval(ALICE, CHANGED),)), ALICE).tally.given == 1


def test_other_verdicts_are_no_approvals():
    earlier = (Vote(CAROL, "a" * 64, "request_changes"),)
    assert decide(case(rule=TWO, votes=earlier), ALICE).status is Status.PENDING


@pytest.mark.parametrize(
    "now_of_carol",
    [
        pytest.param({"members": (member(ALICE), member(CAROL, is_active=False))}, id="has been disabled"),
        pytest.param({"members": (member(ALICE), member(CAROL, until=NOON))}, id="has left"),
        pytest.param({"members": (member(ALICE),)}, id="has lost the role"),
        pytest.param({"conflicts": {CAROL: Reason.OWNER_NOW}}, id="has become the owner"),
        pytest.param({"members": (member(ALICE), member(CAROL, since=SUBMITTED))}, id="has a newer role"),
    ],
)
def test_an_earlier_vote_is_checked_again_when_the_last_one_comes(now_of_carol):
    ruling = decide(case(rule=TWO, votes=(approval(CAROL),), **now_of_carol), ALICE)
    assert (ruling.status, ruling.tally.approvers) == (Status.PENDING, {ALICE})
    assert decide(case(rule=TWO, votes=(approval(CAROL),)), ALICE).status is Status.EXECUTED


def test_release_from_quarantine_takes_its_own_quorum():
    held = case(status=Status.QUARANTINED, expires_at=None, rule=TWO)
    assert decide(held, ALICE).status is Status.QUARANTINED
    assert decide(replace(held, votes=(approval(ALICE),)), CAROL).status is Status.EXECUTED


# Groups


def grouped(*groups, approvals=1, members, votes=()):
    rule = replace(
        RULE, approvals=approvals, groups=tuple(GroupNeed(name, needed) for name, needed in groups)
    )
    return case(rule=rule, members=members, votes=votes, conflicts={})


def test_a_group_is_met_by_one_of_its_members():
    members = (member(ALICE), member(CAROL, groups=SECURITY))
    assert decide(grouped(("security", 1), members=members), ALICE).status is Status.PENDING
    assert decide(grouped(("security", 1), members=members), CAROL).status is Status.EXECUTED


def test_two_groups_are_met_by_two_people():
    members = (member(ALICE, groups=BOTH), member(CAROL, groups=LEGAL))
    one = decide(grouped(("security", 1), ("legal", 1), members=members), ALICE)
    assert (one.status, one.tally.required) == (Status.PENDING, 2)
    two = grouped(("security", 1), ("legal", 1), members=members, votes=(approval(ALICE),))
    assert decide(two, CAROL).status is Status.EXECUTED


@pytest.mark.parametrize("order", list(permutations([ALICE, BOB, CAROL])))
def test_it_does_not_matter_who_votes_first(order):
    """alice could stand for either group, carol and bob for one: only one way of seating all is right."""
    members = (member(ALICE, groups=BOTH), member(BOB, groups=SECURITY), member(CAROL, groups=SECURITY))
    *earlier, last = order
    votes = tuple(approval(person) for person in earlier)
    subject = grouped(("security", 2), ("legal", 1), approvals=3, members=members, votes=votes)
    assert decide(subject, last).status is Status.EXECUTED


def test_people_enough_but_of_one_group_do_not_meet_the_other():
    members = (member(ALICE, groups=SECURITY), member(CAROL, groups=SECURITY))
    subject = grouped(("security", 1), ("legal", 1), members=members, votes=(approval(ALICE),))
    assert decide(subject, CAROL).status is Status.PENDING


@pytest.mark.parametrize(
    "members",
    [
        pytest.param((member(ALICE), member(CAROL)), id="unknown"),
        pytest.param((member(ALICE), member(CAROL, groups=SECURITY, is_active=False)), id="empty"),
    ],
)
def test_a_group_without_people_blocks_and_never_passes(members):
    subject = grouped(("security", 1), members=members)
    ruling = decide(subject, ALICE)
    assert ruling.status is Status.PENDING
    assert [group.blocks for group in ruling.tally.groups] == [True]


def test_the_only_member_of_a_group_owning_the_agent_blocks_it_too():
    rule = replace(RULE, groups=(GroupNeed("security", 1),))
    subject = case(rule=rule, members=(member(ALICE), member(BOB, groups=SECURITY)))
    assert [group.blocks for group in tally(subject, NOON).groups] == [True]


# At submission


def test_the_answer_says_how_many_could_decide():
    assert refuse_unsatisfiable(RULE, electorate(), NOON) == 2


def test_too_few_people_are_said_at_once():
    with pytest.raises(refusals.Unsatisfiable) as caught:
        refuse_unsatisfiable(replace(RULE, approvals=3), electorate(), NOON)
    assert caught.value.extra == {"eligible": 2, "required": 3}


def test_a_group_nobody_could_stand_for_is_said_at_once():
    rule = replace(RULE, groups=(GroupNeed("security", 1),))
    with pytest.raises(refusals.Unsatisfiable, match="security"):
        refuse_unsatisfiable(rule, electorate(), NOON)
    assert refuse_unsatisfiable(rule, electorate(members=(member(ALICE, groups=SECURITY),)), NOON) == 1


# Lists


@pytest.mark.parametrize(
    ("person", "sentence"),
    [
        (ALICE, None),
        (BOB, "You own scout. Someone else must approve."),
        (CAROL, "You approved this. 1 more person must."),
        (DANA, "Deciding this needs an active reviewer membership in its workspace, and you have none."),
    ],
)
def test_a_list_says_why_not(person, sentence):
    assert why_not(case(rule=TWO, votes=(approval(CAROL),)), person, NOON) == sentence


def test_a_list_says_which_group_is_missing():
    members = (member(ALICE), member(CAROL, groups=SECURITY))
    subject = grouped(("security", 1), members=members, votes=(approval(ALICE),))
    assert why_not(subject, ALICE, NOON) == "You approved this. It waits for the group security."


def test_who_cannot_fill_the_place_that_is_missing_is_told_to_wait():
    members = (member(ALICE), member(CAROL, groups=SECURITY), member(ERIN))
    none_yet = grouped(("security", 1), approvals=2, members=members)
    assert why_not(none_yet, ERIN, NOON) is None
    one = replace(none_yet, votes=(approval(ALICE),))
    assert why_not(one, ERIN, NOON) == "Waits for the group security. You are not in it."
    assert why_not(one, CAROL, NOON) is None


def test_an_extra_approval_never_stands_in_for_a_group():
    members = (member(ALICE), member(CAROL), member(ERIN), member(BOB, groups=SECURITY))
    votes = (approval(ALICE), approval(CAROL))
    subject = grouped(("security", 1), approvals=2, members=members, votes=votes)
    assert decide(subject, ERIN).status is Status.PENDING
    assert decide(subject, BOB).status is Status.EXECUTED


def test_a_group_that_is_met_is_not_waited_for():
    members = (member(ALICE, groups=LEGAL), member(CAROL, groups=SECURITY), member(ERIN))
    subject = grouped(("legal", 1), ("security", 1), approvals=2, members=members, votes=(approval(ALICE),))
    assert why_not(subject, ERIN, NOON) == "Waits for the group security. You are not in it."


def test_where_nothing_is_missing_nobody_is_told_to_wait():
    assert why_not(case(votes=(approval(CAROL),)), ALICE, NOON) is None
    assert why_not(case(votes=(approval(CAROL),)), CAROL, NOON) == "You approved this. It needs nobody else."
