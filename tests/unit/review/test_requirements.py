"""The rows of the rule, as each of three people sees them."""

from dataclasses import replace

import pytest

from review.domain.binding import Kind
from review.domain.independence import Reason
from review.domain.policy import GroupNeed, Risk
from review.domain.requirements import requirements
from review.domain.status import Status
from tests.unit.review.people import (
    ALICE,
    BOB,
    CAROL,
    DANA,
    LONG_AGO,
    NAMES,
    NOON,
    RULE,
    SUBMITTED,
    approval,
    case,
    member,
)

PLATFORM = frozenset({"platform"})
TWO_AND_ONE = replace(RULE, approvals=2, groups=(GroupNeed("platform", 1),))


def rows(subject, person):
    return [(row.sentence, row.words) for row in requirements(subject, person, NOON, NAMES)]


def test_an_independent_reviewer_sees_what_is_met_and_what_is_missing():
    assert rows(case(rule=replace(RULE, approvals=2)), ALICE) == [
        ("You are independent of scout, of its owners and of every author", "Met"),
        ("Your reviewer role is older than revision 1", "Met"),
        ("2 different people approve these exact arguments", "Not met, 0 of 2"),
        ("Fresh sign-in and typed confirmation", "Not needed"),
    ]


def test_the_owner_sees_that_she_cannot_meet_it_and_nobody_waives_it():
    first = requirements(case(), BOB, NOON, NAMES)[0]
    assert (first.sentence, first.words) == ("You are independent of scout", "Not met by you")
    assert first.note == "You own scout. Nobody can waive this."


def test_a_manager_sees_that_it_takes_a_reviewer():
    role = requirements(case(), DANA, NOON, NAMES)[1]
    assert (role.sentence, role.words) == ("You are an active reviewer of this workspace", "Not met by you")


def test_the_role_row_says_since_when():
    assert requirements(case(), ALICE, NOON, NAMES)[1].since == LONG_AGO


def test_a_role_that_is_too_new_is_said_to_be():
    role = requirements(case(members=(member(ALICE, since=SUBMITTED),)), ALICE, NOON, NAMES)[1]
    assert (role.words, role.since) == ("Not met by you", SUBMITTED)
    assert role.note.startswith("Your role began after these arguments were submitted.")


def test_a_role_from_the_agents_owner_is_said_not_to_count():
    role = requirements(case(members=(member(ALICE, granted_by=BOB),)), ALICE, NOON, NAMES)[1]
    assert (role.sentence, role.words) == (
        "Your reviewer role was granted by somebody independent",
        "Not met by you",
    )


def test_what_is_given_is_counted_and_what_is_full_is_met():
    subject = case(rule=replace(RULE, approvals=2), votes=(approval(CAROL),))
    assert rows(subject, ALICE)[2] == ("2 different people approve these exact arguments", "Not met, 1 of 2")
    assert rows(case(votes=(approval(CAROL),)), ALICE)[2] == (
        "1 person approves these exact arguments",
        "Met",
    )


def test_a_release_is_said_to_be_one():
    held = case(status=Status.QUARANTINED, expires_at=None, rule=replace(RULE, approvals=2))
    assert rows(held, ALICE)[2][0] == "2 different people approve the release"


def test_a_group_row_names_who_belongs_to_it():
    members = (member(ALICE, groups=PLATFORM), member(CAROL, groups=PLATFORM), member(BOB, groups=PLATFORM))
    subject = case(rule=TWO_AND_ONE, members=members)
    group = requirements(subject, ALICE, NOON, NAMES)[3]
    assert (group.sentence, group.words) == ("1 of them belongs to the group platform", "Not met, 0 of 1")
    assert group.note == "You and carol do."
    assert requirements(subject, BOB, NOON, NAMES)[3].note == "alice and carol do."
    alone = case(rule=TWO_AND_ONE, members=(member(CAROL, groups=PLATFORM), member(ALICE)))
    assert requirements(alone, ALICE, NOON, NAMES)[3].note == "carol does."
    assert requirements(alone, CAROL, NOON, NAMES)[3].note == "You do."


def test_a_link_made_by_somebody_who_is_not_independent_is_a_requirement_not_met():
    subject = case(members=(member(ALICE, vouched_by=frozenset({BOB})), member(CAROL)))
    row = requirements(subject, ALICE, NOON, NAMES)[1]
    assert (row.sentence, row.words) == (
        "Somebody independent made the link to your password",
        "Not met by you",
    )
    assert rows(subject, CAROL)[1][1] == "Met"


def test_a_group_without_people_is_an_error_that_blocks():
    one = case(rule=replace(RULE, groups=(GroupNeed("records", 1),)))
    group = requirements(one, ALICE, NOON, NAMES)[3]
    assert (group.sentence, group.words) == ("That person belongs to the group records", "Error, blocks")
    assert "A manager must add someone" in group.note


def test_a_group_that_is_met_is_met():
    members = (member(ALICE), member(CAROL, groups=PLATFORM))
    subject = case(rule=TWO_AND_ONE, members=members, votes=(approval(CAROL),))
    assert rows(subject, ALICE)[3] == ("1 of them belongs to the group platform", "Met")


def test_the_form_says_before_what_it_will_ask():
    asks = replace(RULE, risk=Risk.HIGH, step_up=True, confirm="/to")
    assert rows(case(rule=asks), ALICE)[3:] == [
        ("A reason is given", "Not met"),
        ("A sign-in at most 5 minutes old", "Not met"),
        ("The value of /to is typed", "Not met"),
    ]
    assert len(rows(case(rule=replace(RULE, step_up=True)), ALICE)) == 4
    assert len(rows(case(rule=replace(RULE, confirm="/to")), ALICE)) == 4


@pytest.mark.parametrize("person", [DANA, ALICE])
def test_a_proposal_of_a_person_speaks_of_the_proposer(person):
    policy = case(kind=Kind.POLICY_CHANGE, agent=None, conflicts={DANA: Reason.PRINCIPAL})
    assert rows(policy, person)[0][0].startswith("You are independent of the proposer")


def test_who_else_may_not_approve_is_named_with_his_part_in_it():
    several = {BOB: Reason.OWNER_NOW, CAROL: Reason.AUTHOR, DANA: Reason.MINTER}
    met = requirements(case(conflicts=several), ALICE, NOON, NAMES)[0]
    told = "Not independent: bob (owner), carol (author of a revision), dana (minted the token)."
    assert (met.words, met.note) == ("Met", told)
    own = requirements(case(conflicts=several), BOB, NOON, NAMES)[0]
    assert own.note.startswith("You own scout. Nobody can waive this. Not independent: carol")
    assert "bob" not in own.note


def test_how_many_could_approve_is_said_and_that_nobody_could():
    quorum = requirements(case(), ALICE, NOON, NAMES)[2]
    assert (quorum.words, quorum.note) == ("Not met, 0 of 1", "2 people could approve it.")
    everybody = {ALICE: Reason.AUTHOR, BOB: Reason.OWNER_NOW, CAROL: Reason.AUTHOR}
    blocked = requirements(case(conflicts=everybody), ALICE, NOON, NAMES)[2]
    assert blocked.words == "Error, blocks"
    told = "Nobody could approve it. A manager must add reviewers before this can be approved."
    assert blocked.note == told
