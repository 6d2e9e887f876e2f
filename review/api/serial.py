"""A proposal as the API gives it. The arguments come from the stored canonical text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone

from review.domain import status as states
from review.domain.binding import utc_seconds
from review.domain.independence import Electorate
from review.queries.cases import Known, current_revisions, electorates_of

if TYPE_CHECKING:
    from review.models import Proposal, Revision


def proposal_json(proposal: Proposal, known: Known | None = None) -> dict[str, Any]:
    """Return one proposal as design 4 shows it; `known` spares a read of what the caller has just laid down."""
    return _json(proposal, *known, timezone.now()) if known else proposals_json([proposal])[0]


def proposals_json(proposals: Sequence[Proposal]) -> list[dict[str, Any]]:
    """Return `proposals`, loaded with workspace and agent, in a constant number of queries."""
    now = timezone.now()
    revisions, electorates = current_revisions(proposals), electorates_of(proposals, now)
    return [_json(one, revisions[one.id], electorates[one.id], now) for one in proposals]


def _json(proposal: Proposal, revision: Revision, electorate: Electorate, now: datetime) -> dict[str, Any]:
    return {
        "id": str(proposal.id),
        "url": f"{settings.HUQAN_BASE_URL}/proposals/{proposal.id}/",
        "workspace": proposal.workspace.name,
        "agent": proposal.agent.name if proposal.agent else None,
        "tool": proposal.tool,
        "arguments": json.loads(revision.arguments),
        "revision": proposal.revision,
        "author": "agent" if revision.author_person_id is None else "person",
        "binding": proposal.binding,
        "status": states.current(proposal.status, proposal.expires_at, now).value,
        "gate": _gate(revision),
        "risk": proposal.risk,
        "approvals": {
            "required": proposal.approvals_required,
            "given": proposal.approvals_given,
            "eligible": len(electorate.eligible(now)),
        },
        "expires_at": whole_seconds(proposal.expires_at),
        "created_at": instant(proposal.created_at),
        "tool_call_id": proposal.tool_call_id,
        "run_id": proposal.run_id,
        "reason": proposal.reason,
        "fields": proposal.fields,
        "outcome": proposal.outcome,
    }


def _gate(revision: Revision) -> dict[str, Any]:
    told = ("code", "outcome", "detail")
    signals = [{name: signal[name] for name in told} for signal in revision.gate["signals"]]
    return {"outcome": revision.gate["outcome"], "signals": signals}


def whole_seconds(at: datetime | None) -> str | None:
    return None if at is None else utc_seconds(at)


def instant(at: datetime) -> str:
    """Return `at` as RFC 3339 in UTC with Z, to the microsecond."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
