"""Taking a log for good that the witness file does not know: the operator opens it, two managers confirm (I23).

What was recorded after the copy that was restored is lost for the database, so nothing that it still allows may be
relied on: every permit that is not spent is voided, and what was withdrawn is withdrawn again.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.canonical_json import JSON
from review.access import queries as access
from review.access.actors import PersonActor, SystemActor
from review.access.services import rules
from review.audit import dispute, log, withdrawn
from review.audit.actions import Action
from review.audit.dispute import Dispute
from review.audit.transaction import write
from review.domain.refusals import Invalid, SamePerson
from review.queries.adoption import ADOPTED, ADOPTION, CONFIRMED, NEEDED, OPENED, Adoption, waiting
from review.services.void_permits import unspent, void

NOTHING = "The log agrees with its witness file: there is nothing to adopt."


def open_adoption(reason: str, *, by: SystemActor) -> Dispute:
    """Ask the managers to take the log as it is, and return what it disagrees with the witness file about.

    Raises: Invalid where nothing is disputed, there is no reason, or entries were cut off; Unavailable.
    """
    if not reason.strip():
        raise Invalid("Say by --reason what happened to the log: two managers have to believe it.")
    found = _found()
    with write():
        _must_be_disputed()
        log.take_turn()
        if dispute.keeps_its_notes(found):
            raise Invalid(
                "The database holds checkpoints over entries that it has lost, so it was cut and not restored. "
                "Restore a backup, then open the adoption."
            )
        after: dict[str, JSON] = {
            "state": OPENED,
            "entries": found.entries,
            "witnessed": found.witnessed,
            "note": found.note,
        }
        log.record(
            Action.LOG_ADOPTED,
            actor=by.audit(),
            object=ADOPTION,
            after=after,
            private={"reason": reason.strip()},
        )
    return found


def confirm_adoption(number: int | None, *, by: PersonActor) -> bool:
    """Let `by` take the log as it is, on the adoption that entry `number` opened; return whether it is adopted now.

    Raises: NotManager; Invalid where that adoption is not open any more; SamePerson; Unavailable; OSError.
    """
    rules.require_any_managed(by, timezone.now())
    found = _found()
    withdrawn.enforce()
    adopted = found.adopted()  # reads the whole witness file, so before anybody waits for this
    with write():
        _must_be_disputed()
        permits = unspent(timezone.now())
        now = log.take_turn()
        workspace, *_ = rules.require_any_managed(by, now)
        adoption = waiting()
        if adoption is None or adoption.number != number or adoption.note != found.note:
            raise Invalid(
                "This adoption is not open any more. Open the audit trail again and read what it says."
            )
        managers = _still_managing(adoption, now)
        if access.himself(by.person.id) in managers:
            raise SamePerson(
                "You confirmed this before, and one person counts once. Another manager must confirm it."
            )
        done = len(managers) + 1 >= NEEDED
        if done:
            void(permits, by, now)
            log.adopt(adopted)
        after: dict[str, JSON] = {
            "state": ADOPTED if done else CONFIRMED,
            "adoption": number,
            "agreed": adopted.agreed,
            "note": adopted.given_up,
        }
        log.record(Action.LOG_ADOPTED, actor=by.audit(), workspace=workspace.id, object=ADOPTION, after=after)
    return done


def _found() -> Dispute:
    found = dispute.found()
    if found is None:
        raise Invalid(NOTHING)
    return found


def _must_be_disputed() -> None:
    """As it stands in the open write(): somebody may have adopted it since this was looked at."""
    if not log.is_disputed():
        raise Invalid(NOTHING)


def _still_managing(adoption: Adoption, now: datetime) -> set[UUID]:
    """Those who confirmed and manage a workspace still; of two who turned out to be one person, one."""
    return {access.himself(person) for person in adoption.confirmed_by if access.managed_by(person, now)}
