"""Reading the witness file, whatever a crash or a person left in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_django import Settings

from review.audit import witness
from review.audit.witness import LastNote

CHECKPOINT = json.loads((Path(__file__).parents[2] / "data" / "audit.json").read_text())["checkpoint"]


def note(size: int) -> str:
    return str(CHECKPOINT).replace("\n2\n", f"\n{size}\n")


@pytest.fixture
def file(tmp_path: Path, settings: Settings) -> Path:
    settings.HUQAN_WITNESS_FILE = tmp_path / "witness.txt"
    return tmp_path / "witness.txt"


def test_no_file_knows_nothing(file: Path) -> None:
    assert witness.last_note() == LastNote(0, "")


def test_notes_stand_with_a_blank_line_between(file: Path) -> None:
    file.write_text("\n".join([note(1), note(2), note(30)]))
    assert [found.size for found in witness.notes()] == [1, 2, 30]
    assert [found.note for found in witness.notes()] == [note(1), note(2), note(30)]
    assert witness.last_note() == LastNote(30, note(30))


@pytest.mark.parametrize("kept", range(len(note(3)) - 1))
def test_a_note_that_a_crash_cut_short_is_none(file: Path, kept: int) -> None:
    file.write_text(note(2) + "\n" + note(3)[:kept])
    assert witness.last_note() == LastNote(2, note(2))


@pytest.mark.parametrize("kept", range(1, len(note(3)) - 1, 7))
def test_what_follows_a_cut_note_is_read(file: Path, kept: int) -> None:
    cut = note(3)[:kept]
    parted = "\n" if cut.endswith("\n") else " (cut short)\n\n"
    file.write_text(note(2) + "\n" + cut + parted + note(4))
    assert [found.size for found in witness.notes()] == [2, 4]
    assert witness.last_note() == LastNote(4, note(4))


def test_the_last_note_is_read_again_once_the_file_has_grown(file: Path) -> None:
    file.write_text(note(2))
    assert witness.last_note().size == 2
    with file.open("a") as more:
        more.write("\n" + note(5))
    assert witness.last_note().size == 5


def test_the_last_note_of_a_long_file_is_found(file: Path) -> None:
    file.write_text("\n".join(note(size) for size in range(1, 400)))
    assert witness.last_note() == LastNote(399, note(399))


@pytest.mark.parametrize(
    "filled", [b"\n" * 10_000, b"\n" + b"x\n\n" * 4_000, b"\n" * (8_192 - len(note(3)) // 2)]
)
def test_the_last_note_is_found_behind_whatever_was_appended(file: Path, filled: bytes) -> None:
    file.write_bytes(f"{note(2)}\n{note(3)}".encode() + filled)
    assert witness.last_note() == LastNote(3, note(3))


def test_a_file_without_a_note_is_not_an_empty_one(file: Path) -> None:
    file.write_text("\n" * 10_000)
    assert witness.last_note() == LastNote(0, "\n" * 10_000)


def test_bytes_that_are_no_text_are_passed_over(file: Path) -> None:
    file.write_bytes(note(2).encode() + b"\n\x00\xff\xfe (cut short)\n\n" + note(3).encode())
    assert [found.size for found in witness.notes()] == [2, 3]
