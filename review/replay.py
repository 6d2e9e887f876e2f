"""What `verify` replays of this app: no decision, permit or ended proposal without its entry (I24)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from review.audit.actions import Action
from review.audit.queries import without_entry
from review.audit.stretches import every
from review.audit.verify import register_replay
from review.domain.status import Status
from review.models import Decision, Permit, Proposal

DECIDED = (Action.DECISION_APPROVED, Action.DECISION_REJECTED, Action.DECISION_CHANGES_REQUESTED)
ENDED: Mapping[Status, tuple[Action, ...]] = {
    Status.EXECUTED: (Action.PROPOSAL_EXECUTED,),
    Status.APPROVED: (Action.PROPOSAL_APPROVED,),
    Status.REJECTED: (Action.PROPOSAL_REJECTED,),
    Status.WITHDRAWN: (Action.PROPOSAL_WITHDRAWN,),
    Status.EXPIRED: (Action.PROPOSAL_EXPIRED,),
    Status.RUNNING: (Action.PERMIT_ISSUED,),
    Status.SUCCEEDED: (Action.OUTCOME_REPORTED, Action.OUTCOME_RULED),
    Status.FAILED: (Action.OUTCOME_REPORTED, Action.OUTCOME_RULED),
    Status.UNKNOWN: (Action.OUTCOME_REPORTED, Action.OUTCOME_UNKNOWN, Action.OUTCOME_RULED),
}


def decisions() -> Iterator[str | None]:
    """A sentence for each decision whose proposal has no entry of a decision."""
    proposals = (decision.proposal_id for decision in every(Decision.objects.only("proposal_id")))
    for missing in without_entry(proposals, actions=DECIDED):
        yield f"The decisions on proposal {missing} have no entry." if missing else None


def permits() -> Iterator[str | None]:
    """A sentence for each permit that no entry says was issued."""
    proposals = (permit.proposal_id for permit in every(Permit.objects.only("proposal_id")))
    for missing in without_entry(proposals, actions=(Action.PERMIT_ISSUED,)):
        yield f"The permit of proposal {missing} has no entry." if missing else None


def proposals() -> Iterator[str | None]:
    """A sentence for each proposal that is in a state which no entry took it to."""
    made = (proposal.id for proposal in every(Proposal.objects.only("id")))
    for missing in without_entry(made, actions=(Action.PROPOSAL_PROPOSED,)):
        yield f"Proposal {missing} has no entry that made it." if missing else None
    for status, actions in ENDED.items():
        ended = (proposal.id for proposal in every(Proposal.objects.filter(status=status).only("id")))
        for missing in without_entry(ended, actions=actions):
            yield f"Proposal {missing} is {status}, and no entry says so." if missing else None


def register() -> None:
    register_replay("decisions", decisions)
    register_replay("permits", permits)
    register_replay("proposals", proposals)
