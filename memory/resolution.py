"""What an approved answer to a conflict does, and all that the gate has to know about it. Only people start it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from memory import preview, signals
from memory.domain.arguments import MEMORY_RESOLVE, Arguments, conflict_of, validity_of
from memory.effects import Masked
from memory.gateway.conflicts import resolve
from memory.queries import conflicts
from review.access.actors import Actor
from review.audit.log import ObjectRef
from review.domain.gate import Signal
from review.effects import NeverHeld, PreviewRow, Submission
from review.models import Proposal


class MemoryResolve(Masked, NeverHeld):
    """The effect of `memory.resolve {conflict, answer, old?, new?, reason}`: agents are told no more of a dispute."""

    schema = MEMORY_RESOLVE

    def signals(self, submission: Submission) -> list[Signal]:
        return list(signals.resolving(submission.workspace.id, submission.arguments))

    def origins(self, workspace: UUID, arguments: Arguments) -> list[UUID]:
        """Whoever could not approve one of the two does not decide between them."""
        conflict = conflicts.named(workspace, conflict_of(arguments))
        return [conflict.older.proposal_id, conflict.newer.proposal_id] if conflict else []

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        conflict = resolve(proposal, arguments, by=actor)
        return {"result": "succeeded", "conflict": str(conflict.id), "answer": arguments["answer"]}

    def preview(self, proposal: Proposal, arguments: Arguments) -> list[PreviewRow]:
        conflict = conflicts.named(proposal.workspace_id, conflict_of(arguments))
        if conflict is None:
            return []
        holds = [validity_of(arguments, side) for side in ("old", "new")]
        return preview.of_resolution(conflict, arguments["answer"], *holds)

    def base(self, proposal: Proposal, arguments: Arguments) -> str | None:
        """What stands has no arguments of its own to compare with."""
        return None

    def target(self, arguments: Arguments) -> ObjectRef | None:
        return ObjectRef("conflict", conflict_of(arguments))
