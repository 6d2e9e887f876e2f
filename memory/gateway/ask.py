"""A person begins a change of a record from its page: a proposal whose author he is, so that others decide it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.problems import Refusal
from memory.domain.arguments import ERASE, RESOLVE
from memory.gateway.values import label_keys_in
from memory.models import MemoryRecord, RecordConflict, Tombstone
from review.access.actors import PersonActor
from review.access.models import Workspace
from review.access.queries import roles_in
from review.access.roles import Role
from review.audit import log
from review.domain.decision import says_something
from review.domain.refusals import NotEligible, NotFound, ReasonRequired
from review.effects import effect_of
from review.models import Proposal
from review.services.propose_own import propose_own, sent_before
from review.services.refuse import record_refused
from review.services.settle import settle
from review.services.weigh import weigh_own

NOTHING_ELSE: Mapping[str, Any] = MappingProxyType({})
LIFT = "tombstone.lift"
WHY = "Say why. Whoever decides reads it first, and the audit trail keeps it."


def ask(
    tool: str, record_id: UUID, *, by: PersonActor, reason: str, terms: Mapping[str, Any] = NOTHING_ELSE
) -> Proposal:
    """Return the open proposal of `by` to call `tool` on a record; the same one when he sends it twice.

    `terms` are the arguments beside the record, and the reason where the tool takes one. He has to be a reviewer of
    its workspace. Each refused attempt is recorded.

    Raises: NotFound, NotEligible, ReasonRequired, Blocked, Inactive, Invalid, Unsatisfiable.
    """
    record = MemoryRecord.objects.select_related("workspace").filter(id=record_id).first()
    if record is None:
        raise NotFound
    arguments = {"record": str(record_id), **terms, **_reason(tool, reason)}
    return _proposed(tool, arguments, record.workspace, by, reason)


def ask_to_lift(tombstone_id: UUID, *, by: PersonActor, reason: str) -> Proposal:
    """Return the open proposal of `by` to lift a tombstone; he has to be a reviewer of its workspace.

    Raises: NotFound, NotEligible, ReasonRequired, Inactive, Invalid, Unsatisfiable.
    """
    tombstone = Tombstone.objects.select_related("workspace").filter(id=tombstone_id).first()
    if tombstone is None:
        raise NotFound
    arguments = {"tombstone": str(tombstone_id), "reason": reason}
    return _proposed(LIFT, arguments, tombstone.workspace, by, reason)


def ask_to_erase(label: str, workspace_id: UUID, *, by: PersonActor, reason: str) -> Proposal:
    """Return the open proposal of `by`, a reviewer, to erase all that carries `label` in a workspace.

    The label itself is kept nowhere: the proposal names it by a keyed digest.
    Raises: NotFound, NotEligible, ReasonRequired, Invalid, Unsatisfiable, Unavailable.
    """
    workspace = Workspace.objects.filter(id=workspace_id).first()
    if workspace is None:
        raise NotFound
    arguments = {"about": label_keys_in(workspace_id)(label)[0], "reason": reason}
    return _proposed(ERASE, arguments, workspace, by, reason)


def ask_to_resolve(conflict_id: UUID, *, by: PersonActor, reason: str, terms: Mapping[str, Any]) -> Proposal:
    """Return the open proposal of `by` to resolve a conflict; he has to be a reviewer of its workspace.

    `terms` are the answer and, where both are kept, the times. Raises: NotFound, NotEligible, ReasonRequired,
    Blocked, Inactive, Invalid, Unsatisfiable.
    """
    conflict = RecordConflict.objects.select_related("workspace").filter(id=conflict_id).first()
    if conflict is None:
        raise NotFound
    arguments = {"conflict": str(conflict_id), **terms, "reason": reason}
    return _proposed(RESOLVE, arguments, conflict.workspace, by, reason)


def _proposed(
    tool: str, arguments: Mapping[str, Any], workspace: Workspace, by: PersonActor, reason: str
) -> Proposal:
    def refused(refusal: Refusal) -> None:
        record_refused(refusal, tool=tool, text=canonical(dict(arguments)), by=by, workspace=workspace.id)

    return settle(lambda: _ask(tool, arguments, workspace, by, reason), refused=refused)


def replacement(
    record: MemoryRecord, content: str, by: PersonActor, times: Mapping[str, str] = NOTHING_ELSE
) -> dict[str, Any]:
    """Return the arguments of a supersede by a person: his text, about the same thing, with him as its source.

    `times` say when it holds and until when it is kept, under the names that a write has; empty ones say nothing.
    """
    about = {"subject": record.subject, "predicate": record.predicate}
    source = {"kind": "user", "ref": by.user.username, "title": by.person.name}
    said = {name: text for name, text in about.items() if text is not None}
    stated = {name: text for name, text in times.items() if text}
    return {"content": content, "provenance": source, **said, **stated}


def _reason(tool: str, reason: str) -> dict[str, str]:
    """An agent has to give the reason of a retraction as an argument, so a person's stands there too."""
    effect = effect_of(tool)
    return {"reason": reason} if effect and "reason" in effect.schema["properties"] else {}


def _ask(
    tool: str, arguments: Mapping[str, Any], workspace: Workspace, by: PersonActor, reason: str
) -> Proposal:
    now = log.take_turn()  # a role that is lost, or a record that changes, does so before this or after it
    held = roles_in(workspace.id, by.person.id, now)
    if not held:
        raise NotFound
    if Role.REVIEWER not in held:
        raise NotEligible
    if not says_something(reason):
        raise ReasonRequired(WHY)
    if sent := sent_before(tool, arguments, workspace=workspace, by=by, now=now):
        return sent
    weighed = weigh_own(tool, arguments, workspace=workspace, now=now)
    return propose_own(tool, arguments, weighed, workspace=workspace, by=by, reason=reason, now=now)
