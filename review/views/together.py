"""Several proposals at once: each is shown whole on its own binding, and each gets its own result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from huqan_site.lib.problems import Refusal
from review.access import wording
from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.access.views.shared import refused_status
from review.domain.decision import OPEN_TO, Case, Verdict, why_not
from review.domain.refusals import NotTogether, ReasonRequired
from review.domain.status import Status, current
from review.domain.together import Kind, refuse_together
from review.queries.bases import NOTHING, bases_of
from review.queries.cases import cases_of, current_revisions
from review.queries.queue import PAGE
from review.queries.visible import among
from review.services.decide import Ballot
from review.services.decide_together import Result, decide_together
from review.views.differences import comparison, needs_opening
from review.views.form import form_nonce, number_of, shown_digest, text_of
from review.views.warnings import suspicious

if TYPE_CHECKING:
    from review.models import Proposal, Revision


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def together(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """Show what was selected with what one answer would do; on POST give it, and say what became of each."""
    if request.method == "POST":
        return _answered(request, actor)
    verdict = _verdict(request.GET)
    found = among(actor.person, chosen(request.GET, "proposal"), timezone.now())
    return _page(request, actor, verdict, found, {"status": None, "reason": ""})


def _answered(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    verdict, ids = _verdict(request.POST), chosen(request.POST, "proposal")
    results = decide_together({id_: part_of(request.POST, id_, verdict) for id_ in ids}, by=actor)
    open_still = [result.id for result in results if isinstance(result.refusal, ReasonRequired | NotTogether)]
    said = {
        "status": status_of(results),
        "results": rows_of(results),
        "reason": text_of(request.POST.get("reason", "")) if open_still else "",
    }
    found = among(actor.person, open_still, timezone.now())
    return _page(request, actor, verdict, found, said, code=code_of(results))


def chosen(sent: QueryDict, name: str) -> list[UUID]:
    """Return the ids under `name`, each once, a page of them at most; what is no id of ours names nothing."""
    return [id_ for text in dict.fromkeys(sent.getlist(name)[:PAGE]) for id_ in _id(text)]


def _id(text: str) -> Iterable[UUID]:
    try:
        id_ = UUID(text)
    except ValueError:
        return []
    return [id_] if str(id_) == text else []


def part_of(posted: QueryDict, id_: UUID, verdict: str) -> Ballot:
    """Return the ballot for one of several: its own binding and nonce, and the reason that stands with each."""
    return Ballot(
        verdict=verdict,
        revision=number_of(posted.get(f"revision-{id_}", "")),
        binding=posted.get(f"binding-{id_}", ""),
        nonce=posted.get(f"nonce-{id_}", ""),
        reason=text_of(posted.get("reason", "")),
    )


def rows_of(results: Sequence[Result], page: str = "proposal") -> list[dict[str, Any]]:
    """Return the rows of templates/components/results.html, each leading to the `page` of its proposal."""
    return [
        {
            "text": result.proposal.summary if result.proposal else str(result.id),
            "url": reverse(page, args=[result.id]),
            "said": result.refusal.detail if result.refusal else "",
            "code": result.refusal.code if result.refusal else "",
        }
        for result in results
    ]


def code_of(results: Sequence[Result]) -> int:
    """Return the HTTP status: that of the first refusal where nothing was recorded, 422 where nothing was asked."""
    refused = _refused(results)
    if not results:
        return 422
    return refused[0].status if len(refused) == len(results) else 200


def _refused(results: Sequence[Result]) -> list[Refusal]:
    return [result.refusal for result in results if result.refusal]


def status_of(results: Sequence[Result]) -> dict[str, Any]:
    """Return the status region: how many were recorded, and how many were not."""
    refused = _refused(results)
    done = len(results) - len(refused)
    if results and not done:
        return refused_status(refused[0], _("Not recorded. %(why)s") % {"why": refused[0].detail})
    title = ngettext("Recorded: one decision.", "Recorded: %(n)d decisions.", done) % {"n": done}
    left = ngettext("%(n)d is not; see why below.", "%(n)d are not; see why below.", len(refused))
    return {
        "recorded": bool(results),
        "title": title if results else _("Not recorded. Nothing was selected."),
        "sentence": left % {"n": len(refused)} if refused else "",
    }


def _verdict(sent: QueryDict) -> str:
    """Anything but an approval is a rejection: the page says which before anything is sent."""
    return Verdict.APPROVE if sent.get("verdict") == Verdict.APPROVE else Verdict.REJECT


def _page(
    request: HttpRequest,
    actor: PersonActor,
    verdict: str,
    found: Sequence[Proposal],
    said: dict[str, Any],
    code: int = 200,
) -> HttpResponse:
    now = timezone.now()
    items = _items(found, actor, verdict, now)
    context = {
        "back": {"url": reverse("queue"), "label": _("Queue"), "place": ""},
        "approving": verdict == Verdict.APPROVE,
        "verdict": verdict,
        "items": items,
        "ready": sum(not item["why"] for item in items),
        "action": reverse("together"),
        **said,
    }
    return render(request, "review/together.html", context, status=code)


def _items(
    found: Sequence[Proposal], actor: PersonActor, verdict: str, now: datetime
) -> list[dict[str, Any]]:
    cases, revisions = cases_of(found, now), current_revisions(found)
    alike = _unlike(found) if verdict == Verdict.APPROVE else ""
    return [
        _item(proposal, revisions[proposal.id], cases[proposal.id], actor, verdict, alike, now)
        for proposal in found
    ]


def _unlike(found: Sequence[Proposal]) -> str:
    """Return why these cannot be approved together; empty where they can."""
    try:
        refuse_together([Kind(proposal.tool, proposal.risk) for proposal in found])
    except NotTogether as refusal:
        return refusal.detail
    return ""


def _item(
    proposal: Proposal,
    revision: Revision,
    case: Case,
    actor: PersonActor,
    verdict: str,
    unlike: str,
    now: datetime,
) -> dict[str, Any]:
    approving = verdict == Verdict.APPROVE
    base = bases_of(proposal, actor.person)[0] if approving else NOTHING
    diff = comparison(base, revision.arguments)
    warnings = suspicious(json.loads(revision.arguments))
    page = shown_digest(proposal, revision, base, {"warnings": [warning["title"] for warning in warnings]})
    why = _closed(case, actor, verdict, now)
    if approving:
        why = why or why_not(case, actor.person.id, now) or unlike or _by_itself(case, diff, warnings)
    return {
        "id": proposal.id,
        "url": reverse("proposal", args=[proposal.id]),
        "summary": proposal.summary,
        "tool": proposal.tool,
        "risk": proposal.risk,
        "agent": proposal.agent.name if proposal.agent else "",
        "diff": diff,
        "warnings": warnings,
        "why": why,
        "revision": proposal.revision,
        "binding": proposal.binding,
        "nonce": form_nonce(proposal, actor, base, approving, page, now),
    }


def _closed(case: Case, actor: PersonActor, verdict: str, now: datetime) -> str:
    """Return why this verdict is not open to this person; empty where it is. What is held has its own page."""
    status = current(case.status, case.expires_at, now)
    if status is Status.QUARANTINED or Verdict(verdict) not in OPEN_TO.get(status, ()):
        return _("Nothing is left to decide here.")
    if case.electorate.membership(actor.person.id, now) is None:
        return _("Deciding it takes an active %(role)s role.") % {"role": wording.said(case.electorate.role)}
    return ""


def _by_itself(case: Case, diff: dict[str, Any], warnings: Sequence[Any]) -> str:
    """Return why a call has to be opened before it is approved, although it is like the others."""
    if case.rule.step_up or case.rule.confirm:
        return _("Its rule asks for more than a click. Open it by itself.")
    if warnings:
        return _("It has a warning. Open it by itself.")
    if needs_opening(diff):
        return _("It is long. Open it by itself.")
    return ""
