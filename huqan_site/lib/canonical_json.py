"""One text for one JSON value (RFC 8785, JCS): what is stored, hashed, shown and run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import rfc8785

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"


def canonical(value: JSON) -> str:
    """The RFC 8785 text of `value`.

    Raises `ValueError` for what `strict_json.read` would never have let in: an integer beyond
    ±(2^53-1), NaN, an infinity, a lone surrogate, a key that is not a string.
    """
    return rfc8785.dumps(value).decode()


def digest(value: JSON) -> str:
    """`sha256:<hex>` over the UTF-8 bytes of the canonical text."""
    return "sha256:" + hashlib.sha256(canonical(value).encode()).hexdigest()
