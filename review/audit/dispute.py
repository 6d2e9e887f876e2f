"""What is wrong where the log and the witness file disagree, and up to where they still say the same."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from review.audit import queries, witness
from review.audit.checkpoints import Adopted, note_digest
from review.audit.models import Checkpoint
from review.audit.witness import LastNote, Standing

_TOGETHER = 500  # notes that are looked up by one question


class Dispute(NamedTuple):
    """The log has `entries`, the last note of the file, whose SHA-256 is `note`, is over `witnessed`."""

    entries: int
    witnessed: int
    note: str

    @property
    def is_shorter(self) -> bool:
        """Whether the log lacks entries that were signed; else it holds others."""
        return self.entries < self.witnessed

    def adopted(self) -> Adopted:
        """What a checkpoint says that takes the log as it is. Reads the whole file. Raises: OSError."""
        return Adopted(_agreed(self.entries), self.note)


def found() -> Dispute | None:
    """The dispute there is, if any. Raises: OSError; django.db.DatabaseError."""
    if witness.standing() is Standing.AGREES:
        return None
    last = witness.last_note()
    return Dispute(queries.size(), last.size, note_digest(last.note))


def keeps_its_notes(dispute: Dispute) -> bool:
    """Whether the database still holds checkpoints of entries that it lost: a cut, which no restore leaves."""
    return Checkpoint.objects.filter(size__gt=dispute.entries).exists()


def _agreed(entries: int) -> int:
    """How many entries are in the log as the file knows them."""
    same = sorted(_in_both(entries), key=lambda note: note.size)
    holding = bisect_right(same, False, key=lambda note: not witness.holds(note))
    return same[holding - 1].size if holding else 0


def _in_both(entries: int) -> Iterator[LastNote]:
    """The notes of the file that the database holds too, as far as it has entries."""
    notes = (note for note in witness.notes() if note.size <= entries)
    while some := list(islice(notes, _TOGETHER)):
        stored = dict(
            Checkpoint.objects.filter(size__in=[note.size for note in some]).values_list("size", "note")
        )
        yield from (note for note in some if stored.get(note.size) == note.note)
