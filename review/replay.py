"""What `verify` replays of this app: no decision, permit, policy or ended proposal without its entry (I24)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from huqan_site.lib.canonical_json import digest
from review.access.queries import all_workspaces
from review.audit.actions import Action
from review.audit.models import Entry
from review.audit.queries import without_entry
from review.audit.stretches import every, stretches
from review.audit.verify import register_replay
from review.domain.decision import Verdict
from review.domain.status import Status
from review.models import Decision, Permit, PolicyVersion, Proposal
from review.services.decide import RECORDED

DECIDED = tuple(RECORDED.values())
OF_PERMITS = (Action.PERMIT_ISSUED, Action.PERMIT_REDEEMED, Action.PERMIT_VOIDED)
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
    """Yield for each decision, and for each that ought to be there, what is wrong with it, or None."""
    for chunk in stretches(Decision.objects.all()):
        told = {entry["decision"]: entry for entry in _about(chunk, DECIDED) if "decision" in entry}
        for decision in chunk:
            yield _of_decision(decision, told.get(str(decision.id)))
    for ids in _told_ids(DECIDED, lambda entry: entry.get("decision")):
        yield from (f"Decision {id_} is gone; the log knows it." for id_ in _gone(ids, Decision))


def _of_decision(decision: Decision, told: Mapping[str, Any] | None) -> str | None:
    if told is None:
        return f"Decision {decision.id} on proposal {decision.proposal_id} has no entry."
    stands = (
        RECORDED[Verdict(decision.verdict)],
        str(decision.person_id),
        str(decision.proposal_id),
        decision.revision,
        decision.binding,
        decision.shown,
    )
    of = told["object"]
    said = (told["action"], told["actor"].get("person"), of["id"], of.get("revision"))
    if stands != (*said, told.get("binding"), told.get("shown")):
        return f"Decision {decision.id} on proposal {decision.proposal_id} is not as the log tells of it."
    return None


def permits() -> Iterator[str | None]:
    """Yield for each permit, and for each that ought to be there, what is wrong with it, or None."""
    for chunk in stretches(Permit.objects.all()):
        told: dict[str, set[str]] = {}
        for entry in _about(chunk, OF_PERMITS):
            told.setdefault(entry["after"].get("jti", ""), set()).add(entry["action"])
        for permit in chunk:
            yield _of_permit(permit, told.get(str(permit.jti), set()))
    for ids in _told_ids((Action.PERMIT_ISSUED,), lambda entry: entry["after"].get("jti")):
        yield from (f"Permit {id_} is gone; the log knows it." for id_ in _gone(ids, Permit))


def _of_permit(permit: Permit, told: set[str]) -> str | None:
    if Action.PERMIT_ISSUED not in told:
        return f"The permit of proposal {permit.proposal_id} has no entry."
    stands = {Action.PERMIT_REDEEMED: permit.spent_at, Action.PERMIT_VOIDED: permit.voided_at}
    if any((at is not None) != (action in told) for action, at in stands.items()):
        return f"The permit of proposal {permit.proposal_id} is not as the log tells of it."
    return None


def _about(rows: Iterable[Decision | Permit], actions: Iterable[Action]) -> Iterator[dict[str, Any]]:
    """The entries with these actions about the proposals of `rows`."""
    proposals = {str(row.proposal_id) for row in rows}
    entries = Entry.objects.filter(proposal__in=proposals, action__in=list(actions))
    return map(json.loads, entries.values_list("canonical", flat=True))


def _told_ids(actions: Iterable[Action], of: Callable[[dict[str, Any]], str | None]) -> Iterator[list[str]]:
    """Which objects the entries with these actions tell of, a stretch at a time, workspace by workspace."""
    for workspace in all_workspaces():
        told = Entry.objects.filter(workspace=str(workspace.id), action__in=list(actions))
        for chunk in stretches(told, "seq"):
            ids = (of(json.loads(entry.canonical)) for entry in chunk)
            yield [id_ for id_ in ids if id_]


def _gone(ids: list[str], model: type[Decision] | type[Permit]) -> list[str]:
    there = {str(id_) for id_ in model.objects.filter(pk__in=ids).values_list("pk", flat=True)}
    return [id_ for id_ in ids if id_ not in there]


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
