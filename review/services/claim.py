"""A person says that he looks at a proposal, or no longer. Others see it; nobody is kept from anything by it."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from review.access.actors import PersonActor
from review.access.models import Person
from review.audit.statements import prepared
from review.audit.transaction import write
from review.domain import claim as rules
from review.models import Claim, Proposal
from review.queries.visible import must_be_visible
from review.services.transitions import lock


def claim(proposal_id: UUID, *, by: PersonActor) -> Claim:
    """Have `by` on the proposal for a while from now; again makes it last longer, and it still began when it began.

    Anybody with a role in the workspace may. No entry is made of it: see docs/decisions.md.
    Raises: NotFound, Expired, AlreadyDecided.
    """
    with write():
        proposal, now = lock(proposal_id), timezone.now()
        must_be_visible(proposal, by.person.id, now)
        until = rules.claim(proposal.status, expires_at=proposal.expires_at, now=now)
        running = proposal.claims.filter(person=by.person, until__gt=now).first()
        since = running.since if running else now
        made, _ = proposal.claims.update_or_create(
            person=by.person, defaults={"since": since, "until": until}
        )
        return made


def let_go(proposal_id: UUID, *, by: PersonActor) -> None:
    """End the claim of `by`, if there is one; those of others stay.

    Raises: NotFound.
    """
    with write():
        proposal = lock(proposal_id)
        must_be_visible(proposal, by.person.id, timezone.now())
        end(proposal, by.person)


def end(proposal: Proposal, person: Person) -> None:
    """Take away what `person` claimed, inside the transaction of what he did with it."""
    if _claimed(proposal.id, person.id):
        proposal.claims.filter(person=person).delete()


@prepared
def _claimed(proposal: UUID, person: UUID) -> QuerySet[Claim]:
    return Claim.objects.filter(proposal=proposal, person=person)
