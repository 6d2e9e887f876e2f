"""A policy is held against the people who are there: groups that nobody is in, and more people than there are."""

from typing import Any

import pytest

from review.domain.independence import Role
from review.domain.policy import resolve
from review.domain.satisfiable import House, errors, unmet_floor
from tests.unit.review.people import ACME, ALICE, BOB, CAROL, DANA, ERIN, NOON, member

SECURITY = frozenset({"security"})
GROUPED = (
    member(ALICE, groups=frozenset({"security", "legal"})),
    member(BOB),
    member(CAROL, groups=SECURITY),
    member(DANA, Role.MANAGER, groups=frozenset({"board"})),
    member(ERIN, Role.MANAGER),
)


def told(*rules: dict[str, Any], members: Any = GROUPED, **defaults: Any) -> list[tuple[str, str]]:
    found = errors({"defaults": defaults, "rules": list(rules)}, House(members, NOON), "/policy")
    return [(error.pointer, error.code) for error in found]


def group(name: str, approvals: int) -> dict[str, Any]:
    return {"name": name, "approvals": approvals}


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ({"approvals": 3}, []),
        ({"approvals": 4}, [("/approvals", "unsatisfiable")]),
        ({"groups": [group("security", 2)]}, []),
        ({"groups": [group("security", 3)]}, [("/groups/0/approvals", "unsatisfiable")]),
        ({"groups": [group("securty", 1)]}, [("/groups/0/name", "unknown_group")]),
        ({"groups": [group("Security", 1)]}, [("/groups/0/name", "unknown_group")]),
        ({"groups": [group("board", 1)]}, [("/groups/0/approvals", "unsatisfiable")]),
        ({"groups": [group("security", 1), group("legal", 1)]}, []),
        ({"approvals": 9, "route": "block"}, []),
        ({"approvals": 4, "route": "allow", "risk": "low"}, [("/approvals", "unsatisfiable")]),
    ],
)
def test_a_rule_asks_for_people_and_groups_that_are_there(
    rule: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    assert told({"tool": "a"} | rule) == [(f"/policy/rules/0{place}", code) for place, code in found]


def test_a_person_counts_for_one_group_only() -> None:
    members = (member(ALICE, groups=frozenset({"security", "legal"})), member(BOB), member(CAROL))
    rule = {"tool": "a", "groups": [group("security", 1), group("legal", 1)]}
    assert len(told(rule, members=members)) == 1
    assert told(rule, members=GROUPED) == []


def test_more_people_by_groups_than_there_are_is_pointed_at_the_groups() -> None:
    members = (member(ALICE, groups=SECURITY), member(CAROL, groups=SECURITY))
    rule = {"tool": "a", "groups": [group("security", 3)]}
    assert ("/policy/rules/0/groups", "unsatisfiable") in told(rule, members=members)


def test_defaults_that_ask_for_too_many_are_pointed_at_once() -> None:
    assert told({"tool": "a"}, {"tool": "b", "risk": "low"}, approvals=4) == [
        ("/policy/defaults/approvals", "unsatisfiable")
    ]
    assert told({"tool": "a"}, approvals=3) == []


def test_who_proposes_a_policy_does_not_decide_it_so_two_managers_can_give_one_approval() -> None:
    assert told({"tool": "policy.change", "approvals": 1}) == []
    assert told({"tool": "policy.change", "approvals": 2}) == [("/policy/rules/0/approvals", "unsatisfiable")]


@pytest.mark.parametrize("changes", [{"is_active": False}, {"until": NOON}, {"granted_by": CAROL}])
def test_who_is_gone_or_appointed_himself_is_not_there(changes: dict[str, Any]) -> None:
    members = (member(ALICE, groups=SECURITY), member(CAROL, groups=SECURITY, **changes))
    assert told({"tool": "a", "approvals": 2}, members=members) == [
        ("/policy/rules/0/approvals", "unsatisfiable")
    ]


def test_a_group_of_which_the_last_member_left_is_unknown() -> None:
    members = (member(ALICE), member(CAROL, groups=SECURITY, until=NOON))
    assert told({"tool": "a", "groups": [group("security", 1)]}, members=members) == [
        ("/policy/rules/0/groups/0/name", "unknown_group")
    ]


def test_what_only_people_start_is_told_where_nobody_could_approve_it() -> None:
    assert list(unmet_floor({}, House(ACME, NOON))) == []
    alone = House((member(ALICE), member(DANA, Role.MANAGER)), NOON)
    assert {tool for tool, _ in unmet_floor({}, alone)} == {"memory.release", "memory.erase", "policy.change"}


def test_the_sentence_says_what_is_missing() -> None:
    house = House((member(ALICE, groups=SECURITY),), NOON)
    two = resolve({"rules": [{"tool": "a", "groups": [group("security", 2), group("legal", 1)]}]}, "a")
    assert [short.sentence for short in house.shortfalls(two, "a")] == [
        "It takes 3 people, and 1 could approve. Add people first.",
        "The group security cannot give 2 people: it has 1.",
        "Nobody who could approve belongs to the group legal. Add people to it first.",
    ]
