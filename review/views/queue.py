"""The queue: what needs this person, and the other views of the proposals he may see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.domain.together import MOST
from review.queries.queue import (
    COUNTED,
    PAGE,
    WAITING,
    Counted,
    Counts,
    View,
    choices,
    counts,
    decidable,
    gone,
    newer,
    page,
)
from review.views.address import moment_in
from review.views.asking import viewer_of
from review.views.queue_address import Asked
from review.views.queue_list import groups, in_words, picks, saved
from review.views.rows import gone_rows, queue_rows

if TYPE_CHECKING:
    from review.models import Proposal


@require_safe
@signed_in
def queue(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    asked = Asked.of(request.GET)
    return show(request, actor, asked, saved(asked, actor.person))


def show(request: HttpRequest, actor: PersonActor, asked: Asked, saved: dict[str, Any]) -> HttpResponse:
    """Return the list that is `asked` for, with the views that were saved and the form that saves another."""
    viewer = viewer_of(request, actor)
    view, now, several = asked.view, viewer.now, len(viewer.workspaces) > 1

    found = page(viewer, view, asked.filters, request.GET.get("cursor"), asked.order)
    rows = queue_rows(actor.person, found.rows, now, several=several)

    numbers = counts(viewer)
    context = {
        "view": {"key": view.value, "title": _titles()[view], "sentence": _sentence(view, numbers.mine)},
        "mine": numbers.mine,
        "views": _views(view, numbers),
        "saved": saved,
        "sorted": in_words(asked),
        "filters": picks(asked, choices(viewer, view), several=several),
        "list_url": reverse("queue"),
        "query": asked.filters.search,
        "filtered": bool(asked.filters),
        "filtered_out": bool(asked.filters) and _counted(numbers)[view] != Counted(0),
        "clear_url": asked.unfiltered().url(),
        "rows": rows,
        "groups": groups(asked, found.rows, rows),
        "roomy": sum(bool(row["note"] or row["claim"]) for row in rows) * 2 > len(rows),
        "shown": _shown(len(rows), found.next_cursor),
        "next_url": asked.url(cursor=found.next_cursor) if found.next_cursor else None,
        "first_url": asked.url() if request.GET.get("cursor") else None,
        "poll": {"url": _poll_url(asked, found.rows, now), "tag": _tag(view, 0, numbers.mine, 0)},
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
    """What is new in a view and what left it since its page was made; 304 as long as nothing changes."""
    viewer, asked, since = viewer_of(request, actor), Asked.of(request.GET), _since(request)
    count, mine = newer(viewer, asked.view, since, asked.filters).n, decidable(viewer)
    shown = _shown_rows(request)
    left = gone(viewer, asked.view, shown)
    tag = _tag(asked.view, count, mine, len(left))
    etag = f'"{tag}"'
    if request.headers.get("If-None-Match") == etag:
        return HttpResponse(status=304, headers={"ETag": etag})
    new = {"count": count, "since": since, "url": asked.url(), "needs_reader": asked.view is View.MINE}
    icon = reverse("queue_icon", args=[mine.n]) if mine else static("favicon.svg")
    context = {
        "poll": {"url": request.get_full_path(), "tag": tag},
        "new": new if count else None,
        "gone": gone_rows(actor.person, left, viewer.now, several=len(viewer.workspaces) > 1),
        "bulk": _bulk(asked.view),
        "tab": {"title": _titles()[asked.view], "mine": mine, "icon_url": icon},
        "sentence": _sentence(asked.view, mine) if shown else "",
    }
    answer = render(request, "review/queue_new.html", context)
    answer["ETag"] = etag
    return answer


def _poll_url(asked: Asked, rows: Sequence[Proposal], now: datetime) -> str:
    """Where the page asks what is new since `now`, and which of its rows wait no more."""
    shown = ".".join(str(row.id) for row in rows if asked.view in WAITING)
    return f"{reverse('queue_new')}?{urlencode({**asked.words(), 'since': now.isoformat(), 'rows': shown})}"


def _tag(view: View, new: int, mine: Counted, gone: int) -> str:
    """What a page of `view` shows, in an ETag: how many are new, can be decided, and of its rows are over."""
    return f"{view.value}-{new}-{mine}-{gone}"


def _shown_rows(request: HttpRequest) -> list[UUID]:
    """The rows of the page that asks; what no page of ours sends stands for none."""
    try:
        return [UUID(one) for one in request.GET.get("rows", "").split(".")[:PAGE] if one]
    except ValueError:
        return []


def _since(request: HttpRequest) -> datetime:
    return moment_in(request.GET.get("since", "")) or timezone.now()


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
            "url": Asked(view).url(),
            "current": view is current,
        }
        for view in View
    ]


def _sentence(view: View, mine: Counted) -> str:
    match view:
        case View.MINE:
            return ngettext(
                "%(n)s proposal that you can decide", "%(n)s proposals that you can decide", mine.n
            ) % {"n": mine}
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


def _bulk(view: View) -> dict[str, Any] | None:
    """Return what can be done with several rows of `view` at once."""
    if view not in (View.MINE, View.OTHERS, View.UNRUN):
        return None
    note = _("Of low risk and one tool, up to %(most)d can be approved together.") % {"most": MOST}
    approves = view is View.MINE
    return {"url": reverse("together"), "approves": approves, "note": note if approves else ""}


def _shown(number: int, next_cursor: str | None) -> str:
    if next_cursor:
        return _("%(n)d shown, more follow") % {"n": number}
    return _("All %(n)d shown") % {"n": number}


def _empty(view: View, numbers: Counts) -> dict[str, str]:
    if view is not View.MINE:
        return {"sentence": "", "link_url": Asked(View.MINE).url(), "link_label": _("Needs me")}
    waiting = ngettext(
        "%(n)s proposal waits for others.", "%(n)s proposals wait for others.", numbers.others.n
    ) % {"n": numbers.others}
    return {"sentence": waiting, "link_url": Asked(View.OTHERS).url(), "link_label": _("Waiting for others")}


def _first_curl() -> dict[str, str]:
    body = '{"tool": "memory.write", "arguments": {"content": "The staging port is 7443."}}'
    lines = (
        f"curl {settings.HUQAN_BASE_URL}/api/v1/proposals",
        '-H "Authorization: Bearer $HUQAN_TOKEN" -H "Content-Type: application/json"',
        f"-d '{body}'",
    )
    return {
        "text": " \\\n  ".join(lines),
        "hint": _("A manager mints the token on the agents page."),
        "help_url": reverse("help_page", args=["agents"]),
    }
