"""What the services of this app ask before they write. Each rule reads inside the caller's transaction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError
from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.access import queries
from review.access.actors import Actor, PersonActor, SystemActor
from review.access.models import Agent, Person, Workspace
from review.access.refusals import (
    BadGroup,
    BadName,
    Disabled,
    LastManager,
    NotFound,
    NotManager,
    StepUpNeeded,
)
from review.access.roles import Role

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_GROUPS = 20
_GROUP_LENGTH = 64
_FRESH = timedelta(minutes=5)
_USERNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,149}", re.ASCII)


def require_operator(by: Actor) -> None:
    """Raises: NotManager for anybody but the console's own commands."""
    if not isinstance(by, SystemActor):
        raise NotManager


def require_manager(by: Actor, workspace: UUID, now: datetime) -> None:
    """The operator, or an active manager of `workspace`; superusers are nobody here.

    Raises: NotFound for someone who has no role in it, NotManager for another member.
    """
    if isinstance(by, SystemActor):
        return
    if not isinstance(by, PersonActor):
        raise NotManager
    held = queries.roles_in(workspace, by.person.id, now)
    if not held:
        raise NotFound
    if Role.MANAGER not in held:
        raise NotManager


def require_any_managed(by: PersonActor, now: datetime) -> list[Workspace]:
    """Return the workspaces that `by` manages, by name. Raises: NotManager where he manages none."""
    managed = queries.managed_by(by.person.id, now)
    if not managed:
        raise NotManager
    return managed


def require_manager_or_owner(by: Actor, agent: Agent, now: datetime) -> None:
    """For what only makes an agent weaker: its owners may do it too.

    Raises: NotFound, NotManager.
    """
    if isinstance(by, PersonActor) and by.person.id in queries.owners(agent.id, now):
        return
    require_manager(by, agent.workspace_id, now)


def require_manager_of_all(by: Actor, person: Person, now: datetime) -> None:
    """For what reaches a person in every workspace: only who manages all of them.

    Raises: NotFound, NotManager.
    """
    if isinstance(by, SystemActor):
        return
    workspaces = queries.workspaces_of(person.id, now)
    if not workspaces:
        raise NotFound
    for workspace in workspaces:
        require_manager(by, workspace.id, now)


def require_manager_of_ever(by: Actor, person: Person, now: datetime) -> None:
    """As `require_manager_of_all`, also for somebody who has left: of every workspace he ever had a role in.

    Raises: NotFound, NotManager.
    """
    if isinstance(by, SystemActor):
        return
    workspaces = queries.workspaces_ever(person.id)
    if not workspaces:
        raise NotFound
    for workspace in sorted(workspaces):
        require_manager(by, workspace, now)


def require_another_manager(workspaces: Iterable[UUID], leaving: UUID, by: Actor) -> None:
    """Somebody else has to manage each of `workspaces` once `leaving` does not; the operator may leave them so.

    Locks their rows, so that of two managers who end each other's role one is told.

    Raises: LastManager.
    """
    affected = sorted(set(workspaces))
    list(Workspace.objects.select_for_update(no_key=True).filter(id__in=affected).order_by("id"))
    if isinstance(by, SystemActor):
        return
    for workspace in affected:
        managers = queries.managers(workspace, timezone.now())  # not of when he came: he may have waited
        if leaving in managers and managers == {leaving}:
            raise LastManager


def require_fresh_factor(by: PersonActor, now: datetime) -> None:
    """For what changes how somebody signs in. Raises: StepUpNeeded."""
    if by.auth_time is None or now - by.auth_time > _FRESH:
        raise StepUpNeeded


def require_active(person: Person) -> None:
    """Raises: Disabled."""
    if person.disabled_at is not None:
        raise Disabled


def slug(name: str) -> str:
    """Return `name` if it can name a workspace or an agent. Raises: BadName."""
    if not _SLUG.fullmatch(name):
        raise BadName
    return name


def username(name: str) -> str:
    """Return `name` if it can name an account: ASCII, so that no two look alike. Raises: BadName."""
    if not _USERNAME.fullmatch(name):
        raise BadName
    return name


def groups(names: Iterable[str]) -> list[str]:
    """Return the names of groups, each once, in order. Raises: BadGroup."""
    found = sorted({name.strip() for name in names})
    if len(found) > _GROUPS or not all(_names_a_group(name) for name in found):
        raise BadGroup
    return found


def _names_a_group(name: str) -> bool:
    return 0 < len(name) <= _GROUP_LENGTH and name.isprintable() and "," not in name


def person_behind(by: Actor) -> Person | None:
    return by.person if isinstance(by, PersonActor) else None


@contextmanager
def only_once(refusal: type[Refusal]) -> Iterator[None]:
    """Say with `refusal` what a unique constraint of the database says about the row written inside."""
    try:
        yield
    except IntegrityError as taken:
        raise refusal from taken
