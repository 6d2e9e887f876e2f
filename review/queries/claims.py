"""Who looks at a proposal now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from review.audit.statements import prepared
from review.models import Claim, Proposal


def claims_on(proposals: Sequence[Proposal], now: datetime) -> Mapping[UUID, list[Claim]]:
    """Return the claims on each of `proposals` that have not ended, the oldest first."""
    found: dict[UUID, list[Claim]] = defaultdict(list)
    for claim in _running(tuple(proposal.id for proposal in proposals), now):
        found[claim.proposal_id].append(claim)
    return found


@prepared
def _running(proposals: tuple[UUID, ...], now: datetime) -> QuerySet[Claim]:
    return Claim.objects.filter(proposal__in=proposals, until__gt=now).select_related("person")
