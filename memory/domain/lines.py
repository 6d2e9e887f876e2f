"""A file of memories, as it is exported and imported: one JSON object a line, each read as strictly as a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from huqan_site.lib import strict_json
from huqan_site.lib.canonical_json import JSON
from memory.domain.arguments import ANSWERS, MEMORY_WRITE, moment, validity
from review.domain import schemas
from review.domain.refusals import Invalid

WORKSPACE, TRUST, HELD = "workspace", "trust", "quarantined"
VERSION = 2
FORMER, CONFLICTS = "former_validity", "conflicts"
MOST_LINES = 10_000
MOST_FAULTS = 50

_TIME = {"type": "string", "format": "date-time"}
_ID = {"type": "string", "format": "uuid"}

LINE: Mapping[str, Any] = {
    "$schema": schemas.DIALECT,
    "title": "One memory",
    "description": "One line of the file, in UTF-8. What stands beside the arguments of memory.write is told by "
    "an export; an import believes no trust but quarantined, and no conflict resolved. The first version had no v.",
    "type": "object",
    "required": ["content"],
    "additionalProperties": False,
    "properties": {
        **MEMORY_WRITE["properties"],
        "v": {"const": VERSION},
        "id": _ID,
        WORKSPACE: {"type": "string", "minLength": 1, "maxLength": 64},
        TRUST: {"enum": ["trusted", HELD]},
        "recorded_at": _TIME,
        FORMER: {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["until"],
                "additionalProperties": False,
                "properties": {"valid_from": _TIME, "valid_to": _TIME, "until": _TIME},
            },
        },
        CONFLICTS: {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["with", "opened_at"],
                "additionalProperties": False,
                "properties": {
                    "with": _ID,
                    "opened_at": _TIME,
                    "answer": {"enum": list(ANSWERS)},
                    "resolved_at": _TIME,
                },
            },
        },
    },
}
"""The published schema of a line (JSON Schema 2020-12)."""


class Line(NamedTuple):
    """A line that can be read: its number from 1, the workspace it names, and what it asks to remember.

    `id` is that of the memory where it comes from, and `disputed` whether a conflict about it was open there.
    """

    number: int
    workspace: str | None
    arguments: Mapping[str, Any]
    id: str | None = None
    disputed: bool = False


class Fault(NamedTuple):
    """Why a line cannot be read: its number from 1, and where in it (JSON Pointer; empty: the whole line)."""

    line: int
    pointer: str
    code: str
    detail: str


class Unfit(Invalid):
    """A file of which nothing is imported, since these lines of it cannot be read."""

    title = "The file cannot be imported"

    def __init__(self, faults: Iterable[Fault]) -> None:
        super().__init__("Nothing is imported. Correct the lines named here and send the file again.")
        self.faults = list(faults)


def read(lines: Iterable[bytes]) -> list[Line]:
    """Return every line of a file that is not blank.

    Raises: Unfit with the faults of the file, at most 50 of them, where there is one.
    """
    numbered = ((number, line.strip(b" \t\r\n")) for number, line in enumerate(lines, 1))
    found = [_read(number, line) for number, line in islice(numbered, MOST_LINES + 1) if line]
    faults = (one for one in found if isinstance(one, Fault))
    if first := list(islice(faults, MOST_FAULTS)):
        raise Unfit(first)
    return [one for one in found if isinstance(one, Line)]


def _read(number: int, line: bytes) -> Line | Fault:
    if number > MOST_LINES:
        return Fault(number, "", "too_large", _SPLIT)
    try:
        said = strict_json.read(line)
    except strict_json.Unreadable as unreadable:
        return Fault(number, "", unreadable.code, unreadable.detail.replace("The body", "The line"))
    return next(_faults(number, said), None) or _line(number, said)


def _faults(number: int, said: dict[str, JSON]) -> Iterator[Fault]:
    """Yield what the schema has against a line, then times that mean nothing."""
    for error in schemas.errors(LINE, said):
        yield Fault(number, error.pointer, error.code, error.detail)
    try:
        validity(said), moment(said, "expires_at")
        _times_beside(said)
    except Invalid as bad:
        for error in bad.errors:
            yield Fault(number, error.pointer.removeprefix("/arguments"), error.code, error.detail)


def _times_beside(said: Mapping[str, Any]) -> None:
    """Raises: Invalid, where a time that an export tells means nothing."""
    moment(said, "recorded_at")
    for place, former in enumerate(said.get(FORMER, ())):
        at = f"/{FORMER}/{place}"
        validity(former, at), moment(former, "until", at)
    for place, conflict in enumerate(said.get(CONFLICTS, ())):
        for name in ("opened_at", "resolved_at"):
            moment(conflict, name, f"/{CONFLICTS}/{place}")


_SPLIT = f"A file has at most {MOST_LINES} lines. Split it."


def _line(number: int, said: Mapping[str, Any]) -> Line:
    disputed = any("answer" not in conflict for conflict in said.get(CONFLICTS, ()))
    return Line(number, said.get(WORKSPACE), _arguments(said), said.get("id"), disputed)


def _arguments(said: Mapping[str, Any]) -> dict[str, Any]:
    """What the line asks to remember; what was in quarantine where it comes from is untrusted here too."""
    asked = {name: said[name] for name in MEMORY_WRITE["properties"] if name in said}
    return asked | {"untrusted": True} if said.get(TRUST) == HELD else asked
