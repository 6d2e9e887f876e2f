"""What a proposal asks and what changed, beside the list. To decide one opens its page, which shows all the rest."""

from __future__ import annotations

import json
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.domain.refusals import NotFound
from review.domain.status import Status
from review.queries.bases import bases_of
from review.queries.claims import claims_on
from review.queries.story import current_revision
from review.queries.visible import visible
from review.views import parts
from review.views.claims import claimed_notice
from review.views.differences import comparison
from review.views.standing import erased_notice, outdated_notice
from review.views.warnings import warnings_of


@require_safe
@signed_in
def preview(request: HttpRequest, actor: PersonActor, id: UUID) -> HttpResponse:
    """Show the warnings and the comparison. It is no look: who passes by has not reviewed it.

    Raises: NotFound, also for what is held, which only its own page shows safely.
    """
    now = timezone.now()
    found = visible(actor.person, id, now)
    if found.status == Status.QUARANTINED:
        raise NotFound
    revision, base = current_revision(found), bases_of(found, actor.person)[0]
    arguments, page = json.loads(revision.arguments), reverse("proposal", args=[found.id])
    context = {
        "sentence": parts.sentence(found, arguments, actor.person, now),
        "facts": parts.facts(found, now),
        "warnings": [
            *erased_notice(found, arguments),
            *outdated_notice(found, revision, arguments),
            *warnings_of(found, revision, arguments, base, now),
            *claimed_notice(found, claims_on([found], now)[found.id], actor.person, now),
        ],
        "diff": {**comparison(base, revision.arguments), "every_url": page},
        "url": page,
    }
    return render(request, "review/preview.html", context)
