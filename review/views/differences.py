"""A diff as its page shows it: sides with runs, unchanged places folded where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.domain.diff import Change, Diff, Leaf, Row, compare, whole
from review.queries.bases import Base

LONG = 4096  # bytes; a longer value starts folded and holds Approve back until it was opened


def comparison(base: Base, text: str) -> dict[str, Any]:
    """Return what templates/components/diff.html shows of `text` against `base`."""
    diff = whole(text) if base.text is None else compare(base.text, text)
    against = base.text is not None
    return {
        "against": against,
        "title_note": _changes(diff) if against else _values(diff),
        "items_in_order": list(_items(diff, against)),
        "more": diff.more,
    }


def _items(diff: Diff, against: bool) -> Iterator[dict[str, Any]]:
    first = True
    for unchanged, rows in groupby(diff.rows, key=lambda row: row.change is Change.UNCHANGED):
        if unchanged and against:
            yield {"unchanged": [_value(row) for row in rows]}
            continue
        for row in rows:
            yield _changed(row, first) if against else _value(row)
            first = False


def _value(row: Row) -> dict[str, Any]:
    return {
        "pointer": row.pointer or "/",
        "new": _side(row.new, [("same", row.new.text)]) if row.new else None,
    }


def _changed(row: Row, first: bool) -> dict[str, Any]:
    return {
        "pointer": row.pointer or "/",
        "kind": row.change.value,
        "old": _side(row.old, _runs(row, "del")) if row.old else None,
        "new": _side(row.new, _runs(row, "ins")) if row.new else None,
        "first": first,
    }


def _side(leaf: Leaf, runs: list[tuple[str, str]]) -> dict[str, Any]:
    size = len(leaf.text.encode())
    return {"type": leaf.type, "runs": runs, "long": size > LONG, "size": size}


def _runs(row: Row, mark: str) -> list[tuple[str, str]]:
    """One side as runs: what both sides share, and what only this one has."""
    leaf = row.old if mark == "del" else row.new
    assert leaf is not None
    if row.change is not Change.CHANGED:
        return [("same", leaf.text)]
    if not row.words:
        return [(mark, leaf.text)]
    texts = [(piece.op, piece.old if mark == "del" else piece.new) for piece in row.words]
    return [("same" if op == "equal" else mark, text) for op, text in texts if text]


def _changes(diff: Diff) -> str:
    named = (
        (Change.CHANGED, _("%(n)d changed")),
        (Change.TYPE_CHANGED, _("%(n)d type changed")),
        (Change.ADDED, _("%(n)d added")),
        (Change.REMOVED, _("%(n)d removed")),
        (Change.UNCHANGED, _("%(n)d unchanged")),
    )
    return ", ".join(text % {"n": diff.counts[change]} for change, text in named if diff.counts.get(change))


def _values(diff: Diff) -> str:
    number = sum(diff.counts.values())
    return ngettext(
        "%(n)d value, nothing earlier to compare with",
        "%(n)d values, nothing earlier to compare with",
        number,
    ) % {"n": number}


def needs_opening(diff: dict[str, Any]) -> bool:
    """Whether something of what `comparison` gave is folded until a reader opens it, or stands elsewhere."""
    rows = [row for item in diff["items_in_order"] for row in item.get("unchanged", [item])]
    return bool(diff["more"]) or any(row["new"] and row["new"]["long"] for row in rows)
