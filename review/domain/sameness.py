"""Which calls are alike, so that a list can set them side by side: one tool, and one target or equal arguments."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from huqan_site.lib.canonical_json import digest

Item = TypeVar("Item")

TARGETS = ("to", "account", "record", "order", "path", "url", "id")


def target(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what a call acts on: the first member that names an address, an account, a record …"""
    for name in TARGETS:
        if name in arguments:
            return name, json.dumps(arguments[name], sort_keys=True)
    return None


def same_key(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return 64 hex digits that are equal for alike calls; where nothing names a target, all arguments count."""
    acts_on = target(arguments)
    alike = list(acts_on) if acts_on else [dict(arguments)]
    return digest([tool.casefold(), *alike]).removeprefix("sha256:")


def put_together(items: Sequence[Item], keys: Sequence[str | None]) -> list[tuple[str | None, list[Item]]]:
    """Return `items` by the key that several share, and under None those that stand alone.

    Each group, and what stands alone, comes where its first one stood; inside it the order stays.
    """
    times, found = Counter(keys), defaultdict[str | None, list[Item]](list)
    for item, key in zip(items, keys, strict=True):
        found[key if times[key] > 1 else None].append(item)
    return list(found.items())
