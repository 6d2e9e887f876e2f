"""One proposal: everything that a decision needs, in the order in which it is needed."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.domain.binding import Kind
from review.domain.status import OPEN, Status, current
from review.effects import effect_of
from review.queries.bases import Base, bases_of, last_look
from review.queries.cases import case_of
from review.queries.claims import claims_on
from review.queries.running import drifts
from review.queries.story import Story, current_revision
from review.queries.visible import revisable_by, started_by, visible
from review.services.look import look
from review.views import parts
from review.views.claims import claim_form, claimed_notice
from review.views.differences import Asked, asked_of, comparison, pointed
from review.views.form import Typed, Words, decision_form, shown_digest
from review.views.running import drift_notice, ruling_form
from review.views.standing import erased_notice, outdated_notice, three_way, way_back_notice
from review.views.warnings import since_you_looked, warnings_of

if TYPE_CHECKING:
    from review.models import Proposal


@require_safe
@signed_in
def proposal(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    found = visible(actor.person, id, timezone.now())
    if found.status == Status.QUARANTINED:
        return HttpResponseRedirect(reverse("quarantine_item", args=[found.id]))
    context = page(found, actor, asked=asked_of(request), typed=Typed(), now=timezone.now())
    response = render(request, "review/proposal.html", {**context, "status": None})
    if not context["unread"]:  # else its revision would pass for one that was looked at
        look(found, actor.person, again=any(event["new"] for event in context["history"]))
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
    """Return the page of `found`, after an answer with its status region and what was typed."""
    context = page(found, actor, asked=asked_of(request), typed=typed or Typed(), now=timezone.now())
    return render(request, "review/proposal.html", {**context, "status": status}, status=code)


def page(found: Proposal, actor: PersonActor, *, asked: Asked, typed: Typed, now: datetime) -> dict[str, Any]:
    """Return the context of templates/review/proposal.html."""
    case, revision = case_of(found, now), current_revision(found)
    arguments, here = json.loads(revision.arguments), reverse("proposal", args=[found.id])
    bases = bases_of(found, actor.person)
    base = next((one for one in bases if one.key == asked.base), bases[0])
    drifted, past = drifts(found), Story(found)
    claims = claims_on([found], now)[found.id]
    looked_at, diff = last_look(found, actor.person), comparison(base, revision.arguments, asked.cap)
    history = parts.history(past, person=actor.person, since=looked_at)
    warnings = [
        *erased_notice(found, arguments),
        *drift_notice(drifted),
        *outdated_notice(found, revision, arguments),
        *warnings_of(found, revision, arguments, base, now),
        *([] if base.looked_at else since_you_looked(history, looked_at)),
        *claimed_notice(found, claims, actor.person, now),
        *way_back_notice(found, case, actor.person, now),
    ]
    preview = _preview(found, arguments, case.rule.people)
    context = {
        "back": {"url": reverse("queue"), "label": _("Needs me"), "place": ""},
        "claim": claim_form(found, claims, actor.person, now),
        "sentence": parts.sentence(found, arguments, actor.person, now),
        "facts": parts.facts(found, now),
        "warnings": pointed(warnings, diff),
        "diff": {**diff, "every_url": f"{here}{asked.of_all()}#changes"},
        "bases": _bases(found, bases, base),
        "url": here,
        "own": _own(found, actor, now),
        "edit_url": parts.edit_url(found, case.electorate, actor.person, now),
        "raw": {"text": revision.arguments, "bytes": len(revision.arguments.encode())},
        "preview": preview,
        "three_way": three_way(found, revision, arguments),
        "run_note": _run_note(found, case.rule.people),
        "evidence": parts.evidence(revision),
        **parts.agent_words(found, revision),
        "votes": parts.votes(past, case),
        "policy": parts.policy(found, case, actor.person, now),
        "history": history,
        "comment": parts.comment_form(found, revision, typed),
        "audit_url": parts.audit_url(found, actor.person, now),
        "drifts": drifted,
        "ruling": ruling_form(found, case, actor, typed, now),
        "rail": parts.rail(past, case, actor.person, now),
    }
    shown = shown_digest(
        found,
        revision,
        base,
        {"warnings": [w["title"] for w in warnings], "preview": preview and preview["rows"]},
    )
    unread = _unread(base is bases[0], diff)
    decision = decision_form(
        found,
        revision,
        case,
        actor,
        base=base,
        unread=unread,
        page=shown,
        words=Words(_("Approve"), _("Reject"), _("this call")),
        typed=typed,
        action=f"{reverse('decide', args=[found.id])}{asked}",
        now=now,
    )
    return {
        **context,
        "typed": [(_("Reason"), typed.reason)] if not decision and not context["ruling"] else [],
        "decision": decision,
        "unread": unread,
        "closed": None if decision else parts.closed(found, case, actor, now),
    }


def _unread(is_reviewed: bool, diff: dict[str, Any]) -> str:
    """Return why nobody can approve on this page, whoever he is; empty where it shows all that differs."""
    if not is_reviewed:
        return _("Compare with what was reviewed to approve.")
    if diff["unread"]:
        return _("Show all rows of the comparison to approve.")
    return ""


def _preview(found: Proposal, arguments: dict[str, Any], people: int) -> dict[str, Any] | None:
    effect = effect_of(found.tool)
    if effect is None or found.status != Status.PENDING:
        return None
    rows = [row._asdict() for row in effect.preview(found, arguments)]
    return {"rows": rows, "people": people}


def _run_note(found: Proposal, people: int) -> str:
    if effect_of(found.tool) is not None or found.status != Status.PENDING:
        return ""
    return _(
        "The console does not run this tool. Approvals needed: %(n)d. "
        "Then its executor can take one permit for exactly these bytes, once."
    ) % {"n": people}


def _own(found: Proposal, actor: PersonActor, now: datetime) -> dict[str, str | None] | None:
    """What the person who proposed it can do with it, while it is open."""
    status = current(found.status, found.expires_at, now)
    if status not in OPEN or not started_by(found, actor.person.id):
        return None
    revise = f"{reverse('policy_edit')}?{urlencode({'workspace': found.workspace.name, 'from': found.id})}"
    return {
        "withdraw_url": reverse("withdraw", args=[found.id]),
        "revise_url": revise if revisable_by(found, actor.person.id, now) else None,
    }


def _bases(found: Proposal, bases: list[Base], chosen: Base) -> dict[str, Any] | None:
    if len(bases) < 2 and bases[0].text is None:
        return None
    options = [(base.key, _named(base, found)) for base in bases]
    return {"options": options, "chosen": chosen.key, "decidable": chosen is bases[0]}


def _named(base: Base, found: Proposal) -> str:
    if base.looked_at:
        return _("revision %(n)d, which you looked at") % {"n": base.revision}
    if base.revision:
        return _("revision %(n)d") % {"n": base.revision}
    if base.proposal:
        return _("the last approved call")
    if base.text is None:
        return _("nothing, show all values")
    return _("the policy that runs") if found.kind == Kind.POLICY_CHANGE else _("the record as it stands")
