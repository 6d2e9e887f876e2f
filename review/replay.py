"""What `verify` replays of this app: no decision, permit, policy or ended proposal without its entry (I24)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from huqan_site.lib.canonical_json import digest
from review.audit.actions import Action
from review.audit.models import Entry
from review.audit.queries import without_entry
from review.audit.stretches import every
from review.audit.verify import register_replay
from review.domain.status import Status
from review.models import Decision, Permit, PolicyVersion, Proposal

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


def policies() -> Iterator[str | None]:
    """A sentence for each version of a policy, and for each that was activated, that is not as the log tells."""
    told = {entry["object"]["id"]: entry for entry in _entries(Action.POLICY_ACTIVATED)}
    for version in every(PolicyVersion.objects.select_related("proposal")):
        yield _of_version(version, told.pop(str(version.id), None))
    for entry in told.values():
        yield f"Version {entry['object']['revision']} of a policy is gone; the log knows it."


def _entries(action: Action) -> Iterator[dict[str, Any]]:
    for entry in every(Entry.objects.filter(action=action), "seq"):
        yield json.loads(entry.canonical)


def _of_version(version: PolicyVersion, told: Mapping[str, Any] | None) -> str | None:
    if told is None:
        return f"Version {version.version} of a policy has no entry."
    stands = {"digest": digest(json.loads(version.document)), "version": version.version}
    if any(told["after"].get(name) != value for name, value in stands.items()) or told["workspace"] != str(
        version.workspace_id
    ):
        return f"Version {version.version} of a policy is not the one that the log tells of."
    if told["after"].get("proposal") != (str(version.proposal_id) if version.proposal_id else None):
        return f"Version {version.version} of a policy came by another proposal than the log tells."
    if version.version > 1 and (version.proposal is None or version.proposal.status != Status.EXECUTED):
        return f"Version {version.version} of a policy was not approved."
    return None


def register() -> None:
    register_replay("decisions", decisions)
    register_replay("permits", permits)
    register_replay("proposals", proposals)
    register_replay("policies", policies)
