"""What was refused at the gate is recorded too: who tried which tool, and why not (I27)."""

from __future__ import annotations

import secrets
from uuid import UUID

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.problems import Refusal
from review.access.actors import Actor
from review.audit import chain, log
from review.audit.actions import Action
from review.domain.refusals import Tombstoned
from review.models import Proposal
from review.queries.running import DIFF
from review.services.transitions import record

REJECTED_VALUE = "rejected_value"


def record_refused(
    refusal: Refusal,
    *,
    tool: str,
    text: str,
    by: Actor,
    workspace: UUID,
    agent: UUID | None = None,
    proposal: UUID | None = None,
) -> None:
    """Append the entry of a refused submission.

    Of the arguments only a salted digest stands in it and the salt is thrown away: a refused value may be a
    secret or one that people have rejected, and the log must not be the place that keeps it. Where it was one, the
    id of its tombstone is the object's; trying it does not change the tombstone, so that is not what the object is.
    """
    sealed = chain.commitment(text, secrets.token_bytes(chain.SALT_BYTES))
    log.record(
        Action.PROPOSAL_REFUSED,
        actor=by.audit(),
        workspace=workspace,
        object=_tried(refusal),
        agent=agent,
        tool=tool[:128],
        proposal=proposal,
        after={"code": refusal.code, "arguments": sealed},
    )


def _tried(refusal: Refusal) -> log.ObjectRef | None:
    tombstone = refusal.extra.get("tombstone") if isinstance(refusal, Tombstoned) else None
    return log.ObjectRef(REJECTED_VALUE, tombstone) if tombstone else None


def record_refused_permit(proposal: Proposal, refusal: Refusal, by: Actor, **named: str) -> None:
    """Append the entry of a call that was not let run; what was about to run instead is kept beside the chain."""
    diff = refusal.extra.get("diff")
    record(
        proposal,
        Action.PERMIT_REFUSED,
        by,
        after={"code": refusal.code, **named},
        private={DIFF: canonical(diff)} if diff else None,
    )
