"""One held memory: why it is held, its text, what stands beside it, and the decision."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from huqan_site.lib.canonical_json import canonical
from memory.domain.masking import masked, masked_value
from memory.gateway.columns import as_arguments
from memory.queries import held, people, would_be
from memory.queries.people import Neighbour
from memory.views import held_text
from memory.words import source_in_words
from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.domain.decision import Case
from review.domain.diff import EVERY
from review.domain.gate import Signal
from review.domain.refusals import NotFound
from review.domain.status import Status
from review.queries.bases import NOTHING
from review.queries.cases import case_of, current_revisions
from review.queries.claims import claims_on
from review.queries.story import Story
from review.queries.visible import visible
from review.services.look import look
from review.views import parts
from review.views.claims import claim_form, claimed_notice
from review.views.differences import comparison
from review.views.form import Typed, Words, decision_form, shown_digest
from review.views.warnings import suspicious

if TYPE_CHECKING:
    from memory.models import MemoryRecord
    from review.models import Proposal, Revision


@require_safe
@signed_in
def quarantine_item(request: HttpRequest, actor: PersonActor, proposal_id: UUID) -> HttpResponse:
    found = visible(actor.person, proposal_id, timezone.now())
    try:
        response = show(request, actor, found)
    except NotFound:  # it was never held
        return HttpResponseRedirect(reverse("proposal", args=[found.id]))
    look(found, actor.person)
    return response


def show(
    request: HttpRequest,
    actor: PersonActor,
    found: Proposal,
    *,
    status: dict[str, Any] | None = None,
    typed: Typed | None = None,
    code: int = 200,
) -> HttpResponse:
    """Return the page of `found`, after an answer with its status region and what was typed.

    Raises: NotFound where nothing was ever held for it.
    """
    context = page(found, actor, typed=typed or Typed(), now=timezone.now())
    return render(request, "memory/quarantine_item.html", {**context, "status": status}, status=code)


def page(found: Proposal, actor: PersonActor, *, typed: Typed, now: datetime) -> dict[str, Any]:
    """Return the context of templates/memory/quarantine_item.html."""
    record, revision = held.held_for(found), current_revisions([found])[found.id]
    case, arguments, past = case_of(found, now), said_by(record, revision), Story(found)
    signals = held_text.why_held([Signal.read(members) for members in revision.gate["signals"]])
    claims, beside = claims_on([found], now)[found.id], _beside(record)
    warnings = [*suspicious(masked_value(arguments)), *claimed_notice(found, claims, actor.person, now)]
    readers = [agent.name for agent in people.readers(found.workspace_id, now)]
    context = {
        **_place(found, actor, now),
        "claim": claim_form(found, claims, actor.person, now),
        "source": _source(found, record),
        "sentence": parts.sentence(found, masked_value(json.loads(revision.arguments)), actor.person, now),
        "facts": _facts(found, record, case, now),
        "readable": case.status is not Status.QUARANTINED and found.status == Status.EXECUTED,
        "warnings": warnings,
        "reasons": held_text.reasons(signals, arguments),
        "text": held_text.text(arguments["content"], signals),
        "others": _others(arguments),
        "raw": _raw(revision.arguments),
        "beside": beside,
        "answers": _answers(record, case, actor, readers, beside, again=record.held_by_id == found.id),
        "set_aside": record.held_by_id == found.id,
        **_words(found, revision),
        "votes": parts.votes(past, case),
        "policy": parts.policy(found, case, actor.person, now),
        "history": parts.history(past),
        "comment": parts.comment_form(found, revision, typed),
        "audit_url": parts.audit_url(found, actor.person, now),
        "rail": parts.rail(past, case, actor.person, now),
    }
    shown = {
        "warnings": [warning["title"] for warning in warnings],
        "reasons": [signal.members() for signal in signals],
        "beside": [str(row["id"]) for row in beside],
        "said": arguments,
    }
    decision = decision_form(
        found,
        revision,
        case,
        actor,
        base=NOTHING,
        unread="",
        page=shown_digest(found, revision, NOTHING, shown),
        words=Words(_("Release"), _("Discard"), _("this memory")),
        typed=typed,
        action=reverse("quarantine_decide", args=[found.id]),
        now=now,
    )
    return {
        **context,
        "decision": decision,
        "closed": None if decision else parts.closed(found, case, actor, now),
    }


def _place(found: Proposal, actor: PersonActor, now: datetime) -> dict[str, Any]:
    """Return where it stands in the list of what is held, and the way to the next."""
    place = held.place_of(found.id, actor.person, now)
    said = _("%(n)d of %(of)d") % {"n": place.number, "of": place.of} if place else ""
    return {
        "back": {"url": reverse("quarantine"), "label": _("Quarantine"), "place": said},
        "previous_url": _item_url(place.previous) if place else None,
        "next_url": _item_url(place.following) if place else None,
    }


def _item_url(proposal: UUID | None) -> str | None:
    return reverse("quarantine_item", args=[proposal]) if proposal else None


def _source(found: Proposal, record: MemoryRecord) -> dict[str, Any] | None:
    """Return how many others of its source are held, and the page on which all of them can be discarded."""
    others = held.of_source(record).exclude(id=record.id).count()
    if not others:
        return None
    title = ngettext("%(n)d more of this source is held", "%(n)d more of this source are held", others)
    return {"title": title % {"n": others}, "url": reverse("quarantine_source", args=[found.id])}


def _facts(found: Proposal, record: MemoryRecord, case: Case, now: datetime) -> dict[str, Any]:
    is_held = case.status is Status.QUARANTINED
    return {
        **parts.facts(found, now),
        "risk": str(case.rule.risk),
        "to_release": is_held,
        "held_since": record.held_since if is_held else None,
    }


def said_by(record: MemoryRecord, revision: Revision) -> dict[str, Any]:
    """Return what is held, as a write would have said it: what was set aside says it itself."""
    said: dict[str, Any] = json.loads(revision.arguments)
    return said if "content" in said else as_arguments(record)


def _words(found: Proposal, revision: Revision) -> dict[str, Any]:
    """Return who speaks, the agent or the person who put it here, with the secrets that were said not shown."""
    said = parts.agent_words(found, revision)
    shown = {name: masked(said[name]).text for name in ("words", "editor_words")}
    return {**said, **shown}


def _others(arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments beside the text, whole; their secrets, too, only in words."""
    rest = {name: value for name, value in masked_value(arguments).items() if name != "content"}
    return comparison(NOTHING, canonical(rest), EVERY)["items_in_order"] if rest else []


def _raw(text: str) -> dict[str, Any] | None:
    """Return the canonical bytes, unless a secret stands in them."""
    return None if masked(text).is_masked else {"text": text, "bytes": len(text.encode())}


def _beside(record: MemoryRecord) -> list[dict[str, Any]]:
    return [_neighbour(neighbour) for neighbour in people.neighbours(record)]


def _neighbour(neighbour: Neighbour) -> dict[str, Any]:
    record, contradicts = neighbour
    return {
        "relation": "contradicts" if contradicts else "same",
        "text": masked(record.content).text,
        "id": record.id,
        "url": reverse("memory_record", args=[record.id]),
        "source": source_in_words(record.provenance),
    }


def _answers(
    record: MemoryRecord,
    case: Case,
    actor: PersonActor,
    readers: list[str],
    beside: list[dict[str, Any]],
    *,
    again: bool,
) -> dict[str, str]:
    number = len(readers)
    becomes = _("It is a trusted record again") if again else _("It becomes a trusted record")
    release = ngettext(
        "%(becomes)s, and %(n)d agent can recall it: %(who)s.",
        "%(becomes)s, and %(n)d agents can recall it: %(who)s.",
        number,
    ) % {"becomes": becomes, "n": number, "who": ", ".join(readers) or _("none at the moment")}
    sentences = [release, *_in_recall(record, case, beside), _needs(case)]
    return {"release": " ".join(sentences), "discard": _discarding(case, actor)}


def _in_recall(record: MemoryRecord, case: Case, beside: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what its release would do to what agents get, while that is still to be decided."""
    if case.status is not Status.QUARANTINED:
        return
    if place := would_be.rank(record):
        yield _("Recall of its first words would show it at rank %(rank)d.") % {"rank": place}
    if conflicts := sum(row["relation"] == "contradicts" for row in beside):
        opens = ngettext("%(n)d conflict opens.", "%(n)d conflicts open.", conflicts)
        yield opens % {"n": conflicts}


def _needs(case: Case) -> str:
    people = case.rule.people
    return ngettext("It takes %(n)d independent person.", "It takes %(n)d independent people.", people) % {
        "n": people
    }


def _discarding(case: Case, actor: PersonActor) -> str:
    if actor.person.id in case.electorate.conflicts:
        return _(
            "No agent ever reads it. You are not independent of it, so the same value may be proposed again."
        )
    return _(
        "No agent ever reads it, and the same value is refused from then on, also in other letters. "
        "A value that a trusted record has is not refused."
    )
