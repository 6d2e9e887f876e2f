"""Which version of a thing a proposal was made for, and what happened to that thing since.

The version is the number of the last entry that the log has about it: whatever changes it is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from review.audit.log import ObjectRef
from review.audit.models import Entry
from review.domain.status import OPEN
from review.effects import effect_of
from review.models import Proposal, Revision


def version_for(tool: str, arguments: Mapping[str, Any]) -> int | None:
    """Return the version of what a call of `tool` would change, as it stands now; None where it only adds."""
    target = _target(tool, arguments)
    return _entries(target).values_list("seq", flat=True).last() if target else None


def is_outdated(proposal: Proposal, revision: Revision, arguments: Mapping[str, Any]) -> bool:
    """Whether what `proposal` would change is no more what it was when `revision` was submitted."""
    if proposal.status not in OPEN:
        return False
    return bool(version_for(proposal.tool, arguments) != revision.gate.get("version"))


def happened_since(revision: Revision, tool: str, arguments: Mapping[str, Any]) -> list[Entry]:
    """Return what the log has about the thing since `revision` was submitted, oldest first."""
    target, version = _target(tool, arguments), revision.gate.get("version")
    return list(_entries(target).filter(seq__gt=version)) if target and version is not None else []


def _target(tool: str, arguments: Mapping[str, Any]) -> ObjectRef | None:
    effect = effect_of(tool)
    return effect.target(arguments) if effect else None


def _entries(target: ObjectRef) -> QuerySet[Entry]:
    return Entry.objects.filter(object_type=target.type, object_id=str(target.id)).order_by("seq")
