"""Arguments as a form, and back: a person edits them member by member, and every type stays what it is.

A member is a text of its own, one of a few values, or JSON as it is written. What a form control would not carry
unchanged is shown as JSON, in which characters that hide stand as escapes. Nothing here guesses a type: `1`,
`true`, `"1"` and `null` are told apart because only a text is read as text, all else by the strict reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from huqan_site.lib import strict_json
from huqan_site.lib.canonical_json import JSON, canonical
from huqan_site.lib.problems import FieldError
from review.domain.pointers import step
from review.domain.schemas import Schema

MAX_MEMBERS = 200
NOT_ONE_VALUE = "Not one JSON value. A text stands in double quotes; a number, true, false and null do not."
_KEPT_WHITE = "\n\t "


class Kind(StrEnum):
    """How a member's value is written in the form."""

    TEXT = "text"
    CHOICE = "choice"
    JSON = "json"


@dataclass(frozen=True)
class Field:
    """One member of the arguments. `options` are the canonical texts that a choice offers.

    `kept` is false for a member that the schema knows and the arguments leave out.
    """

    name: str
    kind: Kind
    text: str
    kept: bool = True
    required: bool = False
    options: tuple[str, ...] = ()
    help: str = ""
    type: str = ""

    @property
    def pointer(self) -> str:
        return f"/arguments{step(self.name)}"


@dataclass(frozen=True)
class Written:
    """What a person wrote for one member: its kind says whether `text` is the text itself or JSON."""

    name: str
    kind: Kind
    text: str
    kept: bool = True


def fields(schema: Schema, arguments: Mapping[str, JSON]) -> list[Field] | None:
    """Return the members that `schema` names, in its order, then the others; None where it names none."""
    named = schema.get("properties") if isinstance(schema, Mapping) else None
    names = {*named, *arguments} if named else set()
    if not named or len(names) > MAX_MEMBERS or not all(map(str.isprintable, names)):
        return None
    required = set(schema.get("required", ())) if isinstance(schema, Mapping) else set()
    others = [name for name in arguments if name not in named]
    return [_field(name, named.get(name, True), arguments, name in required) for name in [*named, *others]]


def takes_others(schema: Schema) -> bool:
    """Whether members that the schema does not name may be added."""
    return not (isinstance(schema, Mapping) and schema.get("additionalProperties") is False)


def read(members: Iterable[Written], more: str = "") -> dict[str, JSON]:
    """Return the arguments that the members make, with those in the JSON object `more`.

    Raises: strict_json.Unreadable, with the place in `errors`, for what the reader of every body would refuse.
    """
    arguments: dict[str, JSON] = {}
    for written in members:
        if written.kept:
            arguments[written.name] = _value(written)
    others = read_raw(more) if more.strip() else {}
    if doubled := sorted(set(others) & set(arguments)):
        raise _at(strict_json.DuplicateKey(), f"/arguments{step(doubled[0])}")
    return read_raw(canonical({**arguments, **others}))


def read_raw(text: str) -> dict[str, JSON]:
    """Return the arguments that a JSON text says, by the reader of every body.

    Raises: strict_json.Unreadable.
    """
    try:
        return strict_json.read(text.strip().encode())
    except strict_json.Unreadable as wrong:
        raise _at(wrong, "/arguments") from None


def as_json(value: JSON) -> str:
    """Return `value` as JSON to edit: indented, with escapes for whatever a person would not see."""
    text = json.dumps(json.loads(canonical(value)), ensure_ascii=False, indent=2)
    return "".join(c if _is_seen(c) else _escape(c) for c in text)


def _field(name: str, schema: Schema, arguments: Mapping[str, JSON], required: bool) -> Field:
    members: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    kept, value = name in arguments, arguments.get(name)
    options = tuple(_options(members))
    told = str(members.get("description") or members.get("title") or "")
    kind, text = _kind(members, options, value, kept)
    return Field(
        name, kind, text, kept, required, options if kind is Kind.CHOICE else (), told, _type(members)
    )


def _kind(members: Mapping[str, Any], options: tuple[str, ...], value: JSON, kept: bool) -> tuple[Kind, str]:
    if options and (not kept or canonical(value) in options):
        return Kind.CHOICE, canonical(value) if kept else ""
    if members.get("type") == "string" and (not kept or (isinstance(value, str) and _is_plain(value))):
        return Kind.TEXT, str(value) if kept else ""
    return Kind.JSON, as_json(value) if kept else ""


def _options(members: Mapping[str, Any]) -> Iterator[str]:
    if "const" in members:
        yield canonical(members["const"])
    elif isinstance(members.get("enum"), list):
        yield from dict.fromkeys(map(canonical, members["enum"]))
    elif members.get("type") == "boolean":
        yield from ("true", "false")
    elif members.get("type") == "null":
        yield "null"


def _type(members: Mapping[str, Any]) -> str:
    stated = members.get("type", "")
    return stated if isinstance(stated, str) else " or ".join(map(str, stated))


def _value(written: Written) -> JSON:
    if written.kind is Kind.TEXT:
        return written.text
    where = f"/arguments{step(written.name)}"
    try:
        # The reader takes objects only, so the value travels in one; a second member would be smuggled in.
        holder = strict_json.read(b'{"value":' + written.text.encode() + b"}")
    except strict_json.Malformed:
        raise _at(strict_json.Malformed(NOT_ONE_VALUE), where) from None
    except strict_json.Unreadable as wrong:
        raise _at(wrong, where) from None
    if set(holder) != {"value"}:
        raise _at(strict_json.Malformed(NOT_ONE_VALUE), where)
    return holder["value"]


def _at(wrong: strict_json.Unreadable, pointer: str) -> strict_json.Unreadable:
    wrong.errors = [FieldError(pointer, wrong.code, wrong.detail)]
    return wrong


def _is_plain(text: str) -> bool:
    """Whether a form control carries `text` unchanged, and whoever edits it sees all of it."""
    return not text.startswith("\n") and all(map(_is_seen, text))


def _is_seen(character: str) -> bool:
    chooses_a_variant = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return (character.isprintable() or character in _KEPT_WHITE) and not chooses_a_variant


def _escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
