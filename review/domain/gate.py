"""What the gate says about a submission: named signals, of which the strictest wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, Self


class Outcome(StrEnum):
    """What becomes of a submission, mildest first; ordered by strictness, not by letters."""

    ALLOW = "allow"
    REVIEW = "review"
    QUARANTINE = "quarantine"
    REJECT = "reject"

    @property
    def strictness(self) -> int:
        """0 (allow) to 3 (reject)."""
        return tuple(Outcome).index(self)

    def __lt__(self, other: str) -> bool:
        return self.strictness < Outcome(other).strictness

    def __le__(self, other: str) -> bool:
        return self.strictness <= Outcome(other).strictness

    def __gt__(self, other: str) -> bool:
        return self.strictness > Outcome(other).strictness

    def __ge__(self, other: str) -> bool:
        return self.strictness >= Outcome(other).strictness


class Span(NamedTuple):
    """A stretch of one string of the arguments: JSON pointer, code points [start, end), what stands there."""

    pointer: str
    start: int
    end: int
    kind: str


class Signal(NamedTuple):
    """One named reason of the gate. `detail` is a sentence for people and never quotes a secret.

    `names` are what a refusal tells a program beside the sentence, such as the tombstone; they are not stored.
    """

    code: str
    outcome: Outcome
    detail: str
    spans: tuple[Span, ...] = ()
    names: tuple[tuple[str, str], ...] = ()

    def members(self) -> dict[str, Any]:
        """Return the JSON members this signal is stored as; `Signal.read` is the way back."""
        return {
            "code": self.code,
            "outcome": self.outcome.value,
            "detail": self.detail,
            "spans": [span._asdict() for span in self.spans],
        }

    @classmethod
    def read(cls, members: Mapping[str, Any]) -> Self:
        """Return the signal that `members` (of `Signal.members`) describes."""
        spans = tuple(Span(**span) for span in members.get("spans", ()))
        return cls(members["code"], Outcome(members["outcome"]), members["detail"], spans)


def strictest(signals: Iterable[Signal]) -> Outcome:
    """Return the outcome that wins; without any signal nothing stands against the call, so it is `allow`."""
    return max((signal.outcome for signal in signals), default=Outcome.ALLOW)


def unseen(now: Iterable[Signal], shown: Iterable[Signal]) -> list[Signal]:
    """Return the signals of `now` that nobody was shown, by code and place.

    In the deciding transaction only these can still hold or end a proposal (I15): what the approvers saw,
    they weighed.
    """
    known = {(signal.code, signal.spans) for signal in shown}
    return [signal for signal in now if (signal.code, signal.spans) not in known]
