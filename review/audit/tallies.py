"""What a period of the log adds up to, for the figures that managers see.

The time of entries never goes back, so a period is a range of entries, which every index of the log ends with.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from review.audit.actions import Action
from review.audit.chain import stamp
from review.audit.models import Entry


class Range(NamedTuple):
    """The entries from `first` up to and without `stop`; an open end is None."""

    first: int | None
    stop: int | None


def span(since: datetime | None, until: datetime | None) -> Range:
    """Return which entries were written from `since` until just before `until`; None is an open end.

    Two look-ups, however long the log is.
    """
    return Range(_first_since(since), _first_since(until))


def newest(
    workspaces: Iterable[UUID],
    actions: Collection[Action],
    within: Range,
    *fields: str,
    limit: int,
    tool: str = "",
) -> list[tuple[Any, ...]]:
    """Return `fields` of at most `limit` entries of these `actions`, the newest first; of one `tool` if it is named.

    Asked once for each workspace and action: so each follows its index, also where an action is rare.
    """
    wanted: dict[str, Any] = {**bounds(within), **({"tool": tool} if tool else {})}
    parts = [
        Entry.objects.filter(workspace=str(workspace), action=action, **wanted)
        .order_by("-seq")
        .values_list("seq", *fields)[:limit]
        for workspace in workspaces
        for action in actions
    ]
    return [row[1:] for row in islice(merge(*parts, key=lambda row: -row[0]), limit)]


def code_of(text: str) -> str:
    """Return the code of the refusal that an entry with this canonical `text` tells of, or nothing."""
    return str(json.loads(text).get("after", {}).get("code", ""))


def bounds(within: Range) -> dict[str, int]:
    """Return `within` as conditions on the entry."""
    wanted = {"seq__gte": within.first, "seq__lt": within.stop}
    return {name: value for name, value in wanted.items() if value is not None}


def _first_since(moment: datetime | None) -> int | None:
    """The first entry at or after `moment`; where there is none, one that no entry reaches."""
    if moment is None:
        return None
    later = Entry.objects.filter(stamp__gte=stamp(moment)).order_by("stamp", "seq")
    found = later.values_list("seq", flat=True).first()
    return _BEYOND if found is None else found


_BEYOND = 2**63 - 1
