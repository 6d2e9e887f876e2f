"""What a verification found, in the words that a page and a command print."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

KEPT = 100  # faults that a report lists; all are counted


class Outcome(StrEnum):
    """`ok` is said of a whole log only."""

    OK = "ok"
    FAULT = "fault"
    CANNOT_JUDGE = "cannot_judge"


class Kind(StrEnum):
    """What is wrong: an entry is not what it was, is not there, or something else disagrees with the log."""

    EDITED = "edited"
    MISSING = "missing"
    CHECKPOINT = "checkpoint"
    STATE = "state"


class Fault(NamedTuple):
    """One thing that is wrong; `seq` is the (first) entry concerned, None where it is not about an entry."""

    kind: Kind
    seq: int | None
    sentence: str


@dataclass
class Findings:
    """Faults and doubts as a walk meets them. Only the first faults are kept, so memory stays flat."""

    faults: list[Fault] = field(default_factory=list)
    count: int = 0
    doubts: list[str] = field(default_factory=list)

    def fault(self, kind: Kind, seq: int | None, sentence: str) -> None:
        """Note a fault, once for each kind and entry in a row."""
        if self.faults and seq is not None and self.faults[-1][:2] == (kind, seq):
            return
        self.count += 1
        if len(self.faults) < KEPT:
            self.faults.append(Fault(kind, seq, sentence))

    def names_an_entry(self, first: int, stop: int) -> bool:
        """Whether a kept fault is about an entry from `first` up to and without `stop`."""
        return any(fault.seq is not None and first <= fault.seq < stop for fault in self.faults)

    def doubt(self, sentence: str) -> None:
        """Note why the log cannot be judged."""
        self.doubts.append(sentence)


@dataclass(frozen=True)
class Report:
    """What was walked and what was found.

    Entries `first` up to and without `stop` were walked; `size` is how many the log had when it began.
    `checkpoint` is the size that the last note of the witness file vouches for.
    """

    first: int
    stop: int
    size: int
    faults: tuple[Fault, ...]
    fault_count: int
    doubts: tuple[str, ...]
    states: int
    states_agreeing: int
    checkpoint: int
    finished: datetime

    @property
    def outcome(self) -> Outcome:
        """Fault where there is one; ok only after a whole walk that left no doubt."""
        if self.fault_count:
            return Outcome.FAULT
        whole = self.first == 0 and self.stop == self.size and self.size > 0
        return Outcome.OK if whole and not self.doubts else Outcome.CANNOT_JUDGE

    @property
    def ok(self) -> bool:
        return self.outcome is Outcome.OK

    def of_kind(self, kind: Kind) -> list[Fault]:
        """The kept faults of one kind; edited and missing are listed apart."""
        return [fault for fault in self.faults if fault.kind is kind]

    @property
    def first_bad(self) -> int | None:
        """The lowest entry that is edited or missing."""
        return min(
            (f.seq for f in self.faults if f.seq is not None and f.kind in (Kind.EDITED, Kind.MISSING)),
            default=None,
        )
