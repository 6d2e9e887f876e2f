"""A file of memories: which lines are read, and what is said of those that are not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from huqan_site.lib.canonical_json import canonical
from memory.domain.lines import LINE, MOST_FAULTS, MOST_LINES, Unfit, read
from review.domain import schemas

PORT = "The staging port is 7443."
OTHER = "01890000-0000-7000-8000-000000000000"


def line(**members: Any) -> bytes:
    return canonical({"content": PORT, **members}).encode()


def faults(*lines: bytes) -> list[tuple[int, str, str]]:
    with pytest.raises(Unfit) as unfit:
        read(lines)
    return [(fault.line, fault.pointer, fault.code) for fault in unfit.value.faults]


def test_a_line_asks_for_what_a_write_takes_and_for_nothing_an_export_tells_beside_it() -> None:
    told = {"id": "01890000-0000-7000-8000-000000000000", "trust": "trusted", "workspace": "acme"}
    [one] = read([line(**told, subject="port", recorded_at="2026-01-01T00:00:00Z")])
    assert one == (1, "acme", {"content": PORT, "subject": "port"}, told["id"], False)


def test_what_was_said_before_and_what_contradicts_it_is_told_and_asks_for_nothing() -> None:
    before = {"valid_to": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"}
    open_ = {"with": OTHER, "opened_at": "2026-01-01T00:00:00Z"}
    settled = {**open_, "answer": "keep_both", "resolved_at": "2026-01-02T00:00:00Z"}
    disputed, decided = read(
        [line(v=2, former_validity=[before], conflicts=[open_, settled]), line(conflicts=[settled])]
    )
    assert disputed.arguments == decided.arguments == {"content": PORT}
    assert (disputed.disputed, decided.disputed) == (True, False)


def test_what_was_held_is_untrusted_and_trust_is_not_believed() -> None:
    held, trusted = read([line(trust="quarantined"), line(trust="trusted", untrusted=True)])
    assert (held.arguments["untrusted"], trusted.arguments["untrusted"]) == (True, True)
    [held] = read([line(trust="quarantined", untrusted=False)])
    assert held.arguments["untrusted"] is True


def test_blank_lines_count_and_say_nothing() -> None:
    assert [one.number for one in read([b"\n", line(), b"  \r\n", line()])] == [2, 4]


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (b"{", ("", "malformed")),
        (b'{"content": "a", "content": "b"}', ("", "duplicate_key")),
        (b'{"content": "a\\u0000"}', ("", "forbidden_character")),
        (b'{"content": "a", "confidence": 1e999}', ("", "inexact_number")),
        (b'"content"', ("", "malformed")),
        (line(approved=True), ("/approved", "unknown_field")),
        (line(v=3), ("/v", "const")),
        (line(recorded_at="yesterday"), ("/recorded_at", "format")),
        (
            line(former_validity=[{"valid_to": "2026-01-01T00:00:00Z"}]),
            ("/former_validity/0/until", "required"),
        ),
        (line(former_validity=[{"until": "2026-12-07T10:00Z"}]), ("/former_validity/0/until", "time")),
        (
            line(conflicts=[{"with": OTHER, "opened_at": "2026-12-07T10:00Z"}]),
            ("/conflicts/0/opened_at", "time"),
        ),
        (
            line(conflicts=[{"with": OTHER, "opened_at": "2026-12-07T10:00:00Z", "answer": "mine"}]),
            ("/conflicts/0/answer", "enum"),
        ),
        (line(trust="erased"), ("/trust", "enum")),
        (line(content=7), ("/content", "type")),
        (b"{}", ("/content", "required")),
        (line(valid_from="2026-12-07T10:00:60Z"), ("/valid_from", "format")),
        (line(valid_from="2026-12-07T10:00Z"), ("/valid_from", "time")),
        (line(valid_from="2026-12-07T10:00:00Z", valid_to="2026-12-07T10:00:00Z"), ("/valid_to", "time")),
        (line(provenance={"kind": "user", "agent": "scout"}), ("/provenance/agent", "unknown_field")),
    ],
)
def test_a_bad_line_keeps_the_file_out_and_is_named(wrong: bytes, fault: tuple[str, str]) -> None:
    assert faults(line(), wrong, line()) == [(2, *fault)]


def test_every_bad_line_is_named_up_to_a_bound() -> None:
    assert [number for number, _, _ in faults(b"{", line(), b"[]")] == [1, 3]
    assert len(faults(*[b"{"] * (MOST_FAULTS + 9))) == MOST_FAULTS


def test_a_file_is_bounded() -> None:
    assert len(read([line()] * MOST_LINES)) == MOST_LINES
    assert faults(*[line()] * (MOST_LINES + 1)) == [(MOST_LINES + 1, "", "too_large")]


def test_the_sentence_never_repeats_what_stands_in_the_line() -> None:
    with pytest.raises(Unfit) as unfit:
        read([line(confidence="AKIAABCDEFGHIJKLMNOP")])
    assert "AKIA" not in str([fault.detail for fault in unfit.value.faults])


def test_the_published_schema_is_one_that_the_console_itself_takes() -> None:
    assert schemas.faults(LINE) == []


def test_the_documented_schema_is_the_one_in_force() -> None:
    text = (Path(__file__).parents[3] / "docs/memory-file.md").read_text()
    [block] = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert json.loads(block) == LINE
