"""Whether there are the people whom the rules need: what a page of setting up says before anything waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

from django.utils import timezone
from django.utils.translation import gettext as _

from review.access import queries
from review.access.models import Membership, Workspace
from review.access.roles import Role


class Gap(NamedTuple):
    """Somebody is missing: what follows from it, and what to do."""

    title: str
    sentence: str


Asks = Callable[[Workspace, datetime], Iterable[Gap]]
_asks: list[Asks] = []


def asks_for_people(ask: Asks) -> Asks:
    """Have `ask` say, too, who is missing: this app knows no policy and no agent's conflicts."""
    if ask not in _asks:
        _asks.append(ask)
    return ask


def gaps(workspace: Workspace) -> list[Gap]:
    """Return who is missing in `workspace` now."""
    now = timezone.now()
    found = list(_too_few(Membership.objects.active(now).filter(workspace=workspace), now))
    return found + [gap for ask in _asks for gap in ask(workspace, now)]


def _too_few(held: Iterable[Membership], now: datetime) -> Iterable[Gap]:
    people = {role: {m.person_id for m in held if m.role == role} for role in Role}
    reviewers, managers = people[Role.REVIEWER], people[Role.MANAGER]
    if len(reviewers) < 2:
        yield Gap(
            _("Nobody can decide.") if not reviewers else _("Only 1 person can decide."),
            _(
                "What needs two people is refused, and so is what only its own agent's owner could decide. "
                "Invite a reviewer."
            ),
        )
    if len(managers) == 1:
        yield Gap(
            _("There is 1 manager."),
            _(
                "Nobody else can approve a policy change, lift a stop, or give back this role. Invite another manager."
            ),
        )
    lasting = {m.person_id for m in held if m.role == Role.MANAGER and m.until is None}
    if managers and not lasting:
        yield Gap(
            _("Every manager's role ends by itself."),
            _("After that only the operator can set up people here. Grant one without an end."),
        )


def last_sign_ins(workspaces: Iterable[Workspace]) -> dict[str, datetime]:
    """Return when each account of the members last signed in, by its name; those that never did are missing."""
    return queries.last_sign_ins([workspace.id for workspace in workspaces], timezone.now())
