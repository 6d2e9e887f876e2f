"""One record's life: what it says, where it comes from, how it stands, what happened to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from memory.domain.masking import masked
from memory.queries import conflicts, erasures, people
from memory.queries.verdicts import Judged, Moment, judge
from memory.views import erase
from memory.views.change import QUARANTINE, actions
from memory.words import answer_in_words, reason_in_words, source_of, standing_in_words
from review.access.actors import PersonActor
from review.access.queries import has_role, workspaces_of
from review.access.roles import Role
from review.access.sessions import signed_in
from review.audit.actions import Action

if TYPE_CHECKING:
    from memory.models import MemoryRecord, RecordConflict, RecordEvidence

WITHDRAWN_SHOWN = 5


@require_safe
@signed_in
def record(request: HttpRequest, actor: PersonActor, record_id: UUID) -> HttpResponse:
    now = timezone.now()
    scopes = [workspace.id for workspace in workspaces_of(actor.person.id, now)]
    found = people.record(scopes, record_id)

    manages = has_role(actor.person.id, found.workspace_id, Role.MANAGER, now)
    judged = judge(found.workspace_id, [found], Moment(now))[0]

    context = {
        "back": {"url": reverse("memory"), "label": _("Memory")},
        "status": None,
        "record": _record(found),
        "verdict": judged.verdict.decision.value,
        "reasons": _reasons(judged),
        "held_url": _held_url(found),
        "conflicts": [_conflict(row, found) for row in conflicts.about(found)],
        "evidence": [_evidence(row) for row in people.evidence(found)],
        "withdrawn": _withdrawn(judged),
        "history": [_event(event, manages=manages) for event in people.history(found)],
        "audit_url": f"{reverse('audit')}?about={found.id}" if manages else None,
        "erased": _erased(found),
        "actions": [*actions(found), *erase.action(found)]
        if has_role(actor.person.id, found.workspace_id, Role.REVIEWER, now)
        else [],
    }
    return render(request, "memory/record.html", context)


def _erased(found: MemoryRecord) -> dict[str, Any] | None:
    told = erasures.of_record(found)
    return told and {"at": told.at, "url": reverse("proposal", args=[told.proposal])}


def _record(found: MemoryRecord) -> dict[str, Any]:
    lifecycle, trust = standing_in_words(found)
    kind, ref = source_of(found.provenance)
    before = found.supersedes_id
    return {
        "id": found.id,
        "content": masked(found.content).text,
        "lifecycle": lifecycle,
        "trust": trust,
        "workspace": found.workspace.name,
        "subject": masked(found.subject or "").text,
        "predicate": masked(found.predicate or "").text,
        "source": kind,
        "source_ref": ref,
        "confidence": found.confidence,
        "valid_from": found.valid_from,
        "valid_to": found.valid_to,
        "recorded_at": found.recorded_at,
        "retired_at": found.retired_at,
        "expires_at": found.expires_at,
        "supersedes": {"id": before, "url": reverse("memory_record", args=[before])} if before else None,
        "proposal_url": reverse("proposal", args=[found.proposal_id]),
    }


def _held_url(found: MemoryRecord) -> str | None:
    is_held = (found.trust, found.lifecycle) == ("quarantined", "active")
    return reverse("quarantine_item", args=[found.held_under.id]) if is_held else None


def _reasons(judged: Judged) -> list[str]:
    return [reason_in_words(reason) for reason in judged.verdict.reasons]


def _conflict(row: RecordConflict, found: MemoryRecord) -> dict[str, Any]:
    other = row.newer if row.older_id == found.id else row.older
    closed = answer_in_words(row.answer) if row.answer else _("Nothing is left to resolve")
    return {
        "url": reverse("conflict", args=[row.id]),
        "content": masked(other.content).text,
        "open": row.is_open,
        "stands": _("Open") if row.is_open else closed,
    }


def _evidence(row: RecordEvidence) -> dict[str, Any]:
    kind, ref = source_of(row.provenance)
    by = row.agent.name if row.agent else _("a person")
    return {
        "title": kind,
        "ref": ref,
        "text": "",
        "opened_by": _("said again by %(agent)s") % {"agent": by},
        "url": reverse("proposal", args=[row.proposal_id]),
    }


def _withdrawn(judged: Judged) -> list[dict[str, Any]]:
    """Return what it rests on and was withdrawn: each with its page where it is here."""
    ids = judged.withdrawn[:WITHDRAWN_SHOWN]
    here = people.records(judged.record.workspace_id, ids)
    return [
        {
            "id": id_,
            "url": reverse("memory_record", args=[id_]) if id_ in here else None,
            "stands": ", ".join(standing_in_words(here[id_])) if id_ in here else _("not here"),
        }
        for id_ in ids
    ]


def _event(event: people.Event, *, manages: bool) -> dict[str, Any]:
    did = {
        Action.PROPOSAL_PROPOSED: _("proposed it."),
        Action.MEMORY_WRITTEN: _("approved it, and it was written."),
        Action.MEMORY_CORROBORATED: _("approved another source that says the same."),
        Action.MEMORY_QUARANTINED: _("brought it, and it was held."),
        Action.MEMORY_RELEASED: _("gave the last approval, and it was released."),
        Action.MEMORY_DISCARDED: _("ended it, and it was discarded."),
        Action.MEMORY_ARCHIVED: _("gave the last approval, and it was archived."),
        Action.MEMORY_RESTORED: _("gave the last approval, and it was restored."),
        Action.MEMORY_SUPERSEDED: _("gave the last approval, and it was replaced."),
        Action.MEMORY_RETRACTED: _("gave the last approval, and it was retracted."),
        Action.MEMORY_ERASED: _("gave the last approval, and it was erased."),
    }
    if event.action is Action.MEMORY_QUARANTINED and event.tool == QUARANTINE.tool:
        did[event.action] = _("put it into quarantine.")
    links = [(reverse("proposal", args=[event.proposal]), _("Its proposal"))] if event.proposal else []
    if manages:
        entry = _("Entry %(seq)d") % {"seq": event.seq}
        links.append((reverse("audit_entry", args=[event.seq]), entry))
    return {
        "at": event.at,
        "who": event.who or _("The console"),
        "did": did.get(event.action, event.action.value.replace(".", " ")),
        "links": [{"url": url, "label": label} for url, label in links],
    }
