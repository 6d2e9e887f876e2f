"""What stands in the bar above every page: who is signed in, and the pages that person may open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.access import sessions
from review.access.roles import Role
from review.queries import queue
from review.views.adoption import dispute_of, in_words
from review.views.asking import viewer_of

Count = Callable[[queue.Viewer], queue.Counted]


class Place(NamedTuple):
    """A page of the bar: its address, its name, the addresses that belong to it, and who may open it."""

    path: str
    label: Any
    also: tuple[str, ...] = ()
    role: Role | None = None


PLACES = (
    Place("/", gettext_lazy("Queue"), ("/proposals/", "/queue/")),
    Place("/quarantine/", gettext_lazy("Quarantine")),
    Place("/memory/", gettext_lazy("Memory")),
    Place("/audit/", gettext_lazy("Audit"), role=Role.MANAGER),
    Place("/insights/", gettext_lazy("Insights"), role=Role.MANAGER),
    Place("/agents/", gettext_lazy("Agents"), role=Role.MANAGER),
    Place("/people/", gettext_lazy("People"), role=Role.MANAGER),
    Place("/policy/", gettext_lazy("Policy"), role=Role.MANAGER),
    Place("/help/", gettext_lazy("Help")),
)


#: What this person can decide, by page; nothing else is counted.
COUNTS: dict[str, Count] = {"/": queue.decidable, "/quarantine/": queue.releasable}


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Return `nav`, `who`, `demo` and `disputed` for templates/base.html.

    The database is asked only if it shows them.
    """
    bar = SimpleLazyObject(lambda: _Bar.of(request))
    return {
        "nav": SimpleLazyObject(lambda: bar.places),
        "who": SimpleLazyObject(lambda: bar.who),
        "demo": not settings.PRODUCTION,
        "disputed": SimpleLazyObject(lambda: _disputed(request)),
    }


def _disputed(request: HttpRequest) -> dict[str, str | None] | None:
    """What is said above every page while nobody can decide, since the log is not the one that was signed."""
    found = dispute_of(request)
    if found is None:
        return None
    on_trail = request.path.startswith("/audit/")
    return {"sentence": in_words(found), "url": None if on_trail else reverse("audit")}


class _Bar(NamedTuple):
    who: dict[str, Any] | None
    places: list[dict[str, Any]]

    @classmethod
    def of(cls, request: HttpRequest) -> _Bar:
        actor = sessions.person_actor(request) if hasattr(request, "user") else None
        if actor is None:
            return cls(None, [])
        viewer = viewer_of(request, actor)
        roles = sorted({held.role for held in viewer.memberships}, reverse=True)
        who = {
            "name": actor.user.username,
            "role": _in_words(roles),
            "account_url": reverse("account"),
            "keys": actor.user.keys,
        }
        places = [
            _place(place, request, viewer) for place in PLACES if place.role is None or place.role in roles
        ]
        return cls(who, places)


def _in_words(roles: list[str]) -> str:
    words = {Role.REVIEWER.value: _("reviewer"), Role.MANAGER.value: _("manager")}
    return _(" and ").join(words[role] for role in roles) or _("no role")


def _place(place: Place, request: HttpRequest, viewer: queue.Viewer) -> dict[str, Any]:
    count = COUNTS.get(place.path)
    return {
        "url": place.path,
        "label": str(place.label),
        "count": count(viewer) if count else None,
        "current": _is_current(place, request.path),
    }


def _is_current(place: Place, path: str) -> bool:
    own = path == "/" if place.path == "/" else path.startswith(place.path)
    return own or path.startswith(place.also)
