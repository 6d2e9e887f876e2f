"""Roles: granted by managers, never to oneself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from review.access.actors import Actor
from review.access.models import Membership, Person
from review.access.refusals import AlreadyGranted, NotFound, OwnRole
from review.access.roles import Role
from review.access.services import rules
from review.audit import log
from review.audit.actions import Action
from review.audit.transaction import write


def grant_membership(
    person_id: UUID, workspace_id: UUID, role: Role, *, by: Actor, groups: Sequence[str] = ()
) -> Membership:
    """Give a person a role from now on; it counts for what is submitted after this moment.

    Raises: OwnRole, NotFound, NotManager, Disabled, AlreadyGranted.
    """
    now = timezone.now()
    with write():
        rules.require_manager(by, workspace_id, now)
        person = Person.objects.select_for_update(no_key=True).filter(id=person_id).first()
        if person is None:
            raise NotFound
        return add_membership(person, workspace_id, role, now, by=by, groups=groups)


def revoke_membership(membership_id: UUID, *, by: Actor) -> Membership:
    """End a role now. The row stays, since what was decided under it stays.

    Raises: NotFound (also when it has ended), NotManager.
    """
    now = timezone.now()
    with write():
        held = Membership.objects.select_for_update(of=("self",), no_key=True)
        membership = held.filter(id=membership_id, until__isnull=True).first()
        if membership is None:
            raise NotFound
        rules.require_manager(by, membership.workspace_id, now)
        membership.until = now
        membership.save(update_fields=["until"])
        _record(Action.MEMBERSHIP_REVOKED, membership, by)
        return membership


def add_membership(
    person: Person, workspace_id: UUID, role: Role, now: datetime, *, by: Actor, groups: Sequence[str] = ()
) -> Membership:
    """Join the caller's transaction. Raises: OwnRole, Disabled, AlreadyGranted."""
    granted_by = rules.person_behind(by)
    if granted_by is not None and granted_by.id == person.id:
        raise OwnRole
    rules.require_active(person)
    with rules.only_once(AlreadyGranted):
        membership = Membership.objects.create(
            person=person,
            workspace_id=workspace_id,
            role=role,
            groups=sorted(set(groups)),
            since=now,
            granted_by=granted_by,
        )
    _record(Action.MEMBERSHIP_GRANTED, membership, by)
    return membership


def _record(action: Action, membership: Membership, by: Actor) -> None:
    log.record(
        action,
        actor=by.audit(),
        workspace=membership.workspace_id,
        object=log.ObjectRef("person", str(membership.person_id)),
        after={"membership": str(membership.id), "role": membership.role, "groups": membership.groups},
    )
