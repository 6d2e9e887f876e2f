"""What the address of the trail asks for: closed lists, ids and days, and what of it is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.access import queries as access
from review.access import wording
from review.access.actors import PersonActor
from review.access.views.shared import managed
from review.audit.actions import Action, Ending
from review.audit.queries import Filters, Scope
from review.domain.refusals import Invalid
from review.queries.story import tools
from review.views.address import DAY, moment, typed

if TYPE_CHECKING:
    from review.access.models import Workspace

#: Each filter by its name in the address, with what a reader calls it.
NAMES: Mapping[str, Any] = {
    "from": gettext_lazy("From"),
    "to": gettext_lazy("To"),
    "person": gettext_lazy("Person"),
    "agent": gettext_lazy("Agent"),
    "action": gettext_lazy("Action"),
    "outcome": gettext_lazy("Outcome"),
    "tool": gettext_lazy("Tool"),
    "workspace": gettext_lazy("Workspace"),
    "proposal": gettext_lazy("Proposal"),
    "about": gettext_lazy("Record"),
}


@dataclass(frozen=True)
class Asked:
    """What the address asks for, of the `places` that the reader manages.

    `faults` names the filters that are of nothing here: then no entry matches.
    """

    places: list[Workspace]
    workspaces: list[Workspace]
    scope: Scope
    filters: Filters
    typed: Mapping[str, str]
    faults: tuple[str, ...]

    def readable(self) -> Asked:
        """An export of nothing looks like a log in which nothing happened, so a filter has to be one.

        Raises: Invalid.
        """
        if self.faults:
            raise Invalid(self.sentence())
        return self

    def sentence(self) -> str:
        """Return which filters are of nothing here, or nothing."""
        if not self.faults:
            return ""
        names = ", ".join(str(NAMES[name]).lower() for name in self.faults)
        return _(
            "Nothing here is what the filter asks for: %(names)s. Choose from the list, or clear it."
        ) % {"names": names}

    def address(self, name: str, **more: str) -> str:
        """Return the address of the page `name` with the same filters and `more`."""
        query = urlencode({**{key: value for key, value in self.typed.items() if value}, **more})
        return f"{reverse(name)}?{query}" if query else reverse(name)


def asked_by(request: HttpRequest, actor: PersonActor) -> Asked:
    """Return what `request` asks for, within the workspaces that `actor` manages.

    Raises: NotManager.
    """
    now = timezone.now()
    places, said = managed(actor), typed(request, *NAMES)
    chosen = [one for one in places if said["workspace"] in ("", one.name)]
    members = {member.person.id for one in chosen for member in access.members(one.id, now)}
    read = _Reader(said, chosen)
    return Asked(
        places=places,
        workspaces=chosen,
        scope=Scope(tuple(one.id for one in chosen), tuple(members)),
        filters=read.filters(),
        typed=said,
        faults=tuple(read.faults if chosen else [*read.faults, "workspace"]),
    )


def picks(asked: Asked) -> list[dict[str, Any]]:
    """Return the lists that a reader chooses from, as templates/components/pick.html has them."""
    now, ids = timezone.now(), [workspace.id for workspace in asked.workspaces]
    offered: Mapping[str, Iterable[str]] = {
        "person": sorted(
            {name for one in ids for member in access.members(one, now) for name in member.accounts}
        ),
        "agent": sorted({agent.name for agent in access.agents_of(ids)}),
        "action": [action.value for action in Action],
        "outcome": [ending.value for ending in Ending],
        "tool": tools(ids, asked.typed["tool"]),
        "workspace": [workspace.name for workspace in asked.places],
    }
    return [
        {
            "name": name,
            "label": NAMES[name],
            "options": [("", _("any")), *((value, _in_words(name, value)) for value in values)],
            "chosen": asked.typed[name],
        }
        for name, values in offered.items()
    ]


def _in_words(name: str, value: str) -> str:
    """How something ended is said in words; names, tools and actions are as the log writes them."""
    return wording.said(value) if name == "outcome" else value


class _Reader:
    """Reads each filter of an address and keeps the names of those that are of nothing here."""

    def __init__(self, said: Mapping[str, str], workspaces: list[Workspace]) -> None:
        self.said, self.workspaces = said, workspaces
        self.faults: list[str] = []

    def filters(self) -> Filters:
        return Filters(
            since=self._read("from", moment),
            until=self._read("to", _end),
            person=self._read("person", self._person),
            agent=self._read("agent", self._agent),
            action=self._read("action", Action),
            ending=self._read("outcome", Ending),
            tool=self.said["tool"] or None,
            proposal=self._read("proposal", UUID),
            about=self._read("about", UUID),
        )

    def _read(self, name: str, meaning: Callable[[str], Any]) -> Any:
        try:
            return meaning(self.said[name]) if self.said[name] else None
        except (ValueError, LookupError, OverflowError):
            self.faults.append(name)
            return None

    def _person(self, name: str) -> UUID:
        """Somebody who has or had a role here; whoever is known elsewhere only is like one who does not exist."""
        account = access.account(name)
        here = {one.id for one in self.workspaces}
        if account is None or not here & access.workspaces_ever(account.person_id):
            raise LookupError(name)
        return account.person_id

    def _agent(self, name: str) -> UUID:
        named = [
            agent.id for agent in access.agents_of(one.id for one in self.workspaces) if agent.name == name
        ]
        return named[0]


def _end(text: str) -> datetime | None:
    return moment(text, after=DAY)
