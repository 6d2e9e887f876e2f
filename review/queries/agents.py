"""What an agent sees: its own proposals, and nothing of anybody else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from review.access.models import Agent
from review.domain.status import EXPIRING, Status, current
from review.models import Proposal, ProposalQuerySet
from review.queries.paging import Keyset, Page

NEWEST_FIRST = Keyset("huqan.api.proposals", (("-id", "id"),))


@dataclass(frozen=True)
class Filters:
    status: Status | None = None
    tool: str | None = None
    run_id: str | None = None

    def scope(self) -> list[str]:
        return [self.status or "", self.tool or "", self.run_id or ""]


def page(agent: Agent, filters: Filters, cursor: str | None, size: int, now: datetime) -> Page[Proposal]:
    """Return a page of the proposals of `agent`, newest first.

    Raises: BadCursor.
    """
    rows = Proposal.objects.filter(agent=agent).select_related("workspace", "agent")
    chosen = _in_status(rows, filters.status, now)
    if filters.tool is not None:
        chosen = chosen.filter(tool__iexact=filters.tool)
    if filters.run_id is not None:
        chosen = chosen.filter(run_id=filters.run_id)
    return NEWEST_FIRST.page(chosen, cursor=cursor, size=size, scope=[str(agent.id), *filters.scope()])


def standing(proposal_id: UUID, now: datetime) -> tuple[Status, int] | None:
    """Return state and revision as they are `now`, whether or not a sweeper came; what a long poll watches."""
    row = Proposal.objects.filter(pk=proposal_id).values_list("status", "expires_at", "revision").first()
    return (current(row[0], row[1], now), row[2]) if row else None


def _in_status(rows: ProposalQuerySet, status: Status | None, now: datetime) -> ProposalQuerySet:
    """Expiry is judged here too: what ran out of time is expired, whether or not a sweeper met it."""
    over = Q(status__in=EXPIRING, expires_at__lte=now)
    if status is None:
        return rows
    if status is Status.EXPIRED:
        return rows.filter(Q(status=status) | over)
    return rows.filter(status=status).exclude(over) if status in EXPIRING else rows.filter(status=status)
