"""Remembering which revision a person was shown. It changes no proposal, policy or right."""

from __future__ import annotations

from uuid import UUID

from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils import timezone

from review.access.models import Person
from review.audit.refusals import Unavailable
from review.audit.statements import prepared
from review.audit.transaction import aside
from review.models import Look, Proposal

WAIT = 1.0  # seconds; who reads is not kept waiting by writers that hang


def look(proposal: Proposal, person: Person, *, again: bool = False) -> None:
    """Note that `person` has the current revision on the screen; a page is shown even if that cannot be noted.

    `again`: he has seen the revision, but not all that happened to it since.
    """
    if not again and _seen(proposal.id, person.id, proposal.revision):
        return
    try:
        with aside(WAIT):
            Look.objects.update_or_create(
                proposal=proposal, person=person, revision=proposal.revision, defaults={"at": timezone.now()}
            )
    except (DatabaseError, Unavailable):
        return


@prepared
def _seen(proposal: UUID, person: UUID, revision: int) -> QuerySet[Look]:
    return Look.objects.filter(proposal=proposal, person=person, revision=revision)
