"""Numbers about all proposals, for whoever watches the server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Min

from review.domain.status import Status
from review.models import Proposal


class Measures(NamedTuple):
    """Proposals by state; the age of the oldest pending one in seconds; how many a sweeper has still to meet."""

    by_status: Mapping[str, int]
    oldest_pending: float
    overdue: int


def measures(now: datetime) -> Measures:
    counted = Proposal.objects.order_by().values_list("status").annotate(Count("pk"))
    oldest = Proposal.objects.filter(status=Status.PENDING).aggregate(at=Min("created_at"))["at"]
    return Measures(
        by_status={**{status.value: 0 for status in Status}, **dict(counted)},
        oldest_pending=(now - oldest).total_seconds() if oldest else 0.0,
        overdue=Proposal.objects.overdue(now).count(),
    )
