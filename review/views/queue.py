"""The queue: what needs this person, and the other views of the proposals he may see."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.domain.policy import Risk
from review.domain.together import MOST
from review.queries.queue import (
    COUNTED,
    WAITING,
    Counted,
    Counts,
    Filters,
    View,
    choices,
    counts,
    newer,
    page,
)
from review.views.asking import viewer_of
from review.views.rows import queue_rows

FILTERS = ("workspace", "risk", "tool", "agent")


@require_safe
@signed_in
def queue(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    viewer, view, filters = viewer_of(request, actor), _view(request), _filters(request)
    now = viewer.now

    found = page(viewer, view, filters, request.GET.get("cursor"))
    rows = queue_rows(actor.person, found.rows, now, several=len(viewer.workspaces) > 1)

    numbers = counts(viewer)
    context = {
        "view": {"key": view.value, "title": _titles()[view], "sentence": _sentence(view, numbers)},
        "views": _views(view, numbers),
        "sorted": _("Riskiest first, then least time left") if view in WAITING else _("Newest first"),
        "filters": _picks(filters, choices(viewer, view)),
        "list_url": reverse("queue"),
        "query": filters.search,
        "filtered": any(filters.scope()),
        "clear_url": _address(view),
        "rows": rows,
        "roomy": sum(bool(row["note"]) for row in rows) * 2 > len(rows),
        "shown": _shown(len(rows), found.next_cursor),
        "next_url": _address(view, filters, cursor=found.next_cursor) if found.next_cursor else None,
        "first_url": _address(view, filters) if request.GET.get("cursor") else None,
        "poll_url": f"{reverse('queue_new')}?{urlencode({'view': view.value, 'since': now.isoformat()})}",
        "bulk": _bulk(view) if rows else None,
        "looked_at": COUNTED,
        "made_at": now,
        "empty": _empty(view, numbers),
        "first_curl": _first_curl() if not any((numbers.mine, numbers.others, numbers.unrun)) else None,
    }
    return render(request, "review/queue.html", context)


@require_safe
@signed_in
def queue_new(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    """What is new in a view since its page was made; empty, and 304, as long as nothing is."""
    view, since = _view(request), _since(request)
    count = newer(viewer_of(request, actor), view, since).n
    tag = f'"{view.value}-{count}"'
    if request.headers.get("If-None-Match") == tag:
        return HttpResponse(status=304, headers={"ETag": tag})
    new = {"count": count, "since": since, "url": _address(view), "needs_reader": view is View.MINE}
    answer = render(request, "review/queue_new.html", {"new": new if count else None})
    answer["ETag"] = tag
    return answer


def _view(request: HttpRequest) -> View:
    """The view asked for; an unknown word is not an error of a person in a hurry, it shows the queue."""
    asked = request.GET.get("view", View.MINE)
    return View(asked) if asked in set(View) else View.MINE


def _filters(request: HttpRequest) -> Filters:
    texts = {name: request.GET.get(name, "").replace("\0", "")[:200] for name in (*FILTERS, "q")}
    return Filters(texts["workspace"], texts["risk"], texts["tool"], texts["agent"], texts["q"].strip())


def _since(request: HttpRequest) -> datetime:
    try:
        since = datetime.fromisoformat(request.GET.get("since", ""))
    except ValueError:
        return timezone.now()
    return since if since.tzinfo else timezone.now()


def _titles() -> dict[View, str]:
    return {
        View.MINE: _("Needs me"),
        View.OTHERS: _("Waiting for others"),
        View.RETURNED: _("Returned"),
        View.UNRUN: _("Approved, not run"),
        View.UNKNOWN: _("Outcome unknown"),
        View.DECIDED: _("Decided and expired"),
    }


def _counted(numbers: Counts) -> dict[View, Counted | None]:
    return {
        View.MINE: numbers.mine,
        View.OTHERS: numbers.others,
        View.RETURNED: numbers.returned,
        View.UNRUN: numbers.unrun,
        View.UNKNOWN: numbers.unknown,
        View.DECIDED: None,
    }


def _views(current: View, numbers: Counts) -> list[dict[str, Any]]:
    titles, counted = _titles(), _counted(numbers)
    return [
        {
            "key": view.value,
            "label": titles[view],
            "count": counted[view],
            "url": _address(view),
            "current": view is current,
        }
        for view in View
    ]


def _sentence(view: View, numbers: Counts) -> str:
    match view:
        case View.MINE:
            return ngettext(
                "%(n)s proposal that you can decide", "%(n)s proposals that you can decide", numbers.mine.n
            ) % {"n": numbers.mine}
        case View.OTHERS:
            return _("You can read these. Others decide them, and each row says why.")
        case View.RETURNED:
            return _("Sent back to their agents for changes.")
        case View.UNRUN:
            return _("Approved and waiting for their executor. Each can still be rejected.")
        case View.UNKNOWN:
            return _("Let run, and nobody has said how it ended. One late report or one person settles it.")
        case View.DECIDED:
            return _("What has been decided, was withdrawn, or ran out of time.")


def _picks(filters: Filters, offered: dict[str, list[str]]) -> list[dict[str, Any]]:
    labels = {"workspace": _("Workspace"), "risk": _("Risk"), "tool": _("Tool"), "agent": _("Agent")}
    offered = {**offered, "risk": [risk.value for risk in reversed(Risk)]}
    return [
        {
            "name": name,
            "label": labels[name],
            "options": [
                ("", _("all") if name == "workspace" else _("any")),
                *((value, value) for value in offered[name]),
            ],
            "chosen": getattr(filters, name),
        }
        for name in FILTERS
    ]


def _bulk(view: View) -> dict[str, Any] | None:
    """Return what can be done with several rows of `view` at once."""
    if view not in (View.MINE, View.OTHERS, View.UNRUN):
        return None
    note = _("Of low risk and one tool, up to %(most)d can be approved together.") % {"most": MOST}
    approves = view is View.MINE
    return {"url": reverse("together"), "approves": approves, "note": note if approves else ""}


def _address(view: View, filters: Filters | None = None, **more: str | None) -> str:
    asked: dict[str, str | None] = {"view": None if view is View.MINE else view.value, **more}
    if filters:
        asked |= {name: getattr(filters, name) for name in FILTERS} | {"q": filters.search}
    query = urlencode({name: value for name, value in asked.items() if value})
    return f"{reverse('queue')}?{query}" if query else reverse("queue")


def _shown(number: int, next_cursor: str | None) -> str:
    if next_cursor:
        return _("%(n)d shown, more follow") % {"n": number}
    return _("All %(n)d shown") % {"n": number}


def _empty(view: View, numbers: Counts) -> dict[str, str]:
    if view is not View.MINE:
        return {"sentence": "", "link_url": _address(View.MINE), "link_label": _("Needs me")}
    waiting = ngettext(
        "%(n)s proposal waits for others.", "%(n)s proposals wait for others.", numbers.others.n
    ) % {"n": numbers.others}
    return {"sentence": waiting, "link_url": _address(View.OTHERS), "link_label": _("Waiting for others")}


def _first_curl() -> dict[str, str]:
    body = '{"tool": "memory.write", "arguments": {"content": "The staging port is 7443."}}'
    lines = (
        f"curl {settings.HUQAN_BASE_URL}/api/v1/proposals",
        '-H "Authorization: Bearer $HUQAN_TOKEN" -H "Content-Type: application/json"',
        f"-d '{body}'",
    )
    return {"text": " \\\n  ".join(lines), "hint": _("A manager mints the token on the agents page.")}
