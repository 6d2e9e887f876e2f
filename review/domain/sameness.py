"""Which calls are alike, so that a list can set them side by side: one tool, and one target or equal arguments."""

from __future__ import annotations

import json
from collections import Counter
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
    """Return `items` by the key that several share, each group where its first one stood, in the order they came.

    What stands alone keeps its place between the groups, under None.
    """
    shared = {key for key, times in Counter(keys).items() if key and times > 1}
    found: list[tuple[str | None, list[Item]]] = []
    open_: dict[str | None, list[Item]] = {}
    for item, key in zip(items, keys, strict=True):
        group = key if key in shared else None
        if group not in open_:
            open_.pop(None, None)  # a group stands here: what stands alone after it begins anew
            found.append((group, open_.setdefault(group, [])))
        open_[group].append(item)
    return found
