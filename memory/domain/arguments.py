"""The arguments of the tools that the console carries out itself: their closed schemas, and the times in them.

Whether there is a word in `content` is admission's to say, not a matter of shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from huqan_site.lib.problems import FieldError
from memory.domain.validity import BadInterval, BadTime, Interval, parse_time
from review.domain.refusals import Invalid

Arguments = Mapping[str, Any]

WRITE, ERASE, RESOLVE = "memory.write", "memory.erase", "memory.resolve"
"""Tools that code asks for by name."""

_NAME = {"type": "string", "minLength": 1, "maxLength": 500}
_TIME = {"type": "string", "format": "date-time"}
_REASON = {"type": "string", "minLength": 1, "maxLength": 4000, "pattern": r"\S"}
_ID = {"type": "string", "format": "uuid", "minLength": 36, "maxLength": 36}

MEMORY_WRITE: Mapping[str, Any] = {
    "type": "object",
    "required": ["content"],
    "additionalProperties": False,
    "properties": {
        "content": {"type": "string"},
        "subject": _NAME,
        "predicate": _NAME,
        "provenance": {
            "type": "object",
            "required": ["kind"],
            "additionalProperties": False,
            "properties": {
                "kind": {"type": "string", "minLength": 1, "maxLength": 64},
                "ref": {"type": "string", "minLength": 1, "maxLength": 2000},
                "title": {"type": "string", "minLength": 1, "maxLength": 500},
                "derived_from": {
                    "type": "array",
                    "maxItems": 100,
                    "uniqueItems": True,
                    "items": _ID,
                },
            },
        },
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "untrusted": {"type": "boolean"},
        "valid_from": _TIME,
        "valid_to": _TIME,
        "expires_at": _TIME,
        "lang": {"enum": ["en", "tr"]},
    },
}

MEMORY_SUPERSEDE: Mapping[str, Any] = {
    **MEMORY_WRITE,
    "required": ["record", "content"],
    "properties": {"record": _ID, **MEMORY_WRITE["properties"]},
}

MEMORY_RETRACT: Mapping[str, Any] = {
    "type": "object",
    "required": ["record", "reason"],
    "additionalProperties": False,
    "properties": {"record": _ID, "reason": _REASON},
}

MEMORY_RELEASE = MEMORY_RETRACT
"""What was set aside, and why it was."""

TOMBSTONE_LIFT: Mapping[str, Any] = {
    "type": "object",
    "required": ["tombstone", "reason"],
    "additionalProperties": False,
    "properties": {"tombstone": _ID, "reason": _REASON},
}

_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}

MEMORY_ERASE: Mapping[str, Any] = {
    "type": "object",
    "required": ["reason"],
    "additionalProperties": False,
    "properties": {"record": _ID, "about": _DIGEST, "reason": _REASON},
    "oneOf": [{"required": ["record"]}, {"required": ["about"]}],
}
"""`about` is a label as a keyed digest: what is kept of an erasure must not say again what it erased."""

_TIMES = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"valid_from": _TIME, "valid_to": _TIME},
}

ANSWERS = KEEP_OLD, KEEP_NEW, KEEP_BOTH, REMOVE_BOTH = "keep_old", "keep_new", "keep_both", "remove_both"
"""What a person can make of a conflict."""

MEMORY_RESOLVE: Mapping[str, Any] = {
    "type": "object",
    "required": ["conflict", "answer", "reason"],
    "additionalProperties": False,
    "properties": {
        "conflict": _ID,
        "answer": {"enum": list(ANSWERS)},
        "old": _TIMES,
        "new": _TIMES,
        "reason": _REASON,
    },
}
"""`old` and `new` say when each side holds, where both are kept."""

ONE_RECORD: Mapping[str, Any] = {
    "type": "object",
    "required": ["record"],
    "additionalProperties": False,
    "properties": {"record": _ID},
}
"""What `memory.archive` and `memory.restore` take."""


def record_of(arguments: Arguments) -> UUID:
    """Return the record that checked arguments name."""
    return UUID(arguments["record"])


def tombstone_of(arguments: Arguments) -> UUID:
    """Return the tombstone that checked arguments name."""
    return UUID(arguments["tombstone"])


def conflict_of(arguments: Arguments) -> UUID:
    """Return the conflict that checked arguments name."""
    return UUID(arguments["conflict"])


def moment(arguments: Arguments, name: str, at: str = "/arguments") -> datetime | None:
    """Return the time that stands under `name`, in UTC, or None where none does. Raises: Invalid."""
    if arguments.get(name) is None:
        return None
    try:
        return parse_time(arguments[name])
    except BadTime as bad:
        raise _invalid(f"{at}/{name}", bad.detail) from None


def validity(arguments: Arguments, at: str = "/arguments") -> Interval:
    """Return when the content holds in the world. Raises: Invalid for an interval without a moment."""
    start, end = moment(arguments, "valid_from", at), moment(arguments, "valid_to", at)
    try:
        return Interval(start, end)
    except BadInterval as bad:
        raise _invalid(f"{at}/valid_to", bad.detail) from None


def validity_of(arguments: Arguments, side: str) -> Interval:
    """Return when one `side` of a conflict, "old" or "new", holds, where both are kept. Raises: Invalid."""
    return validity(arguments.get(side, {}), f"/arguments/{side}")


def _invalid(pointer: str, detail: str) -> Invalid:
    return Invalid(errors=[FieldError(pointer, "time", detail)])
