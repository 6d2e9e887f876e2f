"""What ends once an older copy of the database was put back: nobody is signed in, and nothing waits to be run."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib.sessions.models import Session
from django.utils import timezone

from review.access.actors import SystemActor
from review.access.models import SetUpLink
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write
from review.services.void_permits import unspent, void


class Ended(NamedTuple):
    """How many sessions and set-up links ended, and how many permits were voided."""

    sessions: int
    links: int
    permits: int


def end_what_was_open(*, backup: str, by: SystemActor) -> Ended:
    """End every session and set-up link, void every permit that is not spent, and record that it was restored.

    What was approved and run after the backup was made may stand in it as not run, so no permit of it is good.
    `backup` is the digest of the file. Raises: Unavailable.
    """
    with write():
        now = timezone.now()
        permits = unspent(now)
        sessions, _ = Session.objects.all().delete()
        links = SetUpLink.objects.filter(used_at__isnull=True).update(used_at=now)
        void(permits, by, now)
        ended = Ended(sessions, links, len(permits))
        log.record(Action.RESTORE_DONE, actor=by.audit(), after={"backup": backup, **ended._asdict()})
    return ended
