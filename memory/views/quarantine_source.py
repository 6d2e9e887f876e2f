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
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from huqan_site.lib.problems import Refusal
from memory.queries import held
from memory.views import held_text
from memory.views.quarantine import said_by
from memory.words import source_of
from review.access.actors import PersonActor
from review.access.queries import has_role
from review.access.roles import Role
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.domain.decision import Verdict
from review.domain.gate import Signal
from review.domain.refusals import Invalid, NotFound, ReasonRequired
from review.queries.bases import NOTHING
from review.queries.cases import current_revisions
from review.queries.visible import visible
from review.services.decide import Ballot, decide
from review.views.form import form_nonce, number_of, shown_digest, text_of

if TYPE_CHECKING:
    from memory.models import MemoryRecord
    from review.models import Proposal, Revision

MOST = 50  # items on the page, and decided in one request


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def quarantine_source(request: HttpRequest, actor: PersonActor, proposal_id: UUID) -> HttpResponse:
    """Show what is held of the source of one item; on POST discard what is checked, and say what became of each."""
    found = visible(actor.person, proposal_id, timezone.now())
    record, results = held.held_for(found), list[dict[str, Any]]()
    if request.method == "POST":
        results = [_discard(request, actor, id_) for id_ in _checked(request)]
    return _page(request, actor, record, results)


def _checked(request: HttpRequest) -> list[UUID]:
    """Return the items that the form names, each once; what is no id of ours names nothing."""
    posted = dict.fromkeys(request.POST.getlist("item")[:MOST])
    return [UUID(text) for text in posted if len(text) == 36 and _is_uuid(text)]


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _discard(request: HttpRequest, actor: PersonActor, id_: UUID) -> dict[str, Any]:
    """Decide on one item by what its own part of the form says, and return its row of the results."""
    posted = request.POST
    ballot = Ballot(
        verdict=Verdict.REJECT,
        revision=number_of(posted.get(f"revision-{id_}", "")),
        binding=posted.get(f"binding-{id_}", ""),
        nonce=posted.get(f"nonce-{id_}", ""),
        reason=text_of(posted.get("reason", "")),
    )
    try:
        decided = decide(id_, by=actor, ballot=ballot).proposal
    except NotFound as refusal:
        return _result(str(id_), None, refusal)
    except Refusal as refusal:
        return _result(str(id_), reverse("quarantine_item", args=[id_]), refusal)
    return _result(decided.summary, reverse("quarantine_item", args=[id_]), None)


def _result(text: str, url: str | None, refusal: Refusal | None) -> dict[str, Any]:
    said = refusal.detail if refusal else _("Discarded")
    return {"text": text, "url": url, "said": said, "refusal": refusal}


def _page(
    request: HttpRequest, actor: PersonActor, record: MemoryRecord, results: Sequence[dict[str, Any]]
) -> HttpResponse:
    now = timezone.now()
    records = list(held.of_source(record)[:MOST])
    kind, ref = source_of(record.provenance)
    posted = request.method == "POST"
    refused = [result["refusal"] for result in results if result["refusal"]]
    if posted and not results:
        refused = [Invalid(_("Nothing was checked. Check what is to be discarded."))]
    context = {
        "back": {"url": reverse("quarantine"), "label": _("Quarantine"), "place": ""},
        "source_kind": kind,
        "source_ref": ref,
        "agent": "" if ref or record.agent is None else record.agent.name,
        "status": _status(results, refused) if posted else None,
        "results": results,
        "items": _items(records, actor, now),
        "may": has_role(actor.person.id, record.workspace_id, Role.REVIEWER, now),
        "reason": text_of(request.POST.get("reason", "")) if refused else "",
        "reason_error": next((one.detail for one in refused if isinstance(one, ReasonRequired)), ""),
    }
    nothing_done = refused and len(refused) >= len(results)
    return render(
        request, "memory/quarantine_source.html", context, status=refused[0].status if nothing_done else 200
    )


def _status(results: Sequence[dict[str, Any]], refused: Sequence[Refusal]) -> dict[str, Any]:
    if refused and len(refused) >= len(results):
        return refused_status(refused[0], _("Not recorded. %(why)s") % {"why": refused[0].detail})
    done = len(results) - len(refused)
    title = ngettext("Recorded: you discarded %(n)d memory.", "Recorded: you discarded %(n)d memories.", done)
    left = ngettext("%(n)d is not; see why below.", "%(n)d are not; see why below.", len(refused))
    return {
        "recorded": True,
        "title": title % {"n": done},
        "sentence": left % {"n": len(refused)} if refused else "",
    }


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
