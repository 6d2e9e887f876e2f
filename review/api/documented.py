"""What every call may answer, for the OpenAPI document: the refusals beside the answers, and the headers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from huqan_site.lib.strict_json import MAX_INTEGER
from review.api.schemas import ProblemOut

ALWAYS = (401, 403, 405, 429, 503)
WITH_A_BODY = (400, 413, 415, 422)
# The reader's bounds in the words of JSON Schema; for its limits on size there are none.
OBJECT: Mapping[str, Any] = {
    "type": "object",
    "propertyNames": {"not": {"const": "__proto__"}},
    "additionalProperties": {"$ref": "#/components/schemas/Value"},
}
VALUE: Mapping[str, Any] = {
    "description": "JSON: at most 32 levels, 10,000 values and 128 KiB in a string; no U+0000, no half surrogate.",
    "anyOf": [
        {"type": ["string", "boolean", "null"]},
        {"type": "number", "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER},
        {"type": "array", "items": {"$ref": "#/components/schemas/Value"}},
        OBJECT,
    ],
}
PROBLEM = "application/problem+json"

TAKEN: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Idempotency-Key": (
        "The same key with the same body gives the same answer and does nothing twice.",
        {"type": "string", "maxLength": 255, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    ),
    "Prefer": (
        "`wait=N` holds the answer back, for at most 25 seconds, until the proposal changes (RFC 7240).",
        {"type": "string"},
    ),
    "If-None-Match": ("The ETag that is known: 304 while nothing changed.", {"type": "string"}),
}
GIVEN: Mapping[str, tuple[bool, str, Mapping[str, Any]]] = {
    "Allow": (True, "The methods that this address takes.", {"type": "string"}),
    "ETag": (True, "Names this state of the proposal.", {"type": "string", "pattern": '^"[0-9a-f]{32}"$'}),
    "Idempotent-Replayed": (
        True,
        "The key and the body were sent before; this is that proposal as it is now.",
        {"type": "string", "enum": ["true"]},
    ),
    "Location": (True, "Where the proposal is read.", {"type": "string", "pattern": "^/api/v1/proposals/"}),
    "Preference-Applied": (False, "Present where the answer was held back.", {"type": "string"}),
    "Retry-After": (True, "After how many seconds to ask again.", {"type": "integer", "minimum": 1}),
    "WWW-Authenticate": (True, "The scheme that is taken.", {"type": "string", "enum": ["Bearer"]}),
}
ON_REFUSALS = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


def answers(good: Mapping[int, Any], *, body: bool = False, refuses: Iterable[int] = ()) -> dict[int, Any]:
    """Return ninja's response table: `good` answers, what any call may refuse, and what this one may."""
    statuses = {*ALWAYS, *refuses, *(WITH_A_BODY if body else ())}
    return {**good, **dict.fromkeys(sorted(statuses), ProblemOut)}


def headers(
    *taken: str, given: Mapping[int, Sequence[str]] | None = None
) -> dict[str, list[dict[str, Any]] | dict[int, Any]]:
    """Return ninja's `openapi_extra`: the request's headers, and those of the answers by status."""
    return {
        "parameters": [_taken(name) for name in taken],
        "responses": {status: {"headers": _given(names)} for status, names in (given or {}).items()},
    }


def complete(document: dict[str, Any]) -> None:
    """Say in `document` what ninja cannot know: how refusals look, and what a query and arguments may hold."""
    schemas = document["components"]["schemas"]
    for name in [name for name in schemas if "arguments" in schemas[name].get("properties", {})]:
        _bound(schemas[name]["properties"]["arguments"])
    schemas["Value"] = VALUE
    for methods in document["paths"].values():
        for call in methods.values():
            for parameter in call["parameters"]:
                parameter["schema"] = _never_null(parameter["schema"])
            for medium in call.get("requestBody", {}).get("content", {}).values():
                medium["schema"] = _never_null(medium["schema"])
            for status, answer in call["responses"].items():
                _complete_answer(int(status), answer)


def _complete_answer(status: int, answer: dict[str, Any]) -> None:
    if status >= 400:
        answer["content"] = {PROBLEM: answer["content"].pop("application/json")}
    if status in ON_REFUSALS:
        answer["headers"] = _given(ON_REFUSALS[status])


def _bound(arguments: dict[str, Any]) -> None:
    """Say what the reader takes inside of arguments, here or where they may be null."""
    for schema in (arguments, *arguments.get("anyOf", ())):
        if schema.get("type") == "object":
            schema |= OBJECT


def _never_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A query can leave a parameter out and a request its body; neither has a way to send null."""
    return next((one for one in schema.get("anyOf", ()) if one != {"type": "null"}), schema)


def _taken(name: str) -> dict[str, Any]:
    description, schema = TAKEN[name]
    return {
        "in": "header",
        "name": name,
        "required": False,
        "description": description,
        "schema": dict(schema),
    }


def _given(names: Iterable[str]) -> dict[str, Any]:
    told = {name: GIVEN[name] for name in names}
    return {
        name: {"required": required, "description": description, "schema": dict(schema)}
        for name, (required, description, schema) in told.items()
    }
