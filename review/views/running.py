"""What a proposal's page shows of its run: attempts to run something else, and the form that settles an outcome."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.access.actors import PersonActor
from review.domain.decision import Case
from review.domain.refusals import ReasonRequired
from review.domain.status import Status
from review.queries.running import Drift, is_unreported
from review.views.form import Typed

if TYPE_CHECKING:
    from review.models import Proposal


def drift_notice(drifts: list[Drift]) -> list[dict[str, Any]]:
    """Return the notice that stands above the diff once somebody was about to run other bytes."""
    if not drifts:
        return []
    places = [row["pointer"] or "/" for row in drifts[0].rows]
    sentence = _("Refused at %(at)s UTC, since it was not what was approved.") % {
        "at": drifts[0].at.strftime("%H:%M")
    }
    if len(places) > 1:
        more = len(places) - 1
        sentence += " " + ngettext("%(n)d more place differs.", "%(n)d more places differ.", more) % {
            "n": more
        }
    return [
        {
            "tone": "red",
            "sign": "warning",
            "title": _("%(who)s was about to run something else") % {"who": drifts[0].who},
            "pointer": places[0] if places else "",
            "sentence": sentence,
            "points": [],
            "link_url": "#drift",
            "link_label": _("See the difference"),
        }
    ]


def ruling_form(
    proposal: Proposal, case: Case, actor: PersonActor, typed: Typed, now: datetime
) -> dict[str, Any] | None:
    """Return templates/components/ruling_form.html's context where the outcome is unknown and he may say it."""
    if not is_unknown(proposal, now) or case.electorate.membership(actor.person.id, now) is None:
        return None
    return {
        "action": reverse("rule", args=[proposal.id]),
        "reason": typed.reason,
        "error": typed.refusal.detail if isinstance(typed.refusal, ReasonRequired) else "",
        "recorded_as": actor.person.name,
    }


def is_unknown(proposal: Proposal, now: datetime) -> bool:
    """Whether nobody has said how it ended, also before the worker noted the silence."""
    return proposal.status == Status.UNKNOWN or is_unreported(proposal, now)
