"""The walk along the log: each entry is held against its text, its neighbours and the checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.db import connection
from pydantic_core import from_json

from huqan_site.lib.canonical_json import canonical
from review.audit.chain import GENESIS, VERSION, Frontier, Root, Tree, commitment, leaf_of
from review.audit.claims import Claims
from review.audit.findings import Findings, Kind
from review.audit.index import derived
from review.audit.models import Entry
from review.audit.proofs import frontier_at

CHUNK = 2000  # entries in memory at a time


class Row(NamedTuple):
    """An entry as stored: its place and text, then its filter columns as in `Columns`."""

    seq: int
    canonical: str
    prev: str
    leaf: str
    subtrees: str
    stamp: str
    action: str
    workspace: str | None
    person: str | None
    account: str | None
    agent: str | None
    object_type: str | None
    object_id: str | None
    proposal: str | None
    tool: str | None


_Private = tuple[bytes | memoryview | None, str | None]  # salt and text; None where it was erased
_FIRST_COLUMN = Row._fields.index("action")


def chunks(first: int, stop: int) -> Iterator[list[Row]]:
    """The entries from `first` up to and without `stop`, in order; what is missing is left out."""
    names = ", ".join(Row._fields)
    statement = f"SELECT {names} FROM audit_entry WHERE seq >= %s AND seq < %s ORDER BY seq LIMIT %s"
    while first < stop:
        with connection.cursor() as cursor:
            cursor.execute(statement, [first, stop, CHUNK])
            rows = list(map(Row._make, cursor.fetchall()))
        if not rows:
            return
        yield rows
        first = rows[-1].seq + 1


class Walk:
    """One walk from entry `first` on. `next` is the entry that has to come now."""

    def __init__(self, log: str, first: int, findings: Findings) -> None:
        self._log = log
        self._findings = findings
        self.claims = Claims(log, findings)
        self.next = first
        self.leaf: str | None = GENESIS  # of the entry before `next`; None where it is missing
        self.tree: Tree | None = Tree(Frontier())  # None where entries are missing that nothing replaces
        self._stamp = ""
        if first:
            self._begin_at(first)

    def _begin_at(self, first: int) -> None:
        self.leaf = Entry.objects.filter(seq=first - 1).values_list("leaf", flat=True).first()
        try:
            self.tree = Tree(frontier_at(first))
        except ValueError:
            self.tree = None
        self.claims.skip(first)

    def chunk(self, rows: list[Row]) -> None:
        """Walk over `rows`, which follow in order."""
        texts = _private_texts(rows)
        for row in rows:
            if row.seq != self.next:
                self._gap(row)
            leaf = leaf_of(row.canonical)
            if leaf.hex() == row.leaf:
                self._read(row, texts.get(row.seq))
            else:
                self._edited(row.seq, "its text is not the one that was hashed")
                leaf = _digest(row.leaf)
            self._step(row.leaf, leaf, row.subtrees)

    def finish(self, stop: int) -> None:
        """Say what is missing up to `stop`."""
        if self.next < stop:
            self._missing(self.next, stop)
            self._resume_at(stop)

    def _gap(self, row: Row) -> None:
        self._missing(self.next, row.seq)
        if row.seq == self.next + 1:
            self._step(row.prev, _digest(row.prev), None)  # its successor still says what its leaf was
            return
        self._resume_at(row.seq)

    def _resume_at(self, seq: int) -> None:
        self.next, self.leaf, self.tree = seq, None, None
        self.claims.skip(seq)

    def _missing(self, first: int, stop: int) -> None:
        one = stop == first + 1
        sentence = f"Entry {first} is missing." if one else f"Entries {first} to {stop - 1} are missing."
        self._findings.fault(Kind.MISSING, first, sentence)

    def _read(self, row: Row, texts: Mapping[str, _Private] | None) -> None:
        """Hold an entry against its own text and against the entry before it."""
        text = row.canonical
        try:
            # The quickest reader that is here, and no laxer than json: three in ten of a walk's time went there.
            members = from_json(text, allow_inf_nan=False, cache_strings="keys")
            if not (
                text[0] == "{"
                and text[-1] == "}"  # no blank around it
                and members["prev"] == self.leaf == row.prev
                and members["time"] == row.stamp >= self._stamp
                and members["seq"] == row.seq
                and members["log"] == self._log
                and members["v"] == VERSION
                and derived(members) == row[_FIRST_COLUMN:]
            ):
                self._explain(row, members)
            if texts or "private" in members:
                self._compare_private(row.seq, members.get("private", {}), texts or {})
        except (ValueError, TypeError, KeyError, AttributeError):
            self._edited(row.seq, "its text is not an entry")
        self._stamp = row.stamp

    def _explain(self, row: Row, members: Mapping[str, Any]) -> None:
        """Say why an entry does not fit."""
        if (members["v"], members["log"], members["seq"]) != (VERSION, self._log, row.seq):
            self._edited(row.seq, "its text is of another place")
        if members["prev"] != (self.leaf or members["prev"]):
            self._edited(max(row.seq - 1, 0), f"the text of entry {row.seq} continues another one")
        if row.stamp < self._stamp:
            self._edited(row.seq, "it says that it was before the entry that precedes it")
        stated = (members["prev"], members["time"], *derived(members))
        if stated != (row.prev, row.stamp, *row[_FIRST_COLUMN:]):
            self._edited(row.seq, "a column that it is filtered by differs from its text")
        if canonical(members) != row.canonical:
            self._edited(row.seq, "its text is not canonical")

    def _compare_private(self, seq: int, promised: Mapping[str, str], texts: Mapping[str, _Private]) -> None:
        for name in promised.keys() - texts.keys():
            self._findings.fault(
                Kind.MISSING,
                seq,
                f"The private text {name} of entry {seq} is missing; erasing would leave its row.",
            )
        for name, (salt, text) in texts.items():
            if text is None or salt is None:
                continue
            if promised.get(name) != commitment(text, bytes(salt)):
                self._edited(seq, f"its private text {name} is not the one that it commits to")

    def _step(self, leaf: str, digest: bytes, subtrees: str | None) -> None:
        """Go past one entry: grow the tree, and hold the checkpoints of this size against it."""
        if self.tree is not None:
            completed = self.tree.append(digest)
            if subtrees is not None and subtrees != (b"".join(completed).hex() if completed else ""):
                self._edited(self.next, "the stored hashes of the tree are not those of the entries")
        self.next, self.leaf = self.next + 1, leaf
        if self.claims.due == self.next:
            self._hold_claims()

    def _hold_claims(self) -> None:
        if self.tree is None:
            self.claims.skip(self.next)
        else:
            self.claims.compare(Root(self.next, self.tree.frontier().root()))

    def _edited(self, seq: int, how: str) -> None:
        self._findings.fault(Kind.EDITED, seq, f"Entry {seq} was edited: {how}.")


def _digest(leaf: str) -> bytes:
    """The bytes of a stored leaf; of one that is not hex something that agrees with nothing."""
    try:
        return bytes.fromhex(leaf)
    except ValueError:
        return b""


def _private_texts(rows: list[Row]) -> dict[int, dict[str, _Private]]:
    texts: dict[int, dict[str, _Private]] = {}
    statement = "SELECT seq, name, salt, text FROM audit_private_text WHERE seq >= %s AND seq <= %s"
    with connection.cursor() as cursor:
        cursor.execute(statement, [rows[0].seq, rows[-1].seq])
        for seq, name, salt, text in cursor.fetchall():
            texts.setdefault(seq, {})[name] = salt, text
    return texts
