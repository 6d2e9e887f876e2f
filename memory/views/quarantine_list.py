"""What is held, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from memory.domain.masking import masked, masked_value
from memory.queries import held
from memory.queries.held import Filters, View
from memory.views.address import address, any_of, asked
from memory.words import signal_title, source_of
from review.access import wording
from review.access.actors import PersonActor
from review.access.queries import workspaces_of
from review.access.sessions import signed_in
from review.domain.decision import why_not
from review.domain.summary import summarise
from review.queries.cases import cases_of, current_revisions
from review.queries.claims import claims_on
from review.views.claims import looking
from review.views.rows import owner_names

if TYPE_CHECKING:
    from memory.models import MemoryRecord
    from review.access.models import Person
    from review.models import Proposal, Revision


NAME = "quarantine"


@require_safe
@signed_in
def quarantine(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    now = timezone.now()
    view, filters = _view(request), _filters(request)

    found = held.page(actor.person, view, filters, request.GET.get("cursor"), now)
    counts = held.counts(actor.person, now)
    several = len(workspaces_of(actor.person.id, now)) > 1

    context = {
        "view": {
            "key": view.value,
            "title": _titles()[view],
            "sentence": _sentence(view, counts, actor.person, now),
        },
        "views": _views(view, counts),
        "list_url": reverse(NAME),
        "filters": _picks(filters, held.choices(actor.person, view, now)),
        "query": filters.search,
        "filtered": any(filters.scope()),
        "clear_url": address(NAME, {"view": _key(view)}),
        "rows": _rows(found.rows, view, actor.person, now, several=several),
        "shown": _shown(len(found.rows), found.next_cursor),
        "next_url": _address(view, filters, found.next_cursor) if found.next_cursor else None,
        "first_url": _address(view, filters) if request.GET.get("cursor") else None,
    }
    return render(request, "memory/quarantine_list.html", context)


def _view(request: HttpRequest) -> View:
    chosen = request.GET.get("view", View.HELD)
    return View(chosen) if chosen in set(View) else View.HELD


def _key(view: View) -> str | None:
    return None if view is View.HELD else view.value


def _filters(request: HttpRequest) -> Filters:
    return Filters(*(asked(request, name) for name in ("workspace", "reason", "source", "agent", "q")))


def _address(view: View, filters: Filters, cursor: str | None = None) -> str:
    asks = {
        "workspace": filters.workspace,
        "reason": filters.reason,
        "source": filters.source,
        "agent": filters.agent,
        "q": filters.search,
    }
    return address(NAME, {"view": _key(view), **asks, "cursor": cursor})


def _titles() -> Mapping[View, str]:
    return {View.HELD: _("Held"), View.RELEASED: _("Released"), View.DISCARDED: _("Discarded")}


def _views(current: View, counts: Mapping[View, int]) -> list[dict[str, Any]]:
    return [
        {
            "key": view.value,
            "label": title,
            "count": counts[view] if view is View.HELD else None,
            "url": address(NAME, {"view": _key(view)}),
            "current": view is current,
        }
        for view, title in _titles().items()
    ]


def _sentence(view: View, counts: Mapping[View, int], person: Person, now: datetime) -> str:
    match view:
        case View.HELD:
            number = held.decidable(person, now)
            return ngettext("%(n)d of them waits for you", "%(n)d of them wait for you", number) % {
                "n": number
            }
        case View.RELEASED:
            return _("Agents can recall these: independent people have released them.")
        case View.DISCARDED:
            return _("No agent has read these, and none will.")


def _picks(filters: Filters, offered: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    reasons = [("", _("any")), *((code, signal_title(code)) for code in held.REASONS)]
    picks = (
        ("workspace", _("Workspace"), any_of(offered["workspace"], _("all"))),
        ("reason", _("Reason"), reasons),
        ("source", _("Source"), any_of(offered["source"], _("any"))),
        ("agent", _("Agent"), any_of(offered["agent"], _("any"))),
    )
    return [
        {"name": name, "label": label, "options": options, "chosen": getattr(filters, name)}
        for name, label, options in picks
    ]


def _shown(number: int, next_cursor: str | None) -> str:
    sentence = _("%(n)d shown, more follow") if next_cursor else _("All %(n)d shown")
    return sentence % {"n": number}


def _rows(
    records: Sequence[MemoryRecord], view: View, person: Person, now: datetime, *, several: bool
) -> list[dict[str, Any]]:
    proposals = [record.held_under for record in records]
    revisions, owners = current_revisions(proposals), owner_names(proposals, now)
    waiting = proposals if view is View.HELD else []
    notes, claims = _notes(waiting, person, now), claims_on(waiting, now)
    return [
        _row(
            record,
            revisions[proposal.id],
            owners.get(proposal.id, ""),
            notes.get(proposal.id),
            looking(claims.get(proposal.id, ()), person),
            several,
        )
        for record, proposal in zip(records, proposals, strict=True)
    ]


def _notes(proposals: Sequence[Proposal], person: Person, now: datetime) -> dict[UUID, str | None]:
    """Return for each proposal why this person cannot release it, or None."""
    return {id_: why_not(case, person.id, now) for id_, case in cases_of(proposals, now).items()}


def _row(
    record: MemoryRecord, revision: Revision, owner: str, note: str | None, claimed: str, several: bool
) -> dict[str, Any]:
    kind, ref = source_of(record.provenance)
    proposal = record.held_under
    signals = [signal for signal in revision.gate["signals"] if signal["outcome"] == "quarantine"]
    return {
        "id": proposal.id,
        "url": reverse("quarantine_item", args=[proposal.id]),
        "text": wording.said(summarise(record.proposal.tool, masked_value({"content": record.content}))),
        "secret": masked(record.content).is_masked,
        "signals": [signal_title(signal["code"]) for signal in signals],
        "source_kind": kind,
        "source_ref": ref,
        "agent": proposal.agent.name if proposal.agent else _("a person"),
        "owner": owner,
        "workspace": record.workspace.name if several else None,
        "votes": {"given": proposal.approvals_given, "required": proposal.approvals_required},
        "note": note or "",
        "claim": claimed,
        "held_since": record.held_since,
        "current": False,
    }
