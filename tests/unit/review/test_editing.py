"""Arguments as a form and back: every type stays what it is, and nothing hides."""

from __future__ import annotations

import json
from typing import Any

import pytest

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.strict_json import Unreadable
from review.domain.editing import Field, Kind, Written, as_json, fields, read, read_raw, takes_others

SCHEMA = {
    "type": "object",
    "required": ["to"],
    "properties": {
        "to": {"type": "string", "description": "Who gets it."},
        "amount": {"type": "number"},
        "urgent": {"type": "boolean"},
        "lang": {"enum": ["en", "tr", None, 1]},
        "parts": {"type": "array"},
        "note": {"type": ["string", "null"]},
    },
}


def by_name(arguments: dict[str, Any], schema: Any = SCHEMA) -> dict[str, Field]:
    return {field.name: field for field in fields(schema, arguments) or ()}


def sent_back(arguments: dict[str, Any], schema: Any = SCHEMA) -> dict[str, Any]:
    """What comes of a form that nobody changed."""
    shown = fields(schema, arguments) or []
    return read(Written(f.name, f.kind, f.text, f.kept) for f in shown)


@pytest.mark.parametrize(
    "arguments",
    [
        {"to": "a@b.example", "amount": 1, "urgent": True, "lang": "tr"},
        {"to": "1", "amount": 1.5, "urgent": False, "lang": None},
        {"to": 1, "amount": "1", "urgent": "true", "lang": "other"},
        {"to": None, "amount": True, "urgent": 1, "lang": 1, "note": None},
        {"to": "", "parts": [1, "1", True, None, {"a": []}], "note": "null"},
        {"to": "two\nlines\n", "extra": {"deep": [[1]]}},
        {"to": "\nbegins with a line", "amount": 1.5e-7},
        {"to": "carriage\r\nreturn", "note": "tab\there"},
        {"to": "left\u202eright", "note": "zero\u200bwidth \ufe0f \U000e0041"},
        {"to": "ş İ 漢 🙂", "amount": -0.0},
        {},
    ],
)
def test_a_form_that_nobody_changes_gives_the_same_bytes_again(arguments: dict[str, Any]) -> None:
    assert canonical(sent_back(arguments)) == canonical(arguments)


def test_each_member_has_the_control_that_its_type_asks_for() -> None:
    found = by_name({"to": "a", "amount": 5, "urgent": True, "lang": "en", "parts": [], "other": 1})
    kinds = {name: field.kind for name, field in found.items()}
    assert kinds["to"] is Kind.TEXT and kinds["urgent"] is kinds["lang"] is Kind.CHOICE
    assert kinds["amount"] is kinds["parts"] is kinds["note"] is kinds["other"] is Kind.JSON
    assert found["urgent"].options == ("true", "false") and found["lang"].options == (
        '"en"',
        '"tr"',
        "null",
        "1",
    )
    assert found["to"].help == "Who gets it." and found["to"].required and not found["amount"].required


def test_what_the_schema_knows_and_the_call_leaves_out_can_be_added() -> None:
    field = by_name({"to": "a"})["urgent"]
    assert not field.kept and field.kind is Kind.CHOICE
    assert read([Written("urgent", Kind.JSON, "false")]) == {"urgent": False}
    assert read([Written("urgent", Kind.JSON, "false", kept=False)]) == {}


def test_a_text_that_hides_something_is_edited_with_its_escapes() -> None:
    field = by_name({"to": "a\u202eb"})["to"]
    assert field.kind is Kind.JSON and field.text == '"a\\u202eb"'
    assert as_json("\U000e0041") == '"\\udb40\\udc41"' and json.loads(as_json("\U000e0041")) == "\U000e0041"


@pytest.mark.parametrize("schema", [True, {}, {"type": "object"}, {"properties": {}}])
def test_without_named_members_there_is_no_form_of_them(schema: Any) -> None:
    assert fields(schema, {"a": 1}) is None


def test_a_name_that_a_form_would_change_makes_it_json() -> None:
    assert fields(SCHEMA, {"to": "a", "li\nne": 1}) is None and fields(SCHEMA, {"to": "a", "line": 1})


def test_a_closed_schema_takes_no_further_members() -> None:
    assert takes_others(SCHEMA) and takes_others(True)
    assert not takes_others({"additionalProperties": False})


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "malformed"),
        ("plain words", "malformed"),
        ("1, 2", "malformed"),
        ('1, "other": 2', "malformed"),
        ('1}, {"value": 2', "malformed"),
        ('1, "value": 2', "duplicate_key"),
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ("9007199254740993", "integer_out_of_range"),
        ("0.1000000000000000000001", "inexact_number"),
        ("NaN", "inexact_number"),
        ('{"__proto__": 1}', "forbidden_key"),
        ('"\\u0000"', "forbidden_character"),
        ("[" * 40 + "]" * 40, "too_large"),
    ],
)
def test_a_part_is_read_as_strictly_as_a_body_and_its_place_is_named(text: str, code: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read([Written("amount", Kind.JSON, text)])
    assert refused.value.code == code
    assert [error.pointer for error in refused.value.errors] == ["/arguments/amount"]


def test_a_text_is_never_read_as_anything_else() -> None:
    assert read([Written("to", Kind.TEXT, "true")]) == {"to": "true"}
    with pytest.raises(Unreadable):
        read([Written("to", Kind.TEXT, "a\0b")])


def test_further_members_come_as_an_object_and_never_over_one_that_is_there() -> None:
    one = Written("to", Kind.TEXT, "a")
    assert read([one], '{"cc": 1}') == {"to": "a", "cc": 1}
    for more, code in (('{"to": "b"}', "duplicate_key"), ("[1]", "malformed")):
        with pytest.raises(Unreadable) as refused:
            read([one], more)
        assert refused.value.code == code


def test_raw_arguments_are_one_object() -> None:
    assert read_raw('  {"a": 1.0}\n') == {"a": 1}
    with pytest.raises(Unreadable):
        read_raw('{"a": 1} {"b": 2}')
