"""The log as arithmetic: entries, leaves, the chain over them and the Merkle tree over the same leaves.

An entry is a JSON object; its RFC 8785 text is what is stored and hashed. `leaf` binds that text,
`prev` in the next entry binds the leaf (the chain), and RFC 6962 hashes the leaves into one root
(the tree), so that a root proves a whole log and a path of log2(n) hashes proves one entry.
No Django, no clock, no I/O. Vectors: tests/data/audit.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from huqan_site.lib.canonical_json import JSON, canonical

VERSION = 1
GENESIS = "0" * 64  # `prev` of the first entry
_LEAF = b"\x00huqan.audit.v1\n"
_NODE = b"\x01"
_PRIVATE = b"huqan.redact.v1\x00"
SALT_BYTES = 16


def entry_text(members: Mapping[str, JSON]) -> str:
    """The canonical text of an entry. Members without a value (None, empty) are left out, at any depth."""
    return canonical(_with_value(members))


def _with_value(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        kept = {name: _with_value(member) for name, member in value.items()}
        return {name: member for name, member in kept.items() if not _is_without_value(member)}
    return value


def _is_without_value(value: JSON) -> bool:
    return value is None or (isinstance(value, (str, Sequence, Mapping)) and not value)


def stamp(moment: datetime) -> str:
    """A moment, given with its zone, as entries write it: UTC, microseconds, of one width, so it sorts as text."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def leaf_of(text: str) -> bytes:
    """The leaf of an entry: SHA-256(0x00 || "huqan.audit.v1\\n" || canonical text)."""
    return sha256(_LEAF + text.encode()).digest()


def node_of(left: bytes, right: bytes) -> bytes:
    """The parent of two nodes: SHA-256(0x01 || left || right), RFC 6962 2.1."""
    return sha256(_NODE + left + right).digest()


def commitment(text: str, salt: bytes) -> str:
    """What an entry keeps of a text that may have to be erased: a salted SHA-256, in hex."""
    return sha256(_PRIVATE + salt + text.encode()).hexdigest()


class Frontier(NamedTuple):
    """A tree of `size` leaves, kept as the roots of its complete subtrees, largest first.

    There are as many peaks as `size` has one bits, so a root costs O(log size) whatever the log holds.
    """

    size: int = 0
    peaks: tuple[bytes, ...] = ()

    def append(self, leaf: bytes) -> Growth:
        """Return the tree with one more leaf, and the subtrees that became complete, smallest first."""
        tree = Tree(self)
        completed = tree.append(leaf)
        return Growth(tree.frontier(), tuple(completed))

    def root(self) -> bytes:
        """The RFC 6962 root; of the empty tree it is SHA-256 of nothing."""
        return fold(self.peaks)

    def text(self) -> str:
        """The peaks as a JSON list of hex, for the head row."""
        return json.dumps([peak.hex() for peak in self.peaks])

    @classmethod
    def read(cls, size: int, text: str) -> Frontier:
        """The frontier that `text` wrote down. Raises ValueError where it does not fit `size`."""
        peaks = tuple(bytes.fromhex(peak) for peak in json.loads(text))
        if len(peaks) != size.bit_count() or any(len(peak) != 32 for peak in peaks):
            raise ValueError("These peaks are not of a tree of this size.")
        return cls(size, peaks)


class Growth(NamedTuple):
    """What `Frontier.append` gives: the tree after it and the subtrees that this leaf completed."""

    frontier: Frontier
    completed: tuple[bytes, ...]


class Tree:
    """A tree that grows in place, for a walk along many leaves."""

    def __init__(self, begun: Frontier) -> None:
        self._size, self._peaks = begun.size, list(begun.peaks)

    def append(self, leaf: bytes) -> list[bytes]:
        """Add a leaf; return the subtrees that it completed, smallest first."""
        peaks, node, completed, whole = self._peaks, leaf, [], self._size
        while whole & 1:
            node = sha256(_NODE + peaks.pop() + node).digest()
            completed.append(node)
            whole >>= 1
        peaks.append(node)
        self._size += 1
        return completed

    def frontier(self) -> Frontier:
        """The tree as it now is."""
        return Frontier(self._size, tuple(self._peaks))


def fold(peaks: Sequence[bytes]) -> bytes:
    """The root over the subtrees `peaks`, largest first."""
    if not peaks:
        return sha256().digest()
    *rest, node = peaks
    for peak in reversed(rest):
        node = node_of(peak, node)
    return node


def _trailing_ones(number: int) -> int:
    return (~number & (number + 1)).bit_length() - 1


class Node(NamedTuple):
    """A complete subtree: 2**level leaves, beginning at leaf number * 2**level. Level 0 is a leaf."""

    level: int
    number: int

    @property
    def last(self) -> int:
        """The leaf that completes it."""
        return ((self.number + 1) << self.level) - 1


class Span(NamedTuple):
    """The leaves from `start` up to and without `end`, as RFC 6962's D[start:end]."""

    start: int
    end: int

    def nodes(self) -> list[Node]:
        """The complete subtrees that make it up, largest first; `fold` of them is its hash."""
        nodes, start = [], self.start
        while start < self.end:
            level = (self.end - start).bit_length() - 1
            nodes.append(Node(level, start >> level))
            start += 1 << level
        return nodes


def inclusion_path(seq: int, size: int) -> list[Span]:
    """The spans whose hashes prove leaf `seq` in a tree of `size`, lowest first (RFC 6962 2.1.1).

    Raises ValueError where the tree does not hold that leaf.
    """
    if not 0 <= seq < size:
        raise ValueError("This tree does not hold that entry.")
    path, start, end = [], 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if seq < middle:
            path.append(Span(middle, end))
            end = middle
        else:
            path.append(Span(start, middle))
            start = middle
    return path[::-1]


def consistency_path(old: int, new: int) -> list[Span]:
    """The spans whose hashes prove that `old` leaves are the beginning of `new` ones (RFC 6962 2.1.2).

    Raises ValueError where `old` is none or more than `new`.
    """
    if not 0 < old <= new:
        raise ValueError("The older tree holds at least one entry and no more than the newer one.")
    path, start, end = [], 0, new
    while old != end:
        middle = start + _split(end - start)
        if old <= middle:
            path.append(Span(middle, end))
            end = middle
        else:
            path.append(Span(start, middle))
            start = middle
    if start > 0:
        path.append(Span(start, end))
    return path[::-1]


def _split(count: int) -> int:
    """The largest power of two below `count`."""
    return 1 << ((count - 1).bit_length() - 1)


def verify_inclusion(leaf: bytes, seq: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `path` proves that `leaf` is entry `seq` of this tree (RFC 9162 2.1.3.2)."""
    if not 0 <= seq < size:
        return False
    index, last, node = seq, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if index & 1 or index == last:
            node = node_of(sibling, node)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            node = node_of(node, sibling)
        index, last = index >> 1, last >> 1
    return last == 0 and node == root


def verify_consistency(old: Root, new: Root, path: Sequence[bytes]) -> bool:
    """Whether `path` proves that the tree `old` is the beginning of the tree `new` (RFC 9162 2.1.4.2)."""
    if old.size == new.size:
        return not path and old.hash == new.hash
    if not 0 < old.size < new.size or not path:
        return False
    siblings = list(path)
    if old.size & (old.size - 1) == 0:
        siblings.insert(0, old.hash)
    zeros = _trailing_ones(old.size - 1)
    index, last = (old.size - 1) >> zeros, (new.size - 1) >> zeros
    before = after = siblings[0]
    for sibling in siblings[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            before, after = node_of(sibling, before), node_of(sibling, after)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            after = node_of(after, sibling)
        index, last = index >> 1, last >> 1
    return last == 0 and before == old.hash and after == new.hash


class Root(NamedTuple):
    """The root of a tree and how many leaves it has: what a checkpoint says."""

    size: int
    hash: bytes
