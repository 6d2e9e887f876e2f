"""The policy: the first rule that matches, the defaults under it, and a floor that nothing reaches."""

import json
from copy import deepcopy
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.domain.policy import (
    FLOOR,
    GroupNeed,
    Risk,
    Route,
    Rule,
    check,
    expiry,
    resolve,
    rule_number,
    text_to_type,
    tool_errors,
    validate_arguments,
)
from review.domain.refusals import Invalid

POLICY = {
    "defaults": {"route": "review", "risk": "medium", "approvals": 1, "ttl_seconds": 604_800},
    "rules": [
        {"tool": "memory.write", "risk": "low", "approvals": 1},
        {"tool": "memory.release", "risk": "high", "approvals": 2},
        {
            "tool": "mail.send",
            "risk": "high",
            "approvals": 2,
            "ttl_seconds": 86_400,
            "groups": [{"name": "security", "approvals": 1}],
            "step_up": True,
            "confirm": "/to",
            "audience": "mailer",
            "schema": {"type": "object"},
        },
        {"tool": "search.*", "route": "allow", "risk": "low"},
        {"tool": "shell.*", "route": "block"},
    ],
}


def told(document):
    """The pointers at which a document is refused."""
    try:
        check(document, "/document")
    except Invalid as refusal:
        return [error.pointer for error in refusal.errors] or ["refused without a pointer"]
    return []


def rules(*listed, **defaults):
    return {"defaults": defaults, "rules": list(listed)}


def test_the_contracts_own_policy_stands():
    assert told(POLICY) == []


def test_a_rule_is_resolved_with_the_defaults_filled_in():
    assert resolve(POLICY, "mail.send") == Rule(
        Route.REVIEW,
        Risk.HIGH,
        approvals=2,
        ttl_seconds=86_400,
        groups=(GroupNeed("security", 1),),
        step_up=True,
        confirm="/to",
        audience="mailer",
        schema={"type": "object"},
    )
    assert resolve(POLICY, "memory.write") == Rule(Route.REVIEW, Risk.LOW, 1, 604_800)
    assert resolve(POLICY, "crm.update") == Rule(Route.REVIEW, Risk.MEDIUM, 1, 604_800)


def test_an_empty_policy_has_everything_reviewed():
    assert told({}) == []
    assert resolve({}, "shell.run") == Rule(Route.REVIEW, Risk.MEDIUM, 1, 604_800)


@pytest.mark.parametrize(
    ("pattern", "tool", "matches"),
    [
        ("mail.send", "MAIL.Send", True),
        ("Mail.SEND", "mail.send", True),
        ("mail.send", "mail.sender", False),
        ("mail.*", "mail.", True),
        ("mail.*", "mail", False),
        ("*.send", "mail.send", True),
        ("*", "anything/at:all", True),
        ("a*b*c", "abc", True),
        ("a*b*c", "a-b-b-c", True),
        ("a*b*c", "acb", False),
        ("a*x*c", "abc", False),
        ("a*a", "a", False),
        ("*a*", "xax", True),
        ("a**b", "ab", True),
        ("mail.send", "mail_send", False),
        ("mail?send", "mail.send", False),
        ("*a" * 60, "a" * 128, True),
        ("*a" * 60 + "*b", "a" * 128, False),
    ],
)
def test_a_star_stands_for_any_run_of_characters(pattern, tool, matches):
    assert (rule_number(rules({"tool": pattern}), tool) == 1) is matches


def test_the_first_rule_that_matches_wins():
    document = rules({"tool": "mail.*", "risk": "low"}, {"tool": "mail.send", "risk": "high"})
    assert resolve(document, "mail.send").risk is Risk.LOW
    assert rule_number(document, "mail.send") == 1
    assert rule_number(document, "crm.update") is None


# The floor


@pytest.mark.parametrize(("tool", "least"), FLOOR.items())
def test_no_wildcard_and_no_default_reaches_the_floor(tool, least):
    lax = rules(
        {"tool": "*", "route": "allow", "risk": "low"}, route="allow", risk="low", approvals=1, ttl_seconds=60
    )
    assert told(lax) == []
    for spelled in (tool, tool.upper()):
        assert resolve(lax, spelled) == Rule(Route.REVIEW, Risk.HIGH, least, 60)
        assert rule_number(lax, spelled) is None
    assert resolve(rules({"tool": "*", "route": "block"}), tool).route is Route.REVIEW


@pytest.mark.parametrize(("tool", "least"), FLOOR.items())
def test_a_rule_of_their_own_can_raise_the_floor_and_not_lower_it(tool, least):
    assert resolve(rules({"tool": tool, "approvals": least + 1}), tool).approvals == least + 1
    assert told(rules({"tool": tool, "approvals": least})) == []
    assert told(rules({"tool": tool.title(), "route": "block"})) == ["/document/rules/0/route"]
    assert told(rules({"tool": tool, "route": "allow", "risk": "low"})) == ["/document/rules/0/route"]


@pytest.mark.parametrize("tool", ["memory.release", "Memory.Erase"])
def test_release_and_erase_need_two(tool):
    assert told(rules({"tool": tool, "approvals": 1})) == ["/document/rules/0/approvals"]
    assert told(rules({"tool": tool, "risk": "low"})) == []
    assert resolve(rules({"tool": tool, "risk": "low"}, approvals=1), tool).approvals == 2


# What cannot stand


@pytest.mark.parametrize("risk", ["medium", "high"])
def test_only_a_low_risk_call_goes_without_review(risk):
    assert told(rules({"tool": "a", "route": "allow", "risk": risk})) == ["/document/rules/0/route"]
    assert told(rules({"tool": "a", "route": "allow", "risk": "low"})) == []
    assert told(rules(route="allow", risk=risk)) == ["/document/defaults/route"]
    assert told(rules({"tool": "a", "risk": risk}, route="allow", risk="low")) == ["/document/rules/0/route"]


@pytest.mark.parametrize(
    ("rule", "pointer"),
    [
        ({}, "/tool"),
        ({"tool": "a", "color": "red"}, "/color"),
        ({"tool": "a b"}, "/tool"),
        ({"tool": ""}, "/tool"),
        ({"tool": "a", "approvals": 0}, "/approvals"),
        ({"tool": "a", "approvals": "2"}, "/approvals"),
        ({"tool": "a", "approvals": True}, "/approvals"),
        ({"tool": "a", "approvals": 1.5}, "/approvals"),
        ({"tool": "a", "ttl_seconds": 4}, "/ttl_seconds"),
        ({"tool": "a", "ttl_seconds": 10**9}, "/ttl_seconds"),
        ({"tool": "a", "route": "maybe"}, "/route"),
        ({"tool": "a", "risk": "none"}, "/risk"),
        ({"tool": "a", "step_up": "yes"}, "/step_up"),
        ({"tool": "a", "confirm": "to"}, "/confirm"),
        ({"tool": "a", "confirm": "/to~"}, "/confirm"),
        ({"tool": "a", "confirm": "/~2to"}, "/confirm"),
        ({"tool": "a", "audience": "no spaces"}, "/audience"),
        ({"tool": "a", "groups": [{"name": "x"}]}, "/groups/0/approvals"),
        ({"tool": "a", "groups": [{"name": "x", "approvals": 1, "any": 1}]}, "/groups/0/any"),
        ({"tool": "a", "groups": [{"name": "x", "approvals": 1}] * 2}, "/groups/1/name"),
        ({"tool": "a", "schema": "object"}, "/schema"),
        ({"tool": "a", "schema": {"$ref": "https://schemas.example/x"}}, "/schema/$ref"),
        (
            {"tool": "a", "schema": {"properties": {"x": {"pattern": "^(a+)+$"}}}},
            "/schema/properties/x/pattern",
        ),
    ],
)
def test_what_a_rule_must_not_say_is_pointed_at(rule, pointer):
    assert told(rules(rule)) == ["/document/rules/0" + pointer]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], ""),
        ({"rule": []}, "/rule"),
        ({"rules": {}}, "/rules"),
        ({"defaults": {"schema": {}}}, "/defaults/schema"),
        ({"defaults": {"tool": "a"}}, "/defaults/tool"),
    ],
)
def test_what_a_document_must_not_say_is_pointed_at(document, pointer):
    assert told(document) == ["/document" + pointer]


# What is bound


def test_changing_another_rule_touches_nothing():
    other = deepcopy(POLICY)
    other["rules"][0]["approvals"] = 5
    other["rules"].insert(0, {"tool": "crm.*", "risk": "high"})
    assert resolve(other, "mail.send").digest == resolve(POLICY, "mail.send").digest
    assert resolve(other, "memory.write").digest != resolve(POLICY, "memory.write").digest


def test_a_default_that_the_rule_inherits_touches_it():
    other = deepcopy(POLICY)
    other["defaults"]["ttl_seconds"] = 3_600
    assert resolve(other, "memory.write").digest != resolve(POLICY, "memory.write").digest
    assert resolve(other, "mail.send").digest == resolve(POLICY, "mail.send").digest


@pytest.mark.parametrize(
    "change",
    [
        {"route": "block"},
        {"risk": "low"},
        {"approvals": 3},
        {"ttl_seconds": 60},
        {"groups": []},
        {"groups": [{"name": "security", "approvals": 2}]},
        {"step_up": False},
        {"confirm": "/subject"},
        {"confirm": "/a~1b~0c~01"},
        {"audience": "scout"},
        {"schema": {"type": "object", "required": ["to"]}},
    ],
    ids=str,
)
def test_whatever_changes_in_a_rule_its_digest_changes_too(change):
    other = deepcopy(POLICY)
    other["rules"][2] |= change
    assert resolve(other, "mail.send").digest != resolve(POLICY, "mail.send").digest


def test_a_whole_number_is_one_number_however_it_is_written():
    assert (
        resolve(rules({"tool": "a", "approvals": 2.0}), "a").digest
        == resolve(rules({"tool": "a", "approvals": 2}), "a").digest
    )


def test_the_schema_of_none_is_true():
    assert (
        resolve({}, "a").schema_digest
        == "sha256:b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b"
    )


@pytest.mark.parametrize("tool", ["mail.send", "memory.write", "memory.erase", "search.web", "shell.run"])
def test_a_stored_rule_is_read_back_whole(tool):
    rule = resolve(POLICY, tool)
    assert Rule.read(json.loads(rule.canonical)) == rule


# Arguments


def test_arguments_are_held_against_the_rules_schema():
    rule = resolve(rules({"tool": "a", "schema": {"properties": {"n": {"type": "integer"}}}}), "a")
    assert validate_arguments(rule, {"n": 1}) == []
    assert [error.pointer for error in validate_arguments(rule, {"n": "1"})] == ["/arguments/n"]


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        ("DE12", "DE12"),
        (480, "480"),
        (4.5, "4.5"),
        (1e21, "1e+21"),
        (-0.0, "0"),
        ("", None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_what_is_typed_to_confirm_is_the_canonical_value(value, typed):
    rule = resolve(rules({"tool": "a", "confirm": "/x"}), "a")
    assert text_to_type(rule, {"x": value}) == typed
    assert [error.pointer for error in validate_arguments(rule, {"x": value})] == (
        [] if typed else ["/arguments/x"]
    )


@pytest.mark.parametrize("confirm", ["/x", "/to/0/x", "/to/1", "/to/00", "/to/-", "/to/a"])
def test_a_value_to_confirm_that_is_not_there_is_asked_for(confirm):
    rule = resolve(rules({"tool": "a", "confirm": confirm}), "a")
    assert [error.pointer for error in validate_arguments(rule, {"to": ["o@example.org"]})] == [
        "/arguments" + confirm
    ]


def test_a_value_to_confirm_can_stand_deep_and_have_an_odd_name():
    rule = resolve(rules({"tool": "a", "confirm": "/to/0/a~1b~0c"}), "a")
    assert text_to_type(rule, {"to": [{"a/b~c": "x"}]}) == "x"
    assert text_to_type(resolve({}, "a"), {"to": "x"}) is None
    eleventh = resolve(rules({"tool": "a", "confirm": "/to/10"}), "a")
    assert text_to_type(eleventh, {"to": [*"abcdefghijk"]}) == "k"
    assert text_to_type(eleventh, {"to": {"10": "x"}}) == "x"
    assert text_to_type(eleventh, {"to": "abcdefghijk"}) is None


@pytest.mark.parametrize("tool", ["a", "A9", "mail.send", "a/b:c-d_e", "9", "x" * 128])
def test_a_tool_name_that_is_taken(tool):
    assert tool_errors(tool) == []


@pytest.mark.parametrize("tool", ["", ".a", "_a", "-a", "a b", "a*", "aé", "a\n", "x" * 129, "а"])
def test_a_tool_name_that_is_not(tool):
    assert [error.pointer for error in tool_errors(tool)] == ["/tool"]


# Time


@pytest.mark.parametrize(("asked", "seconds"), [(None, 60), (30, 30), (60, 60), (600, 60)])
def test_the_rule_caps_what_the_agent_asks_for_and_seconds_are_whole(asked, seconds):
    rule = resolve(rules(ttl_seconds=60), "a")
    submitted = datetime(2026, 12, 1, 10, 0, 0, 999_999, tzinfo=UTC)
    assert expiry(rule, submitted, asked) == datetime(
        2026, 12, 1, 10, seconds // 60, seconds % 60, tzinfo=UTC
    )


def test_groups_take_a_person_each():
    groups = [{"name": "security", "approvals": 2}, {"name": "legal", "approvals": 1}]
    assert resolve(rules({"tool": "a", "approvals": 1, "groups": groups}), "a").people == 3
    assert resolve(rules({"tool": "a", "approvals": 5, "groups": groups}), "a").people == 5


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-1, 3)
    | st.sampled_from(["allow", "low", "a", "*", "memory.erase", "/x"])
)
KEYS = st.sampled_from(
    ["tool", "route", "risk", "approvals", "ttl_seconds", "groups", "step_up", "confirm", "schema", "x"]
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(KEYS, VALUES), max_size=2), st.dictionaries(KEYS, VALUES, max_size=2))
def test_any_document_is_refused_or_resolves_for_every_tool(listed, defaults):
    document = {"defaults": defaults, "rules": listed}
    if told(document):
        return
    for tool in ("a", "memory.erase", "mail.send"):
        rule = resolve(document, tool)
        assert rule.route is not Route.ALLOW or rule.risk is Risk.LOW
    assert resolve(document, "memory.erase").approvals >= 2
