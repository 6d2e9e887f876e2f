"""A schema in a policy checks what its author believes it checks, at a known cost, and fetches nothing."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.domain.schemas import MAX_ERRORS, MAX_WEIGHT, errors, faults

REMOTE = "https://schemas.example/mail.json"


def told(schema, value):
    return [(error.pointer, error.code) for error in errors(schema, value, "/arguments")]


MAIL = {
    "type": "object",
    "required": ["to", "body"],
    "additionalProperties": False,
    "properties": {
        "to": {"type": "string", "pattern": "^[^@]{1,64}@example[.]org$"},
        "body": {"type": ["string", "null"], "maxLength": 10},
        "copies": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
        "a/b~c": {"const": 1},
    },
}


@pytest.mark.parametrize(
    ("change", "told_at"),
    [
        ({}, []),
        ({"to": "o@elsewhere.org"}, [("/arguments/to", "pattern")]),
        ({"to": 7}, [("/arguments/to", "type")]),
        ({"body": "x" * 11}, [("/arguments/body", "max_length")]),
        ({"body": None}, []),
        ({"copies": True}, [("/arguments/copies", "type")]),
        ({"copies": "1"}, [("/arguments/copies", "type")]),
        ({"copies": 0}, [("/arguments/copies", "minimum")]),
        ({"tags": ["a", "c"]}, [("/arguments/tags/1", "enum")]),
        ({"tags": ["a", "a"]}, [("/arguments/tags", "unique_items")]),
        ({"a/b~c": 2}, [("/arguments/a~1b~0c", "const")]),
        ({"a/b~c": True}, [("/arguments/a~1b~0c", "const")]),
        (
            {"bcc": "x", "approved": 1},
            [("/arguments/bcc", "unknown_field"), ("/arguments/approved", "unknown_field")],
        ),
    ],
)
def test_each_wrong_field_is_pointed_at(change, told_at):
    assert faults(MAIL) == []
    assert told(MAIL, {"to": "o@example.org", "body": "hi"} | change) == told_at


def test_each_missing_field_is_pointed_at():
    assert told(MAIL, {}) == [("/arguments/to", "required"), ("/arguments/body", "required")]


def test_a_wrong_value_is_never_repeated():
    secret = "hqn_secret" * 40
    for value in (secret, [secret], {"to": secret, secret: secret}):
        for error in errors(MAIL, value):
            assert "hqn_secret" not in error.detail


def test_a_sentence_says_what_is_expected():
    assert [error.detail for error in errors({"enum": ["EUR", 1, None]}, "X")] == [
        'Must be one of: "EUR", 1, null.'
    ]
    assert [error.detail for error in errors({"type": ["string", "null"]}, 1)] == [
        "Must be of type string or null."
    ]
    assert [error[1:] for error in errors(False, 1)] == [
        ("forbidden", "Nothing is taken here. Leave it out.")
    ]
    assert [error.detail for error in errors({"minLength": 2}, "a")] == ["Must have at least 2 characters."]
    assert [error.detail for error in errors({"contains": {"type": "null"}}, [1])] == [
        "Does not meet `contains` of the schema."
    ]


def test_a_member_of_the_wrong_form_is_not_called_unknown():
    assert told({"unevaluatedProperties": {"type": "string"}}, {"a": 1}) == [
        ("/arguments", "unevaluated_properties")
    ]
    assert told({"unevaluatedProperties": False}, {"a": 1}) == [("/arguments/a", "unknown_field")]
    assert told({"items": False}, [1]) == [("/arguments", "items")]


def test_a_thousand_faults_are_not_all_told():
    assert len(errors({"items": {"type": "string"}}, list(range(1_000)))) == MAX_ERRORS


@pytest.mark.parametrize(
    "wrapped", [{"pattern": "^a+$"}, {"not": {"pattern": "^a+$"}}, {"if": {"pattern": "^a+$"}}]
)
def test_a_text_too_long_for_a_pattern_is_refused_also_where_no_match_would_pass(wrapped):
    assert told(wrapped, "b" * 1_024 + "!") == [("/arguments", "too_long")]
    assert ("/arguments", "too_long") not in told(wrapped, "b" * 1_024)


def test_a_dollar_does_not_let_a_line_break_through():
    assert told({"pattern": "^a$"}, "a\n") == [("/arguments", "pattern")]


def test_unique_means_equal_as_json_and_ends_soon_for_ten_thousand_objects():
    assert told({"uniqueItems": True}, [1, True, "1", None, [1]]) == []
    assert told({"uniqueItems": False}, [1, 1]) == []
    assert told({"uniqueItems": True}, "aa") == []
    assert told({"uniqueItems": True}, [1, 1.0]) == [("/arguments", "unique_items")]
    assert told({"uniqueItems": True}, [{"n": number} for number in range(10_000)]) == []


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2026-12-01", "2026-13-01"),
        ("date-time", "2026-12-01T10:00:00Z", "2026-12-01T10:00:00"),
        ("email", "o@example.org", "nobody"),
        ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("ipv6", "::1", "::x"),
        ("uuid", "0190a1b2-0000-7000-8000-000000000001", "0190a1b2"),
    ],
)
def test_every_format_that_is_taken_is_checked(name, good, bad):
    assert faults({"format": name}) == []
    assert told({"format": name}, good) == []
    assert told({"format": name}, bad) == [("/arguments", "format")]
    assert told({"format": name}, 7) == []


def test_a_time_has_its_t_and_its_offset():
    assert told({"format": "date-time"}, "2026-12-01T13:00:00+03:00") == []
    assert told({"format": "date-time"}, "2026-12-01 10:00:00Z") == [("/arguments", "format")]


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"requried": ["to"]}, "/requried"),
        ({"properties": {"a": {"patternProperties": {}}}}, "/properties/a/patternProperties"),
        ({"$id": REMOTE}, "/$id"),
        ({"format": "hostname"}, "/format"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "/$schema"),
        ({"$ref": REMOTE}, "/$ref"),
        ({"$ref": "#"}, "/$ref"),
        ({"$ref": "#/properties/a", "properties": {"a": {}}}, "/$ref"),
        ({"items": {"$ref": "#/$defs/missing"}}, "/items/$ref"),
        ({"anyOf": [{}, {"pattern": "^(a+)+$"}]}, "/anyOf/1/pattern"),
        ({"$defs": {"a": {"pattern": "(a+)+"}}}, "/$defs/a/pattern"),
        ({"items": {"$defs": {}}}, "/items/$defs"),
        ({"type": "strin"}, "/type"),
        ({"minimum": "1"}, "/minimum"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "/$defs/a/$ref"),
        (
            {"$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": "#/$defs/a"}}}},
            "/$defs/b/not/$ref",
        ),
    ],
)
def test_what_would_not_be_checked_or_not_end_is_refused(schema, pointer):
    assert [fault.pointer for fault in faults(schema, "/rules/0/schema")] == ["/rules/0/schema" + pointer]


def test_references_that_double_at_each_step_are_weighed():
    doubling = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**doubling, "d40": {}}}
    assert [(fault.pointer, "too large" in fault.detail) for fault in faults(schema)] == [("", True)]
    assert faults({"$ref": "#/$defs/d38", "$defs": {**doubling, "d40": {}}}) == []


def test_a_schema_weighs_what_it_lists_and_no_more_than_allowed():
    assert faults({"enum": list(range(MAX_WEIGHT - 1))}) == []
    assert len(faults({"enum": list(range(MAX_WEIGHT))})) == 1


def test_a_definition_can_be_used_twice():
    schema = {
        "properties": {"a": {"$ref": "#/$defs/id"}, "b": {"$ref": "#/$defs/id"}},
        "$defs": {"id": {"type": "string"}},
    }
    assert faults(schema) == []
    assert told(schema, {"a": "x", "b": 1}) == [("/arguments/b", "type")]


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)
KEYWORDS = st.sampled_from(
    ["type", "items", "$ref", "anyOf", "properties", "enum", "not", "pattern", "required", "x"]
)


@settings(deadline=None)
@given(st.dictionaries(KEYWORDS, JSONS, max_size=3), JSONS)
def test_any_schema_is_refused_or_can_be_used(schema, value):
    if not faults(json.loads(json.dumps(schema))):
        errors(schema, value)
