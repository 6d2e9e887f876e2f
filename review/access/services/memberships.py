"""Roles: granted by managers, never to oneself."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.utils import timezone

from review.access.actors import Actor
from review.access.models import Membership, Person
from review.access.refusals import AlreadyGranted, EndsTooSoon, NotFound, OwnRole
from review.access.roles import Role
from review.access.services import rules
from review.access.services.agents import hold_agents_of
from review.audit import log
from review.audit.actions import Action
from review.audit.chain import stamp
from review.audit.transaction import write


class Terms(NamedTuple):
    """What a role counts for: groups of the policy, and until when; None is until it is revoked."""

    groups: Iterable[str] = ()
    until: datetime | None = None


FOR_GOOD = Terms()


def grant_membership(
    person_id: UUID,
    workspace_id: UUID,
    role: Role,
    *,
    by: Actor,
    groups: Iterable[str] = (),
    until: datetime | None = None,
) -> Membership:
    """Give a person a role from now on, until just before `until`; it counts for what is submitted after this.

    A role that holds is not changed: it is revoked and granted anew, so that its groups, too, begin now.

    Raises: OwnRole, NotFound, NotManager, Disabled, AlreadyGranted, BadGroup, EndsTooSoon.
    """
    with write():
        person = Person.objects.select_for_update(no_key=True).filter(id=person_id).first()
        now = log.take_turn()  # what is submitted while this waits is submitted before it
        rules.require_manager(by, workspace_id, now)
        if person is None:
            raise NotFound
        return add_membership(person, workspace_id, role, now, by=by, terms=Terms(groups, until))


def revoke_membership(membership_id: UUID, *, by: Actor) -> Membership:
    """End a role now. The row stays, since what was decided under it stays.

    Raises: NotFound (also when it has ended), NotManager, LastManager.
    """
    with write():
        membership = _held(membership_id)
        rules.require_manager(by, membership.workspace_id, timezone.now())
        if membership.role == Role.MANAGER:
            rules.require_another_manager([membership.workspace_id], membership.person_id, by)
        hold_agents_of(membership.person_id)
        now = log.take_turn()
        rules.require_manager(by, membership.workspace_id, now)  # he may have lost it while he waited
        _end(membership, now)
        record_ended([membership], by=by)
        return membership


def add_membership(
    person: Person, workspace_id: UUID, role: Role, now: datetime, *, by: Actor, terms: Terms = FOR_GOOD
) -> Membership:
    """Join the caller's transaction. Raises: OwnRole, Disabled, AlreadyGranted, BadGroup, EndsTooSoon."""
    granted_by = rules.person_behind(by)
    if granted_by is not None and granted_by.id == person.id:
        raise OwnRole
    rules.require_active(person)
    if terms.until is not None and terms.until <= now:
        raise EndsTooSoon
    if Membership.objects.active(now).filter(person=person, workspace_id=workspace_id, role=role).exists():
        raise AlreadyGranted
    with rules.only_once(AlreadyGranted):
        membership = Membership.objects.create(
            person=person,
            workspace_id=workspace_id,
            role=role,
            groups=rules.groups(terms.groups),
            since=now,
            until=terms.until,
            granted_by=granted_by,
        )
    _record(Action.MEMBERSHIP_GRANTED, membership, by)
    return membership


def end_all(person: Person, now: datetime) -> list[Membership]:
    """End every role of `person` and return them, for `record_ended`. Joins the caller's transaction."""
    rows = Membership.objects.select_for_update(of=("self",), no_key=True).active(now).held_by(person.id)
    ended = [membership for membership in rows.order_by("id") if _runs(membership)]
    for membership in ended:
        _end(membership, now)
    return ended


def record_ended(ended: Iterable[Membership], *, by: Actor) -> None:
    """Record it once every row is locked that the transaction changes."""
    for membership in ended:
        _record(Action.MEMBERSHIP_REVOKED, membership, by)


def _held(membership_id: UUID) -> Membership:
    rows = Membership.objects.select_for_update(of=("self",), no_key=True)
    membership = rows.filter(id=membership_id).first()
    if membership is None or not _runs(membership):
        raise NotFound
    return membership


def _runs(locked: Membership) -> bool:
    """Whether it holds by now: it may have ended while its row was waited for."""
    return locked.until is None or locked.until > timezone.now()


def _end(membership: Membership, now: datetime) -> None:
    membership.until = max(now, membership.since + timedelta(microseconds=1))
    membership.save(update_fields=["until"])


def _record(action: Action, membership: Membership, by: Actor) -> None:
    until = stamp(membership.until) if membership.until else None
    log.record(
        action,
        actor=by.audit(),
        workspace=membership.workspace_id,
        object=log.ObjectRef("person", str(membership.person_id)),
        after={
            "membership": str(membership.id),
            "role": membership.role,
            "groups": membership.groups,
            "since": stamp(membership.since),
            **({"until": until} if until else {}),
        },
    )
