"""Which version of a thing a proposal was made for, and what happened to that thing since.

The version is the number of the last entry that the log has about it: whatever changes it is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Max, QuerySet

from review.audit.log import ObjectRef
from review.audit.models import Entry
from review.domain.status import OPEN
from review.effects import Version, effect_of
from review.models import Proposal, Revision


def version_for(tool: str, arguments: Mapping[str, Any]) -> int | None:
    """Return the version of what a call of `tool` would change, as it stands now; None where it only adds."""
    target = _target(tool, arguments)
    return _entries(target).values_list("seq", flat=True).last() if target else None


def outdated(
    proposals: Sequence[Proposal], revisions: Mapping[UUID, Revision], arguments: Mapping[UUID, Any]
) -> set[UUID]:
    """Return which open `proposals` would change what is no more what it was when their revision was submitted."""
    targets = {one.id: _target(one.tool, arguments[one.id]) for one in proposals if one.status in OPEN}
    named = {proposal: (target.type, str(target.id)) for proposal, target in targets.items() if target}
    versions = _versions(set(named.values())) if named else {}
    return {
        proposal
        for proposal, thing in named.items()
        if versions.get(thing) != revisions[proposal].gate.get("version")
    }


def _versions(things: Collection[tuple[str, str]]) -> dict[tuple[str | None, str | None], int]:
    """Return the version of each of `things`, named by type and id, in one query."""
    told = Entry.objects.filter(object_id__in=[named for _, named in things]).order_by()
    newest = told.values("object_type", "object_id").annotate(version=Max("seq"))
    return {(row["object_type"], row["object_id"]): row["version"] for row in newest}


def happened_since(revision: Revision, tool: str, arguments: Mapping[str, Any]) -> list[Entry]:
    """Return what the log has about the thing since `revision` was submitted, oldest first."""
    target, version = _target(tool, arguments), revision.gate.get("version")
    return list(_entries(target).filter(seq__gt=version)) if target and version is not None else []


def made_for(revision: Revision, tool: str, arguments: Mapping[str, Any]) -> Version | None:
    """Return the thing as `revision` was made for it; None for a revision that only adds."""
    target, version = _target(tool, arguments), revision.gate.get("version")
    if target is None or version is None:
        return None
    state: dict[str, Any] = {}
    for entry in _entries(target).filter(seq__lte=version):
        state |= json.loads(entry.canonical).get("after", {})
    return Version(revision.created_at, state)


def _target(tool: str, arguments: Mapping[str, Any]) -> ObjectRef | None:
    effect = effect_of(tool)
    return effect.target(arguments) if effect else None


def _entries(target: ObjectRef) -> QuerySet[Entry]:
    return Entry.objects.filter(object_type=target.type, object_id=str(target.id)).order_by("seq")
