"""Proofs from the stored tree: each costs one query for O(log n) rows, however long the log is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from review.audit.chain import Frontier, Node, Root, Span, consistency_path, fold, inclusion_path
from review.audit.models import Entry
from review.audit.statements import prepared

_HEX = 64


class Inclusion(NamedTuple):
    """That `leaf` is entry `seq` of the log with this root: `chain.verify_inclusion` checks it."""

    seq: int
    leaf: bytes
    path: list[bytes]
    root: Root


class Consistency(NamedTuple):
    """That the log `old` is the beginning of the log `new`: `chain.verify_consistency` checks it."""

    old: Root
    new: Root
    path: list[bytes]


def inclusion(seq: int, size: int) -> Inclusion:
    """The proof that entry `seq` is among the first `size` entries. Raises ValueError where it is not."""
    leaf, root, *path = _hashes([Span(seq, seq + 1), Span(0, size), *inclusion_path(seq, size)])
    return Inclusion(seq, leaf, path, Root(size, root))


def consistency(old: int, new: int) -> Consistency:
    """The proof that the first `old` entries are the beginning of the first `new`. Raises ValueError."""
    before, after, *path = _hashes([Span(0, old), Span(0, new), *consistency_path(old, new)])
    return Consistency(Root(old, before), Root(new, after), path)


def frontier_at(size: int) -> Frontier:
    """The tree of the first `size` entries. Raises ValueError where the log is shorter or has a gap there."""
    nodes = Span(0, size).nodes()
    stored = _stored(nodes)
    return Frontier(size, tuple(stored[node] for node in nodes))


def _hashes(spans: Sequence[Span]) -> list[bytes]:
    stored = _stored(node for span in spans for node in span.nodes())
    return [fold([stored[node] for node in span.nodes()]) for span in spans]


def _stored(nodes: Iterable[Node]) -> Mapping[Node, bytes]:
    wanted = set(nodes)
    rows = _trees(tuple({node.last for node in wanted}))
    by_seq = {seq: leaf + subtrees for seq, leaf, subtrees in rows}
    found = {node: by_seq.get(node.last, "")[_HEX * node.level :][:_HEX] for node in wanted}
    if any(len(text) != _HEX for text in found.values()):
        raise ValueError("The log does not hold every entry that this proof is made of.")
    return {node: bytes.fromhex(text) for node, text in found.items()}


@prepared
def _trees(entries: tuple[int, ...]) -> QuerySet[Entry, tuple[int, str, str]]:
    return Entry.objects.filter(seq__in=entries).values_list("seq", "leaf", "subtrees")
