"""The typed difference between two canonical argument texts: what a reviewer reads before he approves.

Values are told apart by type and by canonical text, so 1, true, "1" and null never pass for each other.
Nothing is cut: a long string is compared by word and carried whole. An item of an array that stands elsewhere in
it, just as it was, is a move and not one that went and one that came. The work is bounded for the worst
256 KiB an agent can send; where a comparison by word would cost too much, it is coarser, never missing.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, groupby, islice
from operator import eq, is_
from typing import Any, NamedTuple, cast

from review.domain.pointers import step
from review.domain.words import MAX_LETTERS, Block, Piece, align, by_word

MAX_DRIFT = 100
"""Rows at most of what an executor is told."""


class Cap(NamedTuple):
    """Rows at most: that differ, that do not, and of a first revision."""

    changed: int
    unchanged: int
    whole: int


FIRST = Cap(300, 300, 2_000)
EVERY = Cap(sys.maxsize, sys.maxsize, sys.maxsize)
"""What a reader asks for; the reader of bodies takes at most 10,000 values a side."""

MAX_PAIRS = 40_000
"""Items that went times items that came: beyond that none is looked for at another place."""

_PER_TEXT = 128  # what comparing by word costs at least, in letters


class Change(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    TYPE_CHANGED = "type_changed"
    MOVED = "moved"
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
    """One place. `pointer` is that of the new side, `was` that of the old side where it lay elsewhere.

    What moved is the same on both sides; its old place has no row of its own.
    """

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

    @property
    def more_changes(self) -> int:
        """How many places differ and are left out of the rows."""
        return self.changes - sum(row.change is not Change.UNCHANGED for row in self.rows)


def compare(old: str, new: str, cap: Cap = FIRST) -> Diff:
    """Return the rows that lead from one canonical JSON text to another."""
    return _compared(old, new, cap.changed, cap.unchanged)


def whole(text: str, cap: Cap = FIRST) -> Diff:
    """Return every place of a canonical JSON text as unchanged: what a first revision would run."""
    return _compared(text, text, cap.changed, cap.whole)


def _compared(old: str, new: str, changed: int, unchanged: int) -> Diff:
    walk = _Walk(changed, unchanged)
    walk.compare(_read(old), _read(new), "", "")
    return walk.diff()


def drift(approved: str, offered: str | None) -> list[dict[str, Any]]:
    """Return where what is offered differs from what was approved, as JSON members, at most 100."""
    if offered is None:
        return []
    rows = (
        part
        for row in compare(approved, offered).rows
        if row.change is not Change.UNCHANGED
        for part in _gone_and_come(row)
    )
    return [
        {
            "pointer": row.pointer,
            "change": row.change.value,
            "approved": row.old.json if row.old else None,
            "offered": row.new.json if row.new else None,
        }
        for row in islice(rows, MAX_DRIFT)
    ]


def _gone_and_come(row: Row) -> tuple[Row, ...]:
    """A move as what went and what came; any other row as it is."""
    if row.change is not Change.MOVED:
        return (row,)
    gone = Row(row.was or row.pointer, Change.REMOVED, row.old, None)
    return gone, Row(row.pointer, Change.ADDED, None, row.new)


def _read(text: str) -> Any:
    # A number becomes the bytes of its canonical text: these equal nothing else that JSON has, so 1, true
    # and "1" differ, and 1 and 1.0 cannot both stand in a canonical text.
    return json.loads(text, parse_int=str.encode, parse_float=str.encode)


_TYPES = {
    str: "string",
    bytes: "number",
    bool: "boolean",
    type(None): "null",
    dict: "object",
    list: "array",
}


def _text(value: Any) -> str:
    match value:
        case str():
            return _quoted(value)
        case bytes():
            return value.decode()
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


class _Keys:
    """What stands for an array's items when they are compared: equal for equal values only, each written out once."""

    def __init__(self) -> None:
        self._written: dict[int, tuple[str]] = {}

    def __call__(self, value: Any) -> Hashable:
        if not isinstance(value, dict | list):
            return cast(Hashable, value)
        if (written := self._written.get(id(value))) is None:
            written = self._written[id(value)] = (repr(value),)  # no text is a tuple, whatever it spells
        return written


def _in_order(keys: set[str]) -> list[str]:
    """As RFC 8785 orders the members of an object: by UTF-16 code units."""
    return (
        sorted(keys) if all(map(str.isascii, keys)) else sorted(keys, key=lambda key: key.encode("utf-16-be"))
    )


_CONTAINERS = {dict, list}


def _are_scalars(values: Iterable[Any]) -> bool:
    return _CONTAINERS.isdisjoint(map(type, values))


def _places(value: Any) -> int:
    """How many places hold a value in `value`; what is empty is one itself."""
    if type(value) not in _CONTAINERS:
        return 1
    parts = value.values() if isinstance(value, dict) else value
    return (len(parts) if _are_scalars(parts) else sum(map(_places, parts))) or 1


class _Run(NamedTuple):
    """Items of the array at `pointer`, with the indices that they have in it."""

    items: Sequence[Any]
    pointer: str
    places: Sequence[int]

    def pointer_of(self, place: int) -> str:
        return f"{self.pointer}/{self.places[place]}"


def _run(array: list[Any], pointer: str, places: Sequence[int]) -> _Run:
    if isinstance(places, range):
        return _Run(array[places.start : places.stop], pointer, places)
    return _Run([array[place] for place in places], pointer, places)


def _moves(old: list[Any], new: list[Any], apart: list[Block], key: _Keys) -> dict[int, int]:
    """Return where items that no block has in common stood before, by their new index.

    Of equal ones the first that went is the first that came.
    """
    if sum(len(block.old) for block in apart) * sum(len(block.new) for block in apart) > MAX_PAIRS:
        return {}
    waiting: dict[Hashable, list[int]] = {}
    for place in chain.from_iterable(reversed(block.old) for block in reversed(apart)):
        waiting.setdefault(key(old[place]), []).append(place)
    came = chain.from_iterable(block.new for block in apart)
    found = ((place, waiting.get(key(new[place]))) for place in came)
    return {place: places.pop() for place, places in found if places}


def _apart(
    block: Block, moved: Mapping[int, int], gone: Collection[int]
) -> Iterator[tuple[bool, Sequence[int], Sequence[int]]]:
    """Cut a block where something moved to: whether it did, the old places, the new ones.

    What moved away from here is left out.
    """
    if not moved:
        yield False, block.old, block.new
        return
    left = [place for place in block.old if place not in gone]
    at = 0
    for has_moved, places in groupby(block.new, key=moved.__contains__):
        right = list(places)
        if has_moved:
            yield True, [moved[place] for place in right], right
        else:
            yield False, left[at : at + len(right)], right
            at += len(right)
    yield False, left[at:], []


class _Walk:
    """Goes through both sides at once. Every place is counted, the first ones of each sort become rows."""

    def __init__(self, changed: int, unchanged: int) -> None:
        self._rows: list[Row] = []
        self._counts: Counter[Change] = Counter()
        self._room, self._room_unchanged = changed, unchanged
        self._letters = MAX_LETTERS  # for all texts together

    def diff(self) -> Diff:
        return Diff(tuple(self._rows), +self._counts)  # without what was counted as none

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
        for key in new if old.keys() == new.keys() else _in_order({*old, *new}):
            token = step(key)
            if key not in new:
                self._came_or_went(Change.REMOVED, old[key], was + token)
            elif key not in old:
                self._came_or_went(Change.ADDED, new[key], pointer + token)
            else:
                self.compare(old[key], new[key], was + token, pointer + token)

    def _arrays(self, old: list[Any], new: list[Any], was: str, pointer: str) -> None:
        key = _Keys()
        blocks = align(old, new, key)
        moved = _moves(old, new, [block for block in blocks if not block.equal], key)
        gone = frozenset(moved.values())
        for block in blocks:
            if block.equal:
                self._same_items(_run(old, was, block.old), _run(new, pointer, block.new))
                continue
            for has_moved, before, after in _apart(block, moved, gone):
                meet = self._moved_items if has_moved else self._other_items
                meet(_run(old, was, before), _run(new, pointer, after))

    def _same_items(self, left: _Run, right: _Run) -> None:
        shown = right.items[: max(self._room_unchanged, 0)]
        for place, item in enumerate(shown):
            self._unchanged(item, left.pointer_of(place), right.pointer_of(place))
        self._count(Change.UNCHANGED, right.items[len(shown) :])

    def _moved_items(self, left: _Run, right: _Run) -> None:
        shown = right.items[: max(self._room, 0)]
        for place, item in enumerate(shown):
            self._moved(item, left.pointer_of(place), right.pointer_of(place))
        self._count(Change.MOVED, right.items[len(shown) :])

    def _other_items(self, left: _Run, right: _Run) -> None:
        """Compare item by item, so that an item shows what changed in it; the rest came or went."""
        are_scalars = _are_scalars(left.items) and _are_scalars(right.items)
        pairs = list(zip(left.items, right.items, strict=False))
        for place, (old, new) in enumerate(pairs):
            if self._room <= 0 and are_scalars:
                self._count_pairs(left.items[place : len(pairs)], right.items[place : len(pairs)])
                break
            self.compare(old, new, left.pointer_of(place), right.pointer_of(place))
        self._items_that(Change.REMOVED, left, len(pairs))
        self._items_that(Change.ADDED, right, len(pairs))

    def _items_that(self, came_or_went: Change, run: _Run, first: int) -> None:
        shown = run.items[first : first + max(self._room, 0)]
        for place, item in enumerate(shown, first):
            self._came_or_went(came_or_went, item, run.pointer_of(place))
        self._count(came_or_went, run.items[first + len(shown) :])

    def _count(self, change: Change, items: Sequence[Any]) -> None:
        self._counts[change] += _places(items) if items else 0

    def _count_pairs(self, old: Sequence[Any], new: Sequence[Any]) -> None:
        same = sum(map(eq, old, new))
        of_one_type = sum(map(is_, map(type, old), map(type, new)))
        self._counts[Change.UNCHANGED] += same
        self._counts[Change.CHANGED] += of_one_type - same
        self._counts[Change.TYPE_CHANGED] += len(old) - of_one_type

    def _unchanged(self, value: Any, was: str, pointer: str) -> None:
        count = _places(value)
        self._counts[Change.UNCHANGED] += count
        for place, part in islice(_leaves(value, pointer), max(self._room_unchanged, 0)):
            leaf, before = _leaf(part), was + place[len(pointer) :]
            self._rows.append(Row(place, Change.UNCHANGED, leaf, leaf, before if before != place else None))
        self._room_unchanged -= count

    def _moved(self, value: Any, was: str, pointer: str) -> None:
        count = _places(value)
        self._counts[Change.MOVED] += count
        for place, part in islice(_leaves(value, pointer), max(self._room, 0)):
            leaf = _leaf(part)
            self._rows.append(Row(place, Change.MOVED, leaf, leaf, was + place[len(pointer) :]))
        self._room -= count

    def _came_or_went(self, change: Change, value: Any, pointer: str) -> None:
        count = _places(value)
        self._counts[change] += count
        if self._room > 0:
            for place, part in islice(_leaves(value, pointer), self._room):
                leaf = _leaf(part)
                self._rows.append(
                    Row(place, change, *((None, leaf) if change is Change.ADDED else (leaf, None)))
                )
            self._room -= count

    def _changed(self, old: Any, new: Any, was: str, pointer: str) -> None:
        change = Change.CHANGED if type(old) is type(new) else Change.TYPE_CHANGED
        self._counts[change] += 1
        if self._room > 0:
            before = was if was != pointer else None
            self._rows.append(Row(pointer, change, _leaf(old), _leaf(new), before, self._words(old, new)))
        self._room -= 1

    def _words(self, old: Any, new: Any) -> tuple[Piece, ...]:
        if not (isinstance(old, str) and isinstance(new, str)):
            return ()
        pieces, self._letters = by_word(old, new, self._letters - _PER_TEXT)
        return pieces
