"""Voiding permits that somebody could still spend: nobody runs those calls any more.

In two steps, since the log's head is locked last (I21): every row of the transaction, then the entries.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from review.access.actors import Actor
from review.audit.actions import Action
from review.models import Permit
from review.services.transitions import record


def unspent(now: datetime, which: Q | None = None) -> list[Permit]:
    """Return the permits that are good and not spent, of those that `which` names, locked for the open write()."""
    good = Permit.objects.filter(which or Q(), spent_at=None, voided_at=None, expires_at__gt=now)
    rows = good.select_for_update(of=("self",)).select_related("proposal__workspace", "proposal__agent")
    return list(rows.order_by("pk"))


def void(permits: Iterable[Permit], by: Actor, now: datetime) -> None:
    """Void what `unspent` returned, once every other row is locked that the open write() changes."""
    Permit.objects.filter(pk__in=[permit.pk for permit in permits]).update(voided_at=now)
    for permit in permits:
        record(permit.proposal, Action.PERMIT_VOIDED, by, after={"jti": str(permit.jti)})
