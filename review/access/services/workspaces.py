"""Workspaces: opened by the operator with a first manager, so that a real team starts without demo data."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.utils import timezone

from review.access import queries
from review.access.actors import SystemActor
from review.access.models import User, Workspace
from review.access.refusals import NameTaken
from review.access.roles import Role
from review.access.services import rules
from review.access.services.links import new_link
from review.access.services.memberships import add_membership
from review.access.services.people import add_person, record_person
from review.audit.transaction import write


class Opened(NamedTuple):
    """A new workspace, its manager, and the secret of his one-time link; None if he has a password."""

    workspace: Workspace
    manager: User
    secret: str | None


def create_workspace(name: str, manager: str, *, by: SystemActor) -> Opened:
    """Open a workspace whose first manager is the account `manager`, which is made if there is none.

    Raises: BadName, NameTaken (of the workspace), Disabled.
    """
    now = timezone.now()
    with write():
        with rules.only_once(NameTaken):
            workspace = Workspace.objects.create(name=rules.slug(name), created_at=now)
        user = queries.account(manager) or _first_manager(manager, workspace, now, by)
        add_membership(user.person, workspace.id, Role.MANAGER, now, by=by)
        secret = None if user.has_usable_password() else new_link(user, now, by=by)
        return Opened(workspace, user, secret)


def _first_manager(username: str, workspace: Workspace, now: datetime, by: SystemActor) -> User:
    person, user = add_person(username, username, now)
    record_person(person, user, by=by, workspace=workspace.id)
    return user
