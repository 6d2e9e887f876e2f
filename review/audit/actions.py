"""What can happen here: the closed list of audit actions, dotted, in the past tense."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Action(StrEnum):
    """One kind of entry. Each has a producer; nothing else is ever recorded."""

    SIGN_IN_SUCCEEDED = "sign_in.succeeded"
    SIGN_IN_FAILED = "sign_in.failed"
    SIGN_OUT_DONE = "sign_out.done"
    STEP_UP_SUCCEEDED = "step_up.succeeded"
    STEP_UP_FAILED = "step_up.failed"
    PASSWORD_CHANGED = "password.changed"
    PASSWORD_RESET = "password.reset"
    FACTOR_ENROLLED = "factor.enrolled"
    FACTOR_REMOVED = "factor.removed"

    PERSON_CREATED = "person.created"
    PERSON_DISABLED = "person.disabled"
    ACCOUNT_LINKED = "account.linked"
    MEMBERSHIP_GRANTED = "membership.granted"
    MEMBERSHIP_REVOKED = "membership.revoked"
    AGENT_CREATED = "agent.created"
    AGENT_STOPPED = "agent.stopped"
    AGENT_RESUMED = "agent.resumed"
    AGENT_TRANSFERRED = "agent.transferred"
    TOKEN_MINTED = "token.minted"
    TOKEN_REVOKED = "token.revoked"
    DELEGATION_GRANTED = "delegation.granted"
    DELEGATION_REVOKED = "delegation.revoked"

    PROPOSAL_PROPOSED = "proposal.proposed"
    PROPOSAL_REFUSED = "proposal.refused"
    PROPOSAL_QUARANTINED = "proposal.quarantined"
    PROPOSAL_AUTO_APPROVED = "proposal.auto_approved"
    PROPOSAL_REVISED = "proposal.revised"
    PROPOSAL_REBOUND = "proposal.rebound"
    PROPOSAL_WITHDRAWN = "proposal.withdrawn"
    PROPOSAL_APPROVED = "proposal.approved"
    PROPOSAL_REJECTED = "proposal.rejected"
    PROPOSAL_EXPIRED = "proposal.expired"
    PROPOSAL_EXECUTED = "proposal.executed"

    DECISION_APPROVED = "decision.approved"
    DECISION_REJECTED = "decision.rejected"
    DECISION_CHANGES_REQUESTED = "decision.changes_requested"
    DECISION_REFUSED = "decision.refused"

    PERMIT_ISSUED = "permit.issued"
    PERMIT_REDEEMED = "permit.redeemed"
    PERMIT_REFUSED = "permit.refused"
    PERMIT_VOIDED = "permit.voided"
    PERMIT_EXPIRED = "permit.expired"
    OUTCOME_REPORTED = "outcome.reported"
    OUTCOME_UNKNOWN = "outcome.unknown"
    OUTCOME_RULED = "outcome.ruled"

    MEMORY_WRITTEN = "memory.written"
    MEMORY_CORROBORATED = "memory.corroborated"
    MEMORY_SUPERSEDED = "memory.superseded"
    MEMORY_RETRACTED = "memory.retracted"
    MEMORY_ARCHIVED = "memory.archived"
    MEMORY_RESTORED = "memory.restored"
    MEMORY_QUARANTINED = "memory.quarantined"
    MEMORY_RELEASED = "memory.released"
    MEMORY_DISCARDED = "memory.discarded"
    MEMORY_ERASED = "memory.erased"
    MEMORY_IMPORTED = "memory.imported"
    MEMORY_EXPORTED = "memory.exported"
    CONFLICT_OPENED = "conflict.opened"
    CONFLICT_RESOLVED = "conflict.resolved"
    TOMBSTONE_CREATED = "tombstone.created"
    TOMBSTONE_LIFTED = "tombstone.lifted"
    FACT_LEARNED = "fact.learned"
    FACT_REMOVED = "fact.removed"

    POLICY_ACTIVATED = "policy.activated"
    WEBHOOK_REGISTERED = "webhook.registered"
    WEBHOOK_REMOVED = "webhook.removed"

    AUDIT_READ = "audit.read"
    AUDIT_EXPORTED = "audit.exported"
    AUDIT_VERIFIED = "audit.verified"
    LOG_CREATED = "log.created"
    LOG_ADOPTED = "log.adopted"
    KEY_ROTATED = "key.rotated"
    BACKUP_MADE = "backup.made"
    RESTORE_DONE = "restore.done"

    @property
    def family(self) -> str:
        """The part before the dot."""
        return self.value.partition(".")[0]


_ANCHORED_FAMILIES = {"decision", "permit", "log", "key"}
_ACCOUNT_FAMILIES = {"sign_in", "sign_out", "step_up", "password", "factor"}

#: After a commit that holds one of these, a signed checkpoint leaves the database at once.
ANCHORED = frozenset(a for a in Action if a.family in _ANCHORED_FAMILIES) | {
    Action.MEMORY_ERASED,
    Action.AUDIT_EXPORTED,
}

#: What answers 503 while the log and the witness file disagree: deciding and redeeming. Taking back never does.
DECISIVE = frozenset(a for a in Action if a.family in {"decision", "permit"}) - {
    Action.PERMIT_VOIDED,
    Action.PERMIT_EXPIRED,
}

#: Entries of no workspace about one's own account; managers see those of their members.
ACCOUNT = frozenset(a for a in Action if a.family in _ACCOUNT_FAMILIES)


class Ending(StrEnum):
    """How something ended: what the log is filtered by, whichever action tells of it."""

    APPROVED = "approved"
    REJECTED = "rejected"
    CHANGES_REQUESTED = "changes_requested"
    QUARANTINED = "quarantined"
    REFUSED = "refused"
    EXECUTED = "executed"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


_TOLD = (Action.OUTCOME_REPORTED, Action.OUTCOME_RULED)

#: Actions that tell of several endings: the state in their `after` says which it was.
SAYING = frozenset(_TOLD)

#: Which actions tell of each ending.
TELLING: Mapping[Ending, tuple[Action, ...]] = {
    Ending.APPROVED: (Action.DECISION_APPROVED, Action.PROPOSAL_APPROVED, Action.PROPOSAL_AUTO_APPROVED),
    Ending.REJECTED: (Action.DECISION_REJECTED, Action.PROPOSAL_REJECTED, Action.MEMORY_DISCARDED),
    Ending.CHANGES_REQUESTED: (Action.DECISION_CHANGES_REQUESTED,),
    Ending.QUARANTINED: (Action.PROPOSAL_QUARANTINED, Action.MEMORY_QUARANTINED),
    Ending.REFUSED: (
        *(Action.PROPOSAL_REFUSED, Action.DECISION_REFUSED, Action.PERMIT_REFUSED),
        *(Action.SIGN_IN_FAILED, Action.STEP_UP_FAILED),
    ),
    Ending.EXECUTED: (Action.PROPOSAL_EXECUTED,),
    Ending.SUCCEEDED: _TOLD,
    Ending.FAILED: _TOLD,
    Ending.UNKNOWN: (*_TOLD, Action.OUTCOME_UNKNOWN),
    Ending.WITHDRAWN: (Action.PROPOSAL_WITHDRAWN,),
    Ending.EXPIRED: (Action.PROPOSAL_EXPIRED, Action.PERMIT_EXPIRED),
}
