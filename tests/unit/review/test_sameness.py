"""Calls that are alike stand together: the same tool on the same target, or with equal arguments."""

from __future__ import annotations

from typing import Any

import pytest

from review.domain.sameness import put_together, same_key

MAIL = {"to": "a@example.org", "subject": "Hello"}


@pytest.mark.parametrize(
    ("tool", "arguments", "alike"),
    [
        ("mail.send", {"to": "a@example.org", "subject": "Other words"}, True),
        ("Mail.Send", MAIL, True),
        ("mail.send", {**MAIL, "to": "b@example.org"}, False),
        ("mail.draft", MAIL, False),
        ("mail.send", {"account": "a@example.org"}, False),
    ],
)
def test_one_tool_on_one_target_is_alike(tool: str, arguments: dict[str, Any], alike: bool) -> None:
    assert (same_key(tool, arguments) == same_key("mail.send", MAIL)) is alike


def test_without_a_target_all_arguments_count() -> None:
    said = {"content": "The port is 7443.", "confidence": 1}
    assert same_key("memory.write", said) == same_key("memory.write", dict(reversed(said.items())))
    assert same_key("memory.write", said) != same_key(
        "memory.write", {**said, "content": "The port is 7444."}
    )


def test_what_shares_a_key_stands_where_its_first_stood_and_what_stands_alone_in_its_own_place() -> None:
    keys = ["b", None, "d", "a", "c", "a", "b", None]
    assert put_together(range(8), keys) == [("b", [0, 6]), (None, [1, 2]), ("a", [3, 5]), (None, [4, 7])]


def test_where_nothing_belongs_together_all_stand_as_they_came() -> None:
    assert put_together("xyz", ["a", None, "b"]) == [(None, ["x", "y", "z"])]
    assert put_together("", []) == []
