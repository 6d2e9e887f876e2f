"""Rows of the lists of proposals, as templates/components/queue_row.html shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from review.access.queries import owners_now
from review.domain import status as states
from review.domain.decision import Case, Verdict, why_not
from review.domain.status import Status
from review.queries.cases import cases_of
from review.queries.claims import claims_on
from review.queries.queue import last_decisions, looked_at
from review.queries.story import proposer_names
from review.views.claims import looking

if TYPE_CHECKING:
    from review.access.models import Person
    from review.models import Decision, Look, Proposal

OUTCOMES: Mapping[Status, str] = {
    Status.EXECUTED: "succeeded",
    Status.CHANGES_REQUESTED: "returned",
    Status.QUARANTINED: "held",
}

#: Where a vote leads. What ended elsewhere was ended by something else, however its last voter voted.
LED_TO: Mapping[Verdict, tuple[Status, ...]] = {
    Verdict.APPROVE: (Status.APPROVED, Status.EXECUTED, *states.REDEEMED),
    Verdict.REJECT: (Status.REJECTED,),
    Verdict.REQUEST_CHANGES: (Status.CHANGES_REQUESTED,),
}


def outcome_of(proposal: Proposal, now: datetime) -> str:
    """Return the name of the state in templates/components/outcome.html; what ran out of time is expired."""
    current = states.current(proposal.status, proposal.expires_at, now)
    return OUTCOMES.get(current, current.value)


def queue_rows(
    person: Person, proposals: Sequence[Proposal], now: datetime, *, several: bool
) -> list[dict[str, Any]]:
    """Return the rows of `proposals`; `several` names the workspace, for who has more than one."""
    cases, claims = cases_of(proposals, now), claims_on(proposals, now)
    looks = looked_at(person, proposals)
    owners, makers = owner_names(proposals, now), proposer_names(proposals)
    return [
        _row(
            proposal,
            cases[proposal.id],
            looks.get(proposal.id),
            makers[proposal.id],
            owners.get(proposal.id, ""),
            looking(claims[proposal.id], person),
            person,
            now,
            several,
        )
        for proposal in proposals
    ]


def gone_rows(
    person: Person, proposals: Sequence[Proposal], now: datetime, *, several: bool
) -> list[dict[str, Any]]:
    """Return the rows of what waited while a list was open and waits no more: grey, with who ended that and when."""
    rows, decisions = queue_rows(person, proposals, now, several=several), last_decisions(proposals)
    for proposal, row in zip(proposals, rows, strict=True):
        row |= {"decided": True, "outcome": None, "note": _ended(proposal, decisions.get(proposal.id), now)}
    return rows


def _ended(proposal: Proposal, decision: Decision | None, now: datetime) -> str:
    status = states.current(proposal.status, proposal.expires_at, now)
    if status is Status.EXPIRED and proposal.expires_at:
        return _("Expired at %(at)s UTC") % {"at": proposal.expires_at.strftime("%H:%M")}
    if decision is not None and status in LED_TO[Verdict(decision.verdict)]:
        return _ended_by(decision)
    if status is Status.REJECTED and proposal.decided_at:
        return _("Rejected at %(at)s UTC") % {"at": proposal.decided_at.strftime("%H:%M")}
    return _("Held") if status is Status.QUARANTINED else _("It waits here no more.")


def _ended_by(decision: Decision) -> str:
    said = {"who": decision.person.name, "at": decision.created_at.strftime("%H:%M")}
    match Verdict(decision.verdict):
        case Verdict.APPROVE:
            return _("Approved by %(who)s at %(at)s UTC") % said
        case Verdict.REJECT:
            return _("Rejected by %(who)s at %(at)s UTC") % said
        case Verdict.REQUEST_CHANGES:
            return _("Sent back by %(who)s at %(at)s UTC") % said


def owner_names(proposals: Sequence[Proposal], now: datetime) -> dict[UUID, str]:
    """Return who answers for the agent of each proposal now, by name."""
    owning = owners_now({proposal.agent_id for proposal in proposals if proposal.agent_id}, now)
    return {
        proposal.id: ", ".join(owner.name for owner in owning[proposal.agent_id]) or _("nobody")
        for proposal in proposals
        if proposal.agent_id
    }


def _row(
    proposal: Proposal,
    case: Case,
    look: Look | None,
    maker: str,
    owner: str,
    claimed: str,
    person: Person,
    now: datetime,
    several: bool,
) -> dict[str, Any]:
    waiting = states.current(proposal.status, proposal.expires_at, now) is Status.PENDING
    changed = waiting and look is not None and look.revision < proposal.revision
    return {
        "id": proposal.id,
        "url": reverse("proposal", args=[proposal.id]),
        "risk": proposal.risk,
        "tool": proposal.tool,
        "summary": proposal.summary,
        "agent": maker,
        "owner": owner,
        "workspace": proposal.workspace.name if several else None,
        "votes": {"given": proposal.approvals_given, "required": proposal.approvals_required},
        "created_at": proposal.created_at,
        "ends_at": proposal.expires_at,
        "outcome": None if waiting else outcome_of(proposal, now),
        "note": _note(case, look if changed else None, person, now) if waiting else "",
        "amber": changed,
        "claim": claimed if waiting else "",
        "decided": False,
        "current": False,
    }


def _note(case: Case, look: Look | None, person: Person, now: datetime) -> str:
    if look is not None:
        return _("Changed since you looked at %(at)s UTC") % {"at": look.at.strftime("%H:%M")}
    return why_not(case, person.id, now) or ""
