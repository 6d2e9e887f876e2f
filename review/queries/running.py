"""What became of a call after its approval: its permit, and who was about to run something else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from review.audit import queries as audit
from review.audit.actions import Action
from review.audit.models import Entry
from review.audit.statements import first, prepared
from review.domain.refusals import ArgumentsDrifted
from review.domain.status import Status, is_silent
from review.models import Permit, Proposal

DIFF = "diff"
"""Under this name what was about to run instead is kept beside an entry of a refused permit."""
DRIFTED = f'"code":"{ArgumentsDrifted.code}"'


@dataclass(frozen=True)
class Drift:
    """Somebody was about to run other bytes than the approved ones.

    `rows` are those of `domain.diff.drift`; there are none where he named a binding, or the text was erased.
    """

    who: str
    at: datetime
    rows: list[dict[str, Any]]


def permit_of(proposal: Proposal) -> Permit | None:
    """Return the permit of `proposal`, with who took it."""
    return first(_permits(proposal.id))


@prepared
def _permits(proposal: UUID) -> QuerySet[Permit]:
    return Permit.objects.select_related("redeemed_by").filter(proposal=proposal)


def is_unreported(proposal: Proposal, now: datetime) -> bool:
    """Whether `proposal` runs and nobody reported in time, noted or not."""
    permit = permit_of(proposal) if proposal.status == Status.RUNNING else None
    return permit is not None and is_silent(proposal.status, permit.issued_at, now)


def drifts(proposal: Proposal, limit: int = 5) -> list[Drift]:
    """Return the newest attempts to run something else, newest first."""
    if proposal.decided_at is None:  # only what was approved is compared at all
        return []
    told = audit.history(proposal.workspace_id, proposal=proposal.id)
    refused = [entry for entry in reversed(told) if entry.action == Action.PERMIT_REFUSED]
    return [_drift(entry) for entry in refused if DRIFTED in entry.canonical][:limit]


def _drift(entry: Entry) -> Drift:
    said = audit.private_texts([entry.seq])[entry.seq].get(DIFF)
    return Drift(entry.account or "", entry.time, json.loads(said) if said else [])
