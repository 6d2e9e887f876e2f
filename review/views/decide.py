"""Answering the decision form: the same page again, with what was recorded or why it was not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.access.refusals import SetUpDeclined
from review.access.sessions import signed_in
from review.access.step_up import step_up
from review.access.views.shared import refused_status
from review.domain.decision import Verdict
from review.domain.refusals import NotFound, StepUpRequired
from review.domain.status import Status
from review.queries.cases import asks_for_factor
from review.queries.queue import Viewer
from review.queries.visible import visible
from review.services.decide import Decided, decide
from review.views import parts
from review.views.answers import into_page, page_of
from review.views.asking import next_item, viewer_of
from review.views.form import Typed, ballot_of, typed_of

if TYPE_CHECKING:
    from review.models import Proposal


@require_POST
@signed_in
def decide_view(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    """Record the decision that the form carries, and show the proposal as it then stands, or say so on its page."""
    actor, unproved = _with_fresh_factor(request, actor, id)
    factor_at = None if unproved else actor.auth_time
    try:
        decided = decide(id, by=actor, ballot=ballot_of(request, factor_at=factor_at))
    except NotFound:
        raise
    except StepUpRequired:
        return _refused(request, actor, id, StepUpRequired(unproved.detail if unproved else None))
    except Refusal as refusal:
        return _refused(request, actor, id, refusal)
    status = _recorded(decided, viewer_of(request, actor))
    if request.headers.get("HX-Request"):
        return into_page(request, decided.proposal, status)
    return page_of(request, actor, decided.proposal, status=status, typed=Typed(), code=200)


def _with_fresh_factor(
    request: HttpRequest, actor: PersonActor, id: UUID
) -> tuple[PersonActor, Refusal | None]:
    """A password or code typed into the form proves again who sits there, where the rule asks for that.

    A wrong one is worth less than none: however fresh the sign-in is, the decision is then refused as one without
    a factor, in its turn, and the second of what is returned says why it proved nothing.
    """
    password, now = request.POST.get("password", ""), timezone.now()
    if not password or request.POST.get("verdict") != Verdict.APPROVE:
        return actor, None
    if not asks_for_factor(visible(actor.person, id, now), actor.person.id, now):
        return actor, None
    try:
        return step_up(request, password), None
    except SetUpDeclined as unproved:
        return actor, unproved


def _refused(request: HttpRequest, actor: PersonActor, id: UUID, refusal: Refusal) -> HttpResponse:
    """Return the page as it stands now, with why nothing was recorded and what was typed."""
    found = visible(actor.person, id, timezone.now())
    ballot = ballot_of(request, factor_at=actor.auth_time)
    title = _("Not recorded. %(why)s") % {"why": refusal.detail}
    status = refused_status(refusal, title, _what_changed(found, ballot.revision))
    page = page_of(request, actor, found, status=status, typed=typed_of(ballot, refusal), code=refusal.status)
    retry_after = getattr(refusal, "retry_after", None)
    if retry_after is not None:
        page["Retry-After"] = str(retry_after)
    return page


def _what_changed(found: Proposal, revision: int | None) -> str:
    if revision is None or revision == found.revision:
        return ""
    return _("Revision %(new)d came at %(at)s UTC, after the revision %(old)d that you read.") % {
        "new": found.revision,
        "at": found.submitted_at.strftime("%H:%M"),
        "old": revision,
    }


def _recorded(decided: Decided, viewer: Viewer) -> dict[str, Any]:
    cast, found = decided.decision, decided.proposal
    did = {
        Verdict.APPROVE: _("you approved revision %(n)d at %(at)s UTC"),
        Verdict.REJECT: _("you rejected revision %(n)d at %(at)s UTC"),
        Verdict.REQUEST_CHANGES: _("you requested changes to revision %(n)d at %(at)s UTC"),
    }[Verdict(cast.verdict)] % {"n": cast.revision, "at": cast.created_at.strftime("%H:%M")}
    following = next_item(viewer)
    return {
        "recorded": True,
        "title": _("Recorded: %(did)s") % {"did": did},
        "sentence": _leads_to(found),
        "link_url": following["url"],
        "link_label": following["label"],
    }


def _leads_to(found: Proposal) -> str:
    if found.status in (Status.PENDING, Status.QUARANTINED):
        return parts.people_needed(max(found.approvals_required - found.approvals_given, 1))
    return {
        Status.EXECUTED: _("It took effect, once."),
        Status.APPROVED: _("It is approved and can be run once. Until then it can still be rejected."),
        Status.REJECTED: _("It ended. Nothing runs."),
        Status.CHANGES_REQUESTED: _("The agent sees what to change."),
    }.get(Status(found.status), "")
