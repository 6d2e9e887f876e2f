"""Remembering which revision a person was shown. It changes no proposal, policy or right."""

from __future__ import annotations

from uuid import UUID

from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils import timezone

from review.access.models import Person
from review.audit.refusals import Unavailable
from review.audit.statements import first, insert, prepared
from review.audit.transaction import aside
from review.models import Look, Proposal

WAIT = 1.0  # seconds; who reads is not kept waiting by writers that hang


def look(proposal: Proposal, person: Person, *, again: bool = False) -> None:
    """Note that `person` has the current revision on the screen; a page is shown even if that cannot be noted.

    `again`: he has seen the revision, but not all that happened to it since.
    """
    seen = first(_seen(proposal.id, person.id, proposal.revision))
    if seen and not again:
        return
    now = timezone.now()
    try:
        with aside(WAIT):
            if seen:
                Look.objects.filter(pk=seen.pk).update(at=now)
            else:
                insert(Look(proposal=proposal, person=person, revision=proposal.revision, at=now))
    except (DatabaseError, Unavailable):  # also where he looks twice in one moment
        return


@prepared
def _seen(proposal: UUID, person: UUID, revision: int) -> QuerySet[Look]:
    return Look.objects.filter(proposal=proposal, person=person, revision=revision)
