"""What signed checkpoints claim about the log, in the database and in the witness file: held against a walk."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

from review.audit import witness
from review.audit.actions import Action
from review.audit.chain import Root
from review.audit.checkpoints import Statement
from review.audit.findings import Findings, Kind
from review.audit.models import Checkpoint, Entry
from review.audit.signers import Signers
from review.audit.stretches import every
from review.audit.witness import LastNote

_DATABASE, _WITNESS = "in the database", "in the witness file"


class Claim(NamedTuple):
    """One note, and where it stands."""

    size: int
    note: str
    place: str


class Claims:
    """The claims about one log in the order of their sizes, each compared when the walk gets there.

    A claim that agrees with the walk adds nothing by its signature, since the walk saw the same; so only the
    last of each place, which vouch for the length, and those that disagree are checked for theirs.
    """

    def __init__(self, log: str, findings: Findings) -> None:
        self._log = log
        self._findings = findings
        self._signers = Signers(log, findings)
        self._last: dict[str, Claim] = {}  # the last claim met, by place
        self._agreed = 0  # size up to which a claim agrees with the walk
        self._against: Claim | None = None  # the first signed one that does not
        self._stream = heapq.merge(self._of_database(), self._of_witness(), key=attrgetter("size"))
        self._ahead: Claim | None = None
        self.due: int | None = None  # size of the next claim
        self._go_on()

    @property
    def witnessed(self) -> int:
        """The size that the last claim met in the witness file vouches for."""
        return self._size_in(_WITNESS)

    def compare(self, root: Root) -> None:
        """Hold every claim about this size against the walk's own root."""
        stated = Statement(self._log, root).text()
        for claim in self._up_to(root.size):
            self._meet(claim)
            if claim.note.startswith(stated):
                self._agreed = claim.size
            elif not self._against and self._is_signed(claim):
                self._against = claim

    def skip(self, size: int) -> None:
        """Pass over the claims up to `size`: the walk has no root to hold against them."""
        for claim in self._up_to(size):
            self._meet(claim)

    def exhaust(self) -> None:
        """Go through the claims about a longer log than was walked."""
        while self._ahead:
            for claim in self._up_to(self._ahead.size):
                self._last[claim.place] = claim
        stored, witnessed = self._size_in(_DATABASE), self.witnessed
        if stored > witnessed:
            self._findings.doubt(
                f"The witness file knows {witnessed} entries, the database has signed {stored}: "
                "a cut end could not be seen. Run manage.py checkpoint."
            )

    def settle(self) -> int:
        """Say what disagrees, unless the walk has named an entry that explains it; return the longest signed size."""
        if self._against and not self._findings.names_an_entry(self._agreed, self._against.size):
            first, stop = self._agreed, self._against.size
            self._findings.fault(
                Kind.EDITED,
                first,
                f"Of entries {first} to {stop - 1} at least one was replaced: the checkpoint "
                f"{self._against.place} over {stop} entries was signed over others.",
            )
        return max((claim.size for claim in self._last.values() if self._is_signed(claim)), default=0)

    def _up_to(self, size: int) -> Iterator[Claim]:
        while self._ahead and self._ahead.size <= size:
            claim = self._ahead
            self._go_on()
            yield claim

    def _go_on(self) -> None:
        self._ahead = next(self._stream, None)
        self.due = self._ahead.size if self._ahead else None

    def _meet(self, claim: Claim) -> None:
        self._last[claim.place] = claim
        if claim.place == _WITNESS and claim.size != self._size_in(_DATABASE):
            self._findings.fault(
                Kind.CHECKPOINT,
                None,
                f"The checkpoint of {claim.size} entries is in the witness file and not in the database.",
            )

    def _size_in(self, place: str) -> int:
        return self._last[place].size if place in self._last else 0

    def _is_signed(self, claim: Claim) -> bool:
        refused = self._signers.refuse(claim.note, claim.size)
        if refused:
            self._findings.fault(
                Kind.CHECKPOINT, None, f"The checkpoint of {claim.size} entries {claim.place} {refused}."
            )
        return refused is None

    def _of_witness(self) -> Iterator[Claim]:
        last = 0
        try:
            counting = Counting(self._adoptions(enumerate(witness.notes()), _WITNESS))
            for place, (size, note) in enumerate(witness.notes()):
                if not counting.counts(place, size):
                    continue
                if size < last:
                    sentence = (
                        f"In the witness file the checkpoint of {size} entries stands after that of {last}."
                    )
                    self._findings.fault(Kind.CHECKPOINT, None, sentence)
                else:
                    last = size
                    yield Claim(size, note, _WITNESS)
        except OSError:
            self._findings.doubt("The witness file cannot be read: a cut end could not be seen.")

    def _of_database(self) -> Iterator[Claim]:
        stored = Checkpoint.objects.all()
        adopted = stored.filter(note__contains="\nadopted ").exists()
        notes = ((row.size, LastNote(row.size, row.note)) for row in every(stored, "size"))
        counting = Counting(self._adoptions(notes, _DATABASE) if adopted else ())
        for row in every(stored, "size"):
            if counting.counts(row.size, row.size):
                yield Claim(row.size, row.note, _DATABASE)

    def _adoptions(self, notes: Iterable[tuple[int, LastNote]], place: str) -> Iterator[tuple[int, int]]:
        """Where a note takes the log for good, and up to how many entries what stands before it still counts."""
        before = LastNote()
        for where, note in notes:
            if "\nadopted " in note.note and self._is_adoption(Claim(*note, place), before):
                yield where, Statement.read(note.note).adopted.agreed  # type: ignore[union-attr]
            before = note

    def _is_adoption(self, claim: Claim, before: LastNote) -> bool:
        """Whether a signed note takes the log in place of what the note before it knows, and the log says so."""
        adopted = Statement.read(claim.note).adopted
        if adopted is None or not self._is_signed(claim):
            return False
        told = Entry.objects.filter(seq=claim.size - 1, action=Action.LOG_ADOPTED).exists()
        if not told or not (adopted.gives_up(before.note) or before.size <= adopted.agreed):
            self._findings.fault(
                Kind.CHECKPOINT,
                None,
                f"The checkpoint of {claim.size} entries {claim.place} adopts a log that nobody adopted there.",
            )
            return False
        return True


class Counting:
    """Which notes still count after the adoptions at these places: those before one only as far as it agrees."""

    def __init__(self, adoptions: Iterable[tuple[int, int]]) -> None:
        self._adoptions = list(adoptions)

    def counts(self, place: int, size: int) -> bool:
        return not any(place < where and size > agreed for where, agreed in self._adoptions)
