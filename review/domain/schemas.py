"""JSON Schema 2020-12 for arguments: only what is checked is taken, and what is taken is bounded.

An unknown keyword would be ignored by the standard and believed by the manager who wrote it, so it is
refused. Nothing is fetched: the registry is empty and a `$ref` names one of the schema's own `$defs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, cast

from jsonschema import Draft202012Validator, FormatChecker, SchemaError
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry

from huqan_site.lib.canonical_json import JSON, canonical
from huqan_site.lib.problems import FieldError
from review.domain import patterns
from review.domain.pointers import pointer, step

Schema = Mapping[str, Any] | bool

MAX_ERRORS = 50
MAX_WEIGHT = 500
"""Subschemas and listed values that one argument may meet, each `$ref` counted as often as it is used."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FORMATS = ("date", "date-time", "email", "ipv4", "ipv6", "uuid")

_ONE = {"additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"} | {
    "unevaluatedItems",
    "unevaluatedProperties",
}
_MANY = {"allOf", "anyOf", "oneOf", "prefixItems"}
_NAMED = {"properties", "dependentSchemas"}
_PLAIN = {"type", "enum", "const", "required", "dependentRequired", "uniqueItems", "multipleOf", "format"} | {
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties"),
    *("$schema", "$ref", "$defs", "$comment", "title", "description", "default", "examples", "deprecated"),
}
_KEYWORDS = _ONE | _MANY | _NAMED | _PLAIN
_REF = re.compile(r"#/\$defs/([A-Za-z0-9_.-]+)")


class _TooLong(Exception):
    """A text is longer than a pattern may be tried on. Not a ValidationError: under `not` that would pass."""


def _pattern(_: Any, pattern: str, text: Any, __: Any) -> Iterator[ValidationError]:
    if not isinstance(text, str):
        return
    if len(text) > patterns.MAX_TEXT:
        raise _TooLong
    if not patterns.compiled(pattern).search(text):
        yield ValidationError("pattern")


def _unique(_: Any, wanted: bool, items: Any, __: Any) -> Iterator[ValidationError]:
    # The library compares every pair where items cannot be sorted: hours for ten thousand objects.
    if wanted and isinstance(items, list) and len({canonical(item) for item in items}) < len(items):
        yield ValidationError("uniqueItems")


_formats = FormatChecker(formats=set(FORMATS) - {"date-time"})


@_formats.checks("date-time", raises=ValueError)
def _is_date_time(text: object) -> bool:
    """RFC 3339: a full date, a time and an offset. What is not a string is not judged by a format."""
    return not isinstance(text, str) or ("T" in text and datetime.fromisoformat(text).tzinfo is not None)


_Validator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique}, format_checker=_formats
)


def errors(schema: Schema, value: JSON, at: str = "") -> list[FieldError]:
    """Return where `value` is not as `schema` says, at most 50 places; their pointers begin with `at`.

    The sentences name what is expected and never repeat the value, which may be long or secret.
    """
    validator = _Validator(schema, registry=Registry(), format_checker=_formats)
    try:
        found = islice(validator.iter_errors(value), MAX_ERRORS)
        fields = {field: None for error in found for field in _fields(error, at)}
    except _TooLong:
        sentence = (
            f"A text that must match a pattern is longer than {patterns.MAX_TEXT} characters. Shorten it."
        )
        return [FieldError(at, "too_long", sentence)]
    return list(fields)[:MAX_ERRORS]


def _fields(error: ValidationError, at: str) -> Iterator[FieldError]:
    place = at + pointer(error.absolute_path)
    value, wanted = cast(Any, error.instance), cast(Any, error.validator_value)
    if error.validator == "required":
        for name in (name for name in wanted if name not in value):
            yield FieldError(place + step(name), "required", "This is needed. Send it.")
    elif error.validator in ("additionalProperties", "unevaluatedProperties") and wanted is False:
        known = cast(Mapping[str, Any], error.schema).get("properties", {})
        for name in (name for name in value if name not in known):
            yield FieldError(place + step(name), "unknown_field", "Not known here. Leave it out.")
    else:
        yield FieldError(place, _code(error), _sentence(error))


def _code(error: ValidationError) -> str:
    return re.sub("([A-Z])", r"_\1", str(error.validator or "forbidden")).lower()


_SENTENCES = {
    "minLength": "Must have at least {} characters.",
    "maxLength": "Must have at most {} characters.",
    "minItems": "Must have at least {} items.",
    "maxItems": "Must have at most {} items.",
    "minProperties": "Must have at least {} members.",
    "maxProperties": "Must have at most {} members.",
    "minimum": "Must be {} or more.",
    "maximum": "Must be {} or less.",
    "exclusiveMinimum": "Must be more than {}.",
    "exclusiveMaximum": "Must be less than {}.",
    "multipleOf": "Must be a multiple of {}.",
    "pattern": "Must match the pattern {}",
    "format": "Must be in the format {}.",
    "const": "Must be exactly {}.",
    "uniqueItems": "Must not hold the same item twice.",
    "not": "Must not have this form.",
    "anyOf": "Has none of the forms that are taken here.",
    "oneOf": "Must have exactly one of the forms that are taken here.",
}


def _sentence(error: ValidationError | SchemaError) -> str:
    wanted = cast(Any, error.validator_value)
    if error.validator == "type":
        return f"Must be of type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}."
    if error.validator == "enum":
        return f"Must be one of: {', '.join(map(canonical, wanted[:20]))}."
    if not error.validator:  # the schema `false`
        return "Nothing is taken here. Leave it out."
    template = _SENTENCES.get(str(error.validator), f"Does not meet `{error.validator}` of the schema.")
    return template.format(wanted if isinstance(wanted, str) else canonical(wanted))


def faults(schema: Schema, at: str = "") -> list[FieldError]:
    """Return what is wrong with the schema itself; an empty list means that `errors` can use it."""
    try:
        _Validator.check_schema(schema)
    except SchemaError as error:
        return [
            FieldError(
                at + pointer(error.absolute_path), "schema", f"Not JSON Schema 2020-12: {_sentence(error)}"
            )
        ]
    reader = _Reader(schema, at)
    weight = reader.weigh()
    if not reader.faults and weight > MAX_WEIGHT:
        reader.fault(
            at, f"The schema is too large: {weight} parts with each `$ref` written out, {MAX_WEIGHT} at most."
        )
    return reader.faults


class _Reader:
    """Walks a schema once: refuses what would not be checked, follows references, and weighs."""

    def __init__(self, root: Schema, at: str) -> None:
        self.faults: list[FieldError] = []
        self._root = root
        self._at = at
        self._definitions: Mapping[str, Schema] = root.get("$defs", {}) if isinstance(root, Mapping) else {}
        self._weights: dict[str, int | None] = {}  # None while a definition is being weighed

    def fault(self, place: str, sentence: str) -> None:
        self.faults.append(FieldError(place, "schema", sentence))

    def weigh(self) -> int:
        """Return the weight of the whole; definitions that nothing uses are checked and weigh nothing."""
        weight = self._weight(self._root, self._at)
        for name in self._definitions:
            self._defined(name, f"{self._at}/$defs{step(name)}")
        return weight

    def _weight(self, schema: Schema, place: str) -> int:
        if isinstance(schema, bool):
            return 1
        for keyword in schema.keys() - _KEYWORDS:
            self.fault(place + step(keyword), "Not a keyword that is checked here. Leave it out.")
        self._check(schema, place)
        parts = sum(self._weight(part, place + where) for where, part in _parts(schema))
        return 1 + parts + len(schema.get("enum", ())) + self._referred(schema.get("$ref"), place)

    def _check(self, schema: Mapping[str, Any], place: str) -> None:
        if "$defs" in schema and place != self._at:
            self.fault(place + "/$defs", "Definitions stand at the top of the schema only.")
        if schema.get("$schema", DIALECT) != DIALECT:
            self.fault(place + "/$schema", f"Only {DIALECT} is taken.")
        if schema.get("format", "date") not in FORMATS:
            self.fault(place + "/format", f"Only these formats are checked: {', '.join(FORMATS)}.")
        try:
            patterns.compiled(schema.get("pattern", ""))
        except patterns.Unbounded as why:
            self.fault(place + "/pattern", str(why))

    def _referred(self, reference: str | None, place: str) -> int:
        if reference is None:
            return 0
        named = _REF.fullmatch(reference)
        if named is None or named[1] not in self._definitions:
            self.fault(place + "/$ref", "A reference names one of the schema's own `$defs`, as #/$defs/name.")
            return 0
        return self._defined(named[1], place)

    def _defined(self, name: str, place: str) -> int:
        if name in self._weights:
            known = self._weights[name]
            if known is None:
                self.fault(place + "/$ref", "A definition must not lead back to itself.")
            return known or 0
        self._weights[name] = None
        weight = self._weight(self._definitions[name], f"{self._at}/$defs{step(name)}")
        self._weights[name] = weight
        return weight


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Schema]]:
    """The subschemas that stand directly in `schema`, each with its pointer from there."""
    for keyword in schema.keys() & _KEYWORDS:
        value = schema[keyword]
        if keyword in _ONE:
            yield step(keyword), value
        elif keyword in _MANY:
            yield from ((f"/{keyword}/{place}", part) for place, part in enumerate(value))
        elif keyword in _NAMED:
            yield from ((step(keyword) + step(name), part) for name, part in value.items())
