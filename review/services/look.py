"""Remembering which revision a person was shown. It changes no proposal, policy or right."""

from __future__ import annotations

from django.db import DatabaseError
from django.utils import timezone

from review.access.models import Person
from review.audit.refusals import Unavailable
from review.audit.transaction import aside
from review.models import Look, Proposal

WAIT = 1.0  # seconds; who reads is not kept waiting by writers that hang


def look(proposal: Proposal, person: Person, *, again: bool = False) -> None:
    """Note that `person` has the current revision on the screen; a page is shown even if that cannot be noted.

    `again`: he has seen the revision, but not all that happened to it since.
    """
    seen = Look.objects.filter(proposal=proposal, person=person, revision=proposal.revision)
    if not again and seen.exists():
        return
    try:
        with aside(WAIT):
            Look.objects.update_or_create(
                proposal=proposal, person=person, revision=proposal.revision, defaults={"at": timezone.now()}
            )
    except (DatabaseError, Unavailable):
        return
