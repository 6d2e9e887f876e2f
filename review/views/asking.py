"""Who asks for a page: what every part of it needs to know of him is read once a request."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils import timezone

from review.access.actors import PersonActor
from review.queries.queue import Viewer

_READ_ONCE = "_huqan_viewer"


def viewer_of(request: HttpRequest, actor: PersonActor) -> Viewer:
    """Return the viewer for whom the lists, the numbers in the bar and the next item are read."""
    if not hasattr(request, _READ_ONCE):
        setattr(request, _READ_ONCE, Viewer(actor.person, timezone.now()))
    viewer: Viewer = getattr(request, _READ_ONCE)
    return viewer
