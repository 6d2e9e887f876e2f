"""Where the text of a JSON value is: every string and every key, each with its pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from huqan_site.lib.canonical_json import JSON


def strings(value: JSON, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield `(pointer, text)` for every string and key in `value`, in stored order.

    Pointers follow RFC 6901. A key has its member's pointer with `#` behind it, the sign that
    Relative JSON Pointer uses for "the name, not the value".
    """
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield f"{pointer}/{escaped(key)}#", key
            yield from strings(member, f"{pointer}/{escaped(key)}")
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from strings(item, f"{pointer}/{index}")


def escaped(key: str) -> str:
    """`key` as one reference token of a JSON Pointer (RFC 6901, section 3)."""
    return key.replace("~", "~0").replace("/", "~1")
