"""A diff as its page shows it: sides with runs, unchanged places folded where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.domain.diff import EVERY, FIRST, Cap, Change, Diff, Leaf, Row, compare, whole
from review.queries.bases import Base

LONG = 4096  # bytes; a longer value starts folded and holds Approve back until it was opened
NEAR = 60  # characters shown beside a change
FAR = 480  # characters between changes from which the middle of them is folded
LEAD = 1_200  # characters of the changes that are shown before a long value


Run = tuple[str, str]
"""What becomes of a stretch of text ("same", "del" or "ins"), and the text."""


ALL = "all"


class Asked(NamedTuple):
    """What an address asks for: the key of a base, or nothing for the reviewed one; and `rows=all`."""

    base: str
    rows: str

    def __str__(self) -> str:
        said = urlencode({name: value for name, value in self._asdict().items() if value})
        return f"?{said}" if said else ""

    @property
    def cap(self) -> Cap:
        """How many rows that is."""
        return EVERY if self.rows else FIRST

    def of_all(self) -> Asked:
        """Return the same with every row."""
        return self._replace(rows=ALL)


def asked_of(request: HttpRequest) -> Asked:
    """Return what the address of a page with a comparison asks for."""
    rows = request.GET.get("rows")
    return Asked(request.GET.get("base", "")[:100], ALL if rows == ALL else "")


def comparison(base: Base, text: str, cap: Cap = FIRST) -> dict[str, Any]:
    """Return what templates/components/diff.html shows of `text` against `base`."""
    diff = whole(text, cap) if base.text is None else compare(base.text, text, cap)
    against = base.text is not None
    return {
        "against": against,
        "title_note": _changes(diff) if against else _values(diff),
        "items_in_order": list(_items(diff, against)),
        "many": len(diff.rows) > FIRST.changed,
        "more": diff.more,
        "unread": diff.more_changes if against else diff.more,
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
        "anchor": _anchor(row),
        "new": _side(row.new, [("same", row.new.text)]) if row.new else None,
    }


def _changed(row: Row, first: bool) -> dict[str, Any]:
    return {
        "pointer": row.pointer or "/",
        "anchor": _anchor(row),
        "kind": row.change.value,
        "typed": row.change is Change.TYPE_CHANGED,
        "was": row.was,
        "old": _side(row.old, _runs(row, "del")) if row.old and row.change is not Change.MOVED else None,
        "new": _side(row.new, _runs(row, "ins")) if row.new else None,
        "first": first,
    }


def anchor(pointer: str) -> str:
    """Return the id of the row at `pointer`, which as it stands is also what follows the # of an address."""
    return quote(pointer or "/", safe="/~")


def _anchor(row: Row) -> str:
    """What went has no place any more; its old one may be another's now."""
    return f"was{anchor(row.pointer)}" if row.change is Change.REMOVED else anchor(row.pointer)


def _side(leaf: Leaf, runs: list[Run]) -> dict[str, Any]:
    size = len(leaf.text.encode())
    parts = list(_parts(runs))
    leads = size > LONG and len(runs) > 1
    return {
        "type": leaf.type,
        "runs": runs,
        "long": size > LONG,
        "size": size,
        "lead": list(_lead(parts)) if leads else None,
        "parts": parts if len(parts) > 1 and not leads else None,
    }


def _parts(runs: list[Run]) -> Iterator[dict[str, Any]]:
    """Cut a side so that what changed stands together: a `folded` part lies far from every change."""
    near: list[Run] = []
    for place, (kind, text) in enumerate(runs):
        before, after = NEAR * (place > 0), NEAR * (place < len(runs) - 1)
        if kind != "same" or len(runs) == 1 or len(text) <= before + after + FAR:
            near.append((kind, text))
            continue
        end = len(text) - after
        yield {"runs": [*near, (kind, text[:before])], "folded": 0}
        yield {"runs": [(kind, text[before:end])], "folded": end - before}
        near = [(kind, text[end:])]
    yield {"runs": near, "folded": 0}


def _lead(parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The first changes with what stands beside them; of the rest how many characters there are."""
    left = LEAD
    for place, part in enumerate(parts):
        if part["folded"]:
            yield part
            continue
        yield {"runs": list(_cut(part["runs"], left)), "folded": 0}
        left -= _length(part["runs"])
        if left < 0:
            yield {"rest": sum(_length(later["runs"]) for later in parts[place + 1 :]) - left}
            return


def _cut(runs: list[Run], letters: int) -> Iterator[Run]:
    for kind, text in runs:
        if letters > 0:
            yield kind, text[:letters]
        letters -= len(text)


def _length(runs: list[Run]) -> int:
    return sum(len(text) for _, text in runs)


def _runs(row: Row, mark: str) -> list[Run]:
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
        (Change.MOVED, _("%(n)d moved")),
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


def pointed(warnings: list[dict[str, Any]], diff: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the notices, those about a place with a link to its row where `comparison` gave it one."""
    rows = {row["anchor"] for item in diff["items_in_order"] for row in item.get("unchanged", [item])}
    return [
        {**warning, "link_url": f"#{place}", "link_label": _("Go to it")}
        if warning.get("pointer") and (place := anchor(warning["pointer"])) in rows
        else warning
        for warning in warnings
    ]


def needs_opening(diff: dict[str, Any]) -> bool:
    """Whether something of what `comparison` gave is folded until a reader opens it, or stands elsewhere."""
    rows = [row for item in diff["items_in_order"] for row in item.get("unchanged", [item])]
    return bool(diff["more"]) or any(row["new"] and row["new"]["long"] for row in rows)
