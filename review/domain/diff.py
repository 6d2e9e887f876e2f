"""The typed difference between two canonical argument texts: what a reviewer reads before he approves.

Values are told apart by type and by canonical text, so 1, true, "1" and null never pass for each other.
Nothing is cut: a long string is compared by word and carried whole. The work is bounded for the worst
256 KiB an agent can send; where a comparison by word would cost too much, it is coarser, never missing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any, NamedTuple

from review.domain.pointers import step
from review.domain.words import Block, Piece, align, by_word, letters

MAX_CHANGED = 2_000
MAX_UNCHANGED = 2_000
MAX_LETTERS = 128 * 1024
"""Characters of both sides found to differ after which further texts show as replaced, not by word."""

MAX_DRIFT = 100


class Change(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    TYPE_CHANGED = "type_changed"
    UNCHANGED = "unchanged"


class Leaf(NamedTuple):
    """A value as it is shown. `text` is a string's own text, for all else the canonical JSON text."""

    type: str
    text: str

    @property
    def json(self) -> str:
        """The canonical JSON text, which tells "1" from 1."""
        return _quoted(self.text) if self.type == "string" else self.text


class Row(NamedTuple):
    """One place. `pointer` is that of the new side, `was` that of the old side where it lay elsewhere."""

    pointer: str
    change: Change
    old: Leaf | None
    new: Leaf | None
    was: str | None = None
    words: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Diff:
    """Rows by place. `counts` covers every place; `more` of them are left out of the rows."""

    rows: tuple[Row, ...]
    counts: Mapping[Change, int]

    @property
    def more(self) -> int:
        return sum(self.counts.values()) - len(self.rows)

    @property
    def changes(self) -> int:
        """How many places differ."""
        return sum(count for change, count in self.counts.items() if change is not Change.UNCHANGED)


def compare(old: str, new: str) -> Diff:
    """Return the rows that lead from one canonical JSON text to another."""
    walk = _Walk()
    walk.compare(_read(old), _read(new), "", "")
    return walk.diff()


def whole(text: str) -> Diff:
    """Return every place of a canonical JSON text as unchanged: what a first revision would run."""
    return compare(text, text)


def drift(approved: str, offered: str | None) -> list[dict[str, Any]]:
    """Return where what is offered differs from what was approved, as JSON members, at most 100."""
    if offered is None:
        return []
    rows = (row for row in compare(approved, offered).rows if row.change is not Change.UNCHANGED)
    return [
        {
            "pointer": row.pointer,
            "change": row.change.value,
            "approved": row.old.json if row.old else None,
            "offered": row.new.json if row.new else None,
        }
        for _, row in zip(range(MAX_DRIFT), rows, strict=False)
    ]


class _Number(tuple[str]):
    """A number by its canonical text. A tuple equals nothing else in JSON, so 1, true and "1" differ."""

    __slots__ = ()


def _read(text: str) -> Any:
    return json.loads(text, parse_int=_number, parse_float=_number)


def _number(text: str) -> _Number:
    return _Number((text,))


_TYPES = {
    str: "string",
    _Number: "number",
    bool: "boolean",
    type(None): "null",
    dict: "object",
    list: "array",
}


def _text(value: Any) -> str:
    match value:
        case str():
            return _quoted(value)
        case _Number():
            return value[0]
        case dict():
            return "{" + ",".join(f"{_quoted(key)}:{_text(part)}" for key, part in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_text, value)) + "]"
        case _:
            return json.dumps(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _leaf(value: Any) -> Leaf:
    return Leaf(_TYPES[type(value)], value if isinstance(value, str) else _text(value))


def _leaves(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """Every place below and at `pointer` that holds no others; an empty object or array is one itself."""
    if value and isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, pointer + step(key))
    elif value and isinstance(value, list):
        for index, part in enumerate(value):
            yield from _leaves(part, f"{pointer}/{index}")
    else:
        yield pointer, value


def _item(value: Any) -> Hashable:
    """What stands for an array's item when items are aligned: equal for equal values only."""
    return repr(value) if isinstance(value, dict | list) else value


class _Walk:
    """Goes through both sides at once. Every place is counted, the first ones of each sort become rows."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._counts: Counter[Change] = Counter()
        self._room = {True: MAX_CHANGED, False: MAX_UNCHANGED}
        self._letters = MAX_LETTERS

    def diff(self) -> Diff:
        return Diff(tuple(self._rows), self._counts)

    def compare(self, old: Any, new: Any, was: str, pointer: str) -> None:
        if old == new:
            self._unchanged(new, was, pointer)
        elif isinstance(old, dict) and isinstance(new, dict):
            self._objects(old, new, was, pointer)
        elif isinstance(old, list) and isinstance(new, list):
            self._arrays(old, new, was, pointer)
        else:
            self._changed(old, new, was, pointer)

    def _objects(self, old: dict[str, Any], new: dict[str, Any], was: str, pointer: str) -> None:
        for key in sorted(old.keys() | new.keys(), key=lambda key: key.encode("utf-16-be")):
            token = step(key)
            if key not in new:
                self._removed(old[key], was + token)
            elif key not in old:
                self._added(new[key], pointer + token)
            else:
                self.compare(old[key], new[key], was + token, pointer + token)

    def _arrays(self, old: list[Any], new: list[Any], was: str, pointer: str) -> None:
        everything = Block(False, 0, len(old), 0, len(new))
        for block in align(*([_item(item) for item in side] for side in (old, new))) or [everything]:
            self._block(block, old, new, was, pointer)

    def _block(self, block: Block, old: list[Any], new: list[Any], was: str, pointer: str) -> None:
        """Compare items one by one, so that an item shows what changed in it; the rest came or went."""
        gone, came = range(block.old_start, block.old_end), range(block.new_start, block.new_end)
        for before, after in zip_longest(gone, came):
            if after is None:
                self._removed(old[before], f"{was}/{before}")
            elif before is None:
                self._added(new[after], f"{pointer}/{after}")
            else:
                self.compare(old[before], new[after], f"{was}/{before}", f"{pointer}/{after}")

    def _unchanged(self, value: Any, was: str, pointer: str) -> None:
        for place, part in _leaves(value, pointer):
            if self._counts_and_keeps(Change.UNCHANGED):
                leaf, before = _leaf(part), was + place[len(pointer) :]
                self._rows.append(
                    Row(place, Change.UNCHANGED, leaf, leaf, before if before != place else None)
                )

    def _changed(self, old: Any, new: Any, was: str, pointer: str) -> None:
        change = Change.CHANGED if type(old) is type(new) else Change.TYPE_CHANGED
        if self._counts_and_keeps(change):
            before = was if was != pointer else None
            self._rows.append(Row(pointer, change, _leaf(old), _leaf(new), before, self._words(old, new)))

    def _words(self, old: Any, new: Any) -> tuple[Piece, ...]:
        if not (isinstance(old, str) and isinstance(new, str)):
            return ()
        pieces = by_word(old, new) if self._letters > 0 else (Piece("replace", old, new),)
        self._letters -= letters(pieces)
        return pieces

    def _removed(self, value: Any, was: str) -> None:
        for place, part in _leaves(value, was):
            if self._counts_and_keeps(Change.REMOVED):
                self._rows.append(Row(place, Change.REMOVED, _leaf(part), None))

    def _added(self, value: Any, pointer: str) -> None:
        for place, part in _leaves(value, pointer):
            if self._counts_and_keeps(Change.ADDED):
                self._rows.append(Row(place, Change.ADDED, None, _leaf(part)))

    def _counts_and_keeps(self, change: Change) -> bool:
        differs = change is not Change.UNCHANGED
        self._counts[change] += 1
        self._room[differs] -= 1
        return self._room[differs] >= 0
