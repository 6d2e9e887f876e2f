"""The audit entry of a change to memory: ids, states and keyed digests, never content."""

from __future__ import annotations

from collections.abc import Mapping

from huqan_site.lib.canonical_json import JSON
from memory.models import MemoryRecord
from review.access.actors import Actor
from review.audit import log
from review.audit.actions import Action
from review.models import Proposal


def standing(record: MemoryRecord) -> dict[str, JSON]:
    """How a record stands, as an entry tells it. Its value only under the key, since short values can be guessed."""
    return {
        "trust": record.trust,
        "lifecycle": record.lifecycle,
        "value": record.value_key,
        "value_key": record.value_key_id,
    }


def note(
    action: Action,
    record: MemoryRecord,
    proposal: Proposal,
    by: Actor,
    *,
    before: Mapping[str, JSON] | None = None,
    after: Mapping[str, JSON] | None = None,
) -> None:
    """Record what `proposal` did to `record`."""
    log.record(
        action,
        actor=by.audit(),
        workspace=record.workspace_id,
        object=log.ObjectRef("record", record.id),
        binding=proposal.binding,
        before=before,
        after=after,
        proposal=proposal.id,
        agent=proposal.agent_id,
        tool=proposal.tool,
    )
