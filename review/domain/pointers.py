"""JSON Pointers (RFC 6901): how a place in the arguments is named, on pages and in refusals."""

from __future__ import annotations

from collections.abc import Iterable

from huqan_site.lib.canonical_json import JSON


class Nowhere(LookupError):
    """The pointer names nothing in the value."""


def step(key: str | int) -> str:
    """Return one reference token with its slash: `a/b` is `/a~1b`."""
    token = str(key)
    return "/" + (token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token)


def pointer(path: Iterable[str | int]) -> str:
    """Return the pointer of the keys and indexes in `path`; the empty string is the whole value."""
    return "".join(map(step, path))


def lookup(value: JSON, where: str) -> JSON:
    """Return what stands at the pointer `where` in `value`.

    Raises: Nowhere.
    """
    for token in where.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        value = _member(value, key)
    return value


def _member(value: JSON, key: str) -> JSON:
    found: JSON
    if isinstance(value, dict) and key in value:
        found = value[key]
    elif isinstance(value, list) and _is_index(key) and int(key) < len(value):
        found = value[int(key)]
    else:
        raise Nowhere(key)
    return found


def _is_index(token: str) -> bool:
    return token.isascii() and token.isdigit() and len(token) < 10 and (token == "0" or token[0] != "0")
