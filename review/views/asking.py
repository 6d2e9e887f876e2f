"""Who asks for a page, read once a request for every part of it; and what comes next for him."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from review.access import wording
from review.access.actors import PersonActor
from review.queries.queue import Viewer, decidable, next_for

_READ_ONCE = "_huqan_viewer"


def viewer_of(request: HttpRequest, actor: PersonActor) -> Viewer:
    """Return the viewer for whom the lists, the numbers in the bar and the next item are read."""
    if not hasattr(request, _READ_ONCE):
        setattr(request, _READ_ONCE, Viewer(actor.person, timezone.now()))
    viewer: Viewer = getattr(request, _READ_ONCE)
    return viewer


def next_item(viewer: Viewer) -> dict[str, str]:
    """Offer the next item; the page itself stays."""
    following = next_for(viewer)
    if following:
        label = _("Next: %(summary)s") % {"summary": wording.said(following.summary)}
        return {"url": reverse("proposal", args=[following.id]), "label": label}
    if decidable(viewer).more:
        return {"url": reverse("queue"), "label": _("Back to the queue")}
    return {"url": reverse("queue"), "label": _("Nothing else needs you. Back to the queue")}
