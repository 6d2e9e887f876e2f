"""Rejected values: none of them is written again, by any door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.canonical_json import JSON
from memory.gateway.stillness import stand_still
from memory.gateway.values import keys_of
from memory.models import Tombstone, ValueKey
from memory.queries import admission
from review.access.actors import Actor, PersonActor
from review.audit import log
from review.audit.actions import Action
from review.domain.refusals import Inactive, NotFound, Tombstoned
from review.models import Proposal


def refuse_rejected(scope: UUID, keys: Sequence[ValueKey]) -> None:
    """Raises: Tombstoned, naming the tombstone, where the value with these keys was rejected for good."""
    tombstone = admission.tombstone(scope, keys)
    if tombstone:
        raise Tombstoned(tombstone=str(tombstone.id))


def bury(proposal: Proposal, content: str, *, by: Actor) -> Tombstone | None:
    """Reject the value of `content` for good, in the workspace of `proposal`, and return its tombstone.

    Returns None, and makes none, while a trusted record has that value: nobody can ban what is true by
    submitting it himself. That `by` is independent of the proposal is for the caller to know.
    Raises: Unavailable where a key is missing; TypeError unless `by` is a person.
    """
    if not isinstance(by, PersonActor):
        raise TypeError("Only a person rejects a value for good.")
    scope = proposal.workspace_id
    stand_still()
    keys = keys_of(scope, content)
    if admission.twin(scope, keys):
        return None
    return admission.tombstone(scope, keys) or _tombstone(proposal, keys[0], by)


def lift(proposal: Proposal, tombstone_id: UUID, *, by: Actor) -> Tombstone:
    """Let the value of a standing tombstone of the workspace of `proposal` be proposed again. The row stays.

    Raises: NotFound; Inactive where somebody lifted it before.
    """
    stand_still()
    tombstone = Tombstone.objects.filter(workspace_id=proposal.workspace_id, id=tombstone_id).first()
    if tombstone is None:
        raise NotFound
    if tombstone.lifted_at is not None:
        raise Inactive(tombstone=str(tombstone.id))
    tombstone.lifted_at = timezone.now()
    tombstone.save(update_fields=["lifted_at"])
    _note(Action.TOMBSTONE_LIFTED, tombstone, proposal, by, {"lifted": True})
    return tombstone


def _tombstone(proposal: Proposal, key: ValueKey, by: PersonActor) -> Tombstone:
    tombstone = Tombstone.objects.create(
        workspace_id=proposal.workspace_id,
        value_key=key.digest,
        value_key_id=key.key_id,
        proposal=proposal,
        person=by.person,
        created_at=timezone.now(),
    )
    _note(Action.TOMBSTONE_CREATED, tombstone, proposal, by, {})
    return tombstone


def _note(
    action: Action, tombstone: Tombstone, proposal: Proposal, by: Actor, more: Mapping[str, JSON]
) -> None:
    log.record(
        action,
        actor=by.audit(),
        workspace=proposal.workspace_id,
        object=log.ObjectRef("tombstone", tombstone.id),
        binding=proposal.binding,
        after={"value": tombstone.value_key, "value_key": tombstone.value_key_id, **more},
        proposal=proposal.id,
        agent=proposal.agent_id,
        tool=proposal.tool,
    )
