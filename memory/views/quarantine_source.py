"""All that is held of one source, to be discarded together: each item on its own binding, each with its result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from memory.queries import held
from memory.views import held_text
from memory.views.quarantine import said_by
from memory.words import source_of
from review.access.actors import PersonActor
from review.access.queries import has_role
from review.access.roles import Role
from review.access.sessions import signed_in
from review.domain.decision import Verdict
from review.domain.gate import Signal
from review.domain.refusals import ReasonRequired
from review.queries.bases import NOTHING
from review.queries.cases import current_revisions
from review.queries.queue import PAGE
from review.queries.visible import visible
from review.services.decide_together import Result, decide_together
from review.views.form import form_nonce, shown_digest, text_of
from review.views.together import chosen, code_of, part_of, rows_of, status_of

if TYPE_CHECKING:
    from memory.models import MemoryRecord
    from review.models import Proposal, Revision


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def quarantine_source(request: HttpRequest, actor: PersonActor, proposal_id: UUID) -> HttpResponse:
    """Show what is held of the source of one item; on POST discard what is checked, and say what became of each."""
    found = visible(actor.person, proposal_id, timezone.now())
    record = held.held_for(found)
    if request.method != "POST":
        return _page(request, actor, record)
    ballots = {id_: part_of(request.POST, id_, Verdict.REJECT) for id_ in chosen(request.POST, "item")}
    return _page(request, actor, record, decide_together(ballots, by=actor))


def _page(
    request: HttpRequest, actor: PersonActor, record: MemoryRecord, results: Sequence[Result] | None = None
) -> HttpResponse:
    now = timezone.now()
    records = list(held.of_source(record)[:PAGE])
    kind, ref = source_of(record.provenance)
    refused = [result.refusal for result in results or () if result.refusal]
    context = {
        "back": {"url": reverse("quarantine"), "label": _("Quarantine"), "place": ""},
        "source_kind": kind,
        "source_ref": ref,
        "agent": "" if ref or record.agent is None else record.agent.name,
        "status": None if results is None else status_of(results),
        "results": rows_of(results or (), "quarantine_item"),
        "items": _items(records, actor, now),
        "may": has_role(actor.person.id, record.workspace_id, Role.REVIEWER, now),
        "reason": text_of(request.POST.get("reason", "")) if refused else "",
        "reason_error": next((one.detail for one in refused if isinstance(one, ReasonRequired)), ""),
    }
    code = 200 if results is None else code_of(results)
    return render(request, "memory/quarantine_source.html", context, status=code)


def _items(records: Sequence[MemoryRecord], actor: PersonActor, now: datetime) -> list[dict[str, Any]]:
    revisions = current_revisions([record.held_under for record in records])
    return [_item(record, revisions[record.held_under.id], actor, now) for record in records]


def _item(record: MemoryRecord, revision: Revision, actor: PersonActor, now: datetime) -> dict[str, Any]:
    proposal, arguments = record.held_under, said_by(record, revision)
    signals = held_text.why_held([Signal.read(members) for members in revision.gate["signals"]])
    page = shown_digest(proposal, revision, NOTHING, {"reasons": [signal.members() for signal in signals]})
    return {
        "id": proposal.id,
        "url": reverse("quarantine_item", args=[proposal.id]),
        "text": held_text.text(arguments["content"], signals),
        "signals": [reason["title"] for reason in held_text.reasons(signals, arguments)],
        "agent": _brought_by(proposal),
        "held_since": record.held_since,
        "revision": proposal.revision,
        "binding": proposal.binding,
        "nonce": form_nonce(proposal, actor, NOTHING, True, page, now),
    }


def _brought_by(proposal: Proposal) -> str:
    return proposal.agent.name if proposal.agent else _("a person")
