"""Two texts compared by word, so that an inserted "not" is found in a second.

Uses rapidfuzz's bit-parallel alignment on tokens. (difflib takes 40 s on 1 MB of chosen text.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from rapidfuzz.distance import Indel

MAX_CELLS = 16_000_000
"""Items of the one side times items of the other: beyond that, sentences are aligned before words."""

MAX_PIECES = 1_000

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LAST_WORD = re.compile(r"\w+\Z")
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]+\s*|[^.!?\n]+")

Differing: TypeAlias = "Callable[[str, str], list[Piece]]"


class Piece(NamedTuple):
    """A stretch of both texts; joined, each side is whole. `op`: equal, replace, delete or insert."""

    op: str
    old: str
    new: str


class Block(NamedTuple):
    """A stretch of two sequences, equal or not, as index ranges [start, end)."""

    equal: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Block] | None:
    """Return the blocks in which two sequences are equal or differ; None where that would cost too much."""
    if len(old) * len(new) > MAX_CELLS:
        return None
    # rapidfuzz compares hashes. Small integers are their own, so that equal numbers mean equal items.
    numbers: dict[Hashable, int] = {}
    left, right = ([numbers.setdefault(item, len(numbers)) for item in side] for side in (old, new))
    blocks, i, j = [], 0, 0
    for match in Indel.opcodes(left, right).as_matching_blocks():
        if (i, j) != (match.a, match.b):
            blocks.append(Block(False, i, match.a, j, match.b))
        i, j = match.a + match.size, match.b + match.size
        if match.size:
            blocks.append(Block(True, match.a, i, match.b, j))
    return blocks


def by_word(old: str, new: str) -> tuple[Piece, ...]:
    """Return the pieces in which two texts agree and differ; blanks between two changes belong to them."""
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    differing = _words_of(left, right, _by_sentence)
    if len(differing) > MAX_PIECES:
        differing = _replaced(left, right)
    return tuple(_joined([_same(old[:head]), *differing, _same(old[len(old) - tail :])]))


def letters(pieces: Iterable[Piece]) -> int:
    """Return how many characters of both sides differ."""
    return sum(len(piece.old) + len(piece.new) for piece in pieces if piece.op != "equal")


def _shared(old: str, new: str) -> int:
    """How many characters two texts share at their beginning, without the word that the difference is in.

    By halving, since slices compare fast; of a word longer than 64 characters a part may be taken as shared.
    """
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    begun = _LAST_WORD.search(old[max(0, low - 64) : low])
    return low - len(begun[0]) if begun else low


def _words_of(old: str, new: str, coarser: Differing) -> list[Piece]:
    return _aligned(_WORD.findall(old), _WORD.findall(new), _replaced, coarser)


def _by_sentence(old: str, new: str) -> list[Piece]:
    def by_word_at_most(left: str, right: str) -> list[Piece]:
        return _words_of(left, right, _replaced)

    return _aligned(_SENTENCE.findall(old), _SENTENCE.findall(new), by_word_at_most, _replaced)


def _aligned(old: list[str], new: list[str], differing: Differing, coarser: Differing) -> list[Piece]:
    """The pieces of two token lists: what differs by `differing`, or all of them by `coarser`."""
    blocks = align(old, new)
    if blocks is None:
        return coarser("".join(old), "".join(new))
    pieces: list[Piece] = []
    for block in blocks:
        left = "".join(old[block.old_start : block.old_end])
        right = "".join(new[block.new_start : block.new_end])
        pieces += [_same(left)] if block.equal else differing(left, right)
    return pieces


def _replaced(old: str, new: str) -> list[Piece]:
    return [_changed(old, new)]


def _same(text: str) -> Piece:
    return Piece("equal", text, text)


def _changed(old: str, new: str) -> Piece:
    return Piece("replace" if old and new else "delete" if old else "insert", old, new)


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Leave out what is empty and make one change of neighbours, with the mere blanks between them."""
    full = [piece for piece in pieces if piece.old or piece.new]
    kept: list[Piece] = []
    for place, piece in enumerate(full):
        between = 0 < place < len(full) - 1 and piece.old.isspace() and full[place + 1].op != "equal"
        if kept and kept[-1].op != "equal" and (piece.op != "equal" or between):
            kept[-1] = _changed(kept[-1].old + piece.old, kept[-1].new + piece.new)
        else:
            kept.append(piece)
    return kept
