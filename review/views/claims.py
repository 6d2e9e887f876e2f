"""Who looks at a proposal now, as rows and pages say it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext as _

from review.domain.claim import CLAIMABLE
from review.domain.status import current

if TYPE_CHECKING:
    from review.access.models import Person
    from review.models import Claim, Proposal


def looking(claims: Sequence[Claim], person: Person) -> str:
    """Return who looks at it since when, `person` among them; nothing where nobody does."""
    return " ".join(_said(claim, person) for claim in claims)


def _said(claim: Claim, person: Person) -> str:
    since = claim.since.strftime("%H:%M")
    if claim.person_id == person.id:
        return _("You have been looking at it since %(at)s UTC.") % {"at": since}
    return _("%(who)s has been looking at it since %(at)s UTC.") % {"who": claim.person.name, "at": since}


def claim_form(
    found: Proposal, claims: Sequence[Claim], person: Person, now: datetime
) -> dict[str, Any] | None:
    """Return templates/components/claim.html's context; None where nothing is left to look at."""
    if current(found.status, found.expires_at, now) not in CLAIMABLE:
        return None
    own = next((claim for claim in claims if claim.person_id == person.id), None)
    address = "let_go" if own else "claim"
    return {"url": reverse(address, args=[found.id]), "until": own.until if own else None}


def claimed_notice(
    found: Proposal, claims: Sequence[Claim], person: Person, now: datetime
) -> list[dict[str, Any]]:
    """Return a notice of those others who look at it now, while it waits for people."""
    others = [claim for claim in claims if claim.person_id != person.id]
    if not others or current(found.status, found.expires_at, now) not in CLAIMABLE:
        return []
    sentence = _("That keeps nobody from deciding, and ends by itself after a while.")
    return [{"tone": "neutral", "sign": "eye", "title": looking(others, person), "sentence": sentence}]
