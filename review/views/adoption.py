"""Taking the log for good after a restore, on the audit trail: what disagrees, and the button of two managers."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.audit import dispute
from review.audit.dispute import Dispute
from review.queries.adoption import NEEDED, waiting
from review.services.adopt_log import confirm_adoption

_READ_ONCE = "_huqan_dispute"


@require_POST
@signed_in
def confirm(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    number = request.POST.get("adoption", "")
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    confirm_adoption(int(number) if is_number else None, by=actor)
    return redirect("audit")


def dispute_of(request: HttpRequest) -> Dispute | None:
    """Return what log and witness file disagree in, asked once a request.

    None also where it cannot be read: then nothing can be written either, which is said where that is tried.
    """
    if not hasattr(request, _READ_ONCE):
        setattr(request, _READ_ONCE, _found())
    found: Dispute | None = getattr(request, _READ_ONCE)
    return found


def _found() -> Dispute | None:
    try:
        return dispute.found()
    except (OSError, DatabaseError):
        return None


def shown_dispute(request: HttpRequest) -> dict[str, Any] | None:
    """Return the context of templates/components/dispute.html; None where log and witness file agree."""
    if dispute_of(request) is None:
        return None
    adoption = waiting()
    return {
        "adoption": adoption,
        "missing": NEEDED - len(adoption.confirmed_by) if adoption else NEEDED,
        "url": reverse("audit_adopt"),
    }


def in_words(found: Dispute) -> str:
    """What was found, for everybody."""
    if found.is_shorter:
        told = _(
            "The audit log has %(entries)d entries and its witness file vouches for %(witnessed)d: "
            "its end was cut off, or an older copy was restored."
        )
    else:
        told = _(
            "The audit log is another one than its witness file vouches for "
            "(%(entries)d entries here, %(witnessed)d witnessed)."
        )
    then = _("Reading works; nobody can decide or redeem until two managers have adopted the log.")
    return f"{told % {'entries': found.entries, 'witnessed': found.witnessed}} {then}"
