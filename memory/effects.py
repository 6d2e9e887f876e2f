"""What an approved `memory.write` does, and all that the gate has to know about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from memory import preview, signals
from memory.domain.admission import examine
from memory.domain.arguments import MEMORY_WRITE, Arguments
from memory.domain.masking import masked_value
from memory.gateway import quarantine
from memory.gateway.write import write
from memory.way_back import way_back_of
from review.access.actors import Actor
from review.audit.log import ObjectRef
from review.domain.gate import Signal
from review.effects import PreviewRow, Submission, ThreeWay, Version, WayBack
from review.models import Proposal


class Masked:
    """What memory is asked is told in lists without its secrets."""

    def tellable(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        shown: Mapping[str, Any] = masked_value(dict(arguments))
        return shown


class MemoryWrite(Masked):
    """The effect of `memory.write {content, …}`: one record, or one more source for the one that says the same."""

    schema: Mapping[str, Any] = MEMORY_WRITE

    def signals(self, submission: Submission) -> list[Signal]:
        """Return what the text itself gives away, then what memory knows about its value.

        Raises: Invalid for times that mean nothing, Unavailable where a rejected value might not be recognised.
        """
        given_away = examine(submission.arguments, risk=submission.risk, now=submission.now)
        return [*given_away, *signals.known(submission.workspace.id, submission.arguments)]

    def hold(self, proposal: Proposal, arguments: Arguments, signals: Sequence[Signal], actor: Actor) -> None:
        quarantine.hold(proposal, arguments, by=actor)

    def let_go(self, proposal: Proposal, actor: Actor) -> None:
        quarantine.let_go(proposal, by=actor)

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        admit = quarantine.release if released else write
        return admit(proposal, arguments, by=actor).outcome()

    def discard(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, reason: str, *, tombstone: bool
    ) -> None:
        """The reason stands with the decision; it is not written a second time."""
        quarantine.discard(proposal, arguments["content"], by=actor, tombstone=tombstone)

    def preview(self, proposal: Proposal, arguments: Arguments) -> list[PreviewRow]:
        return preview.rows(proposal, arguments)

    def base(self, proposal: Proposal, arguments: Arguments) -> str | None:
        """A write adds; nothing stands that it would change."""
        return None

    def target(self, arguments: Arguments) -> ObjectRef | None:
        return None

    def three_way(self, proposal: Proposal, arguments: Arguments, then: Version) -> Iterable[ThreeWay]:
        """It changes nothing that stood before."""
        return ()

    def way_back(self, proposal: Proposal) -> WayBack | None:
        return way_back_of(proposal)

    def origins(self, workspace: UUID, arguments: Arguments) -> list[UUID]:
        """It brings something new."""
        return []
