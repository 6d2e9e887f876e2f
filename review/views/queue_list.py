"""How the list of the queue is chosen and set out: its filters, its order, what stands together, and what was saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.domain.policy import Risk
from review.domain.sameness import put_together
from review.queries.queue import WAITING, Order, saved_views
from review.views.queue_address import Asked, Group

if TYPE_CHECKING:
    from review.access.models import Person
    from review.models import Proposal

Pick = dict[str, Any]


def in_words(asked: Asked) -> str:
    """Return how the rows are sorted, and what stands together."""
    return ", ".join([_sorted(asked), *_grouped(asked)])


def _sorted(asked: Asked) -> str:
    if asked.view not in WAITING:
        return _("Newest first")
    return _("Oldest first") if asked.order is Order.AGE else _("Riskiest first, then least time left")


def _grouped(asked: Asked) -> list[str]:
    if asked.group is None:
        return []
    return [_("one run together") if asked.group is Group.RUN else _("what is alike together")]


def picks(asked: Asked, offered: Mapping[str, Sequence[str]], *, several: bool) -> list[Pick]:
    """Return the choices above a list; that of a workspace only to who has `several`."""
    return [
        *([_pick("workspace", _("Workspace"), _("all"), offered["workspace"], asked)] if several else []),
        _pick("risk", _("Risk"), _("any"), [risk.value for risk in reversed(Risk)], asked),
        _pick("tool", _("Tool"), _("any"), offered["tool"], asked),
        _pick("agent", _("Agent"), _("any"), offered["agent"], asked),
        *_only(asked),
        *([_order(asked)] if asked.view in WAITING else []),
        _group(asked),
    ]


def _pick(name: str, label: str, everything: str, values: Sequence[str], asked: Asked) -> Pick:
    options = [("", everything), *((value, value) for value in values)]
    return {"name": name, "label": label, "options": options, "chosen": getattr(asked.filters, name)}


def _only(asked: Asked) -> list[Pick]:
    """One run, or what is alike: chosen at the head of a group, so only to be left again here."""
    run, alike = asked.filters.run, asked.filters.alike
    shown = [("run", _("Run"), run, run), ("alike", _("Alike"), alike, _("one call and those like it"))]
    return [
        {"name": name, "label": label, "options": [("", _("any")), (value, text)], "chosen": value}
        for name, label, value, text in shown
        if value
    ]


def _order(asked: Asked) -> Pick:
    options = [("", _("riskiest first")), (Order.AGE.value, _("oldest first"))]
    chosen = "" if asked.order is Order.RISK else asked.order.value
    return {"name": "order", "label": _("Order"), "options": options, "chosen": chosen}


def _group(asked: Asked) -> Pick:
    options = [("", _("none")), (Group.RUN.value, _("by run")), (Group.ALIKE.value, _("what is alike"))]
    return {"name": "group", "label": _("Groups"), "options": options, "chosen": asked.group or ""}


def groups(asked: Asked, proposals: Sequence[Proposal], rows: Sequence[Pick]) -> list[dict[str, Any]]:
    """Return the rows of a page as templates/review/queue.html sets them out, what belongs together side by side.

    A group is what stands on this page, where its first row stood; its link leads to all of it in the view.
    """
    if asked.group is None:
        return [{"title": "", "rows": rows}]
    keys = [proposal.run_id if asked.group is Group.RUN else proposal.same_key for proposal in proposals]
    return [
        _headed(asked, key, members) if key else {"title": "", "rows": members}
        for key, members in put_together(rows, keys)
    ]


def _headed(asked: Asked, key: str, rows: Sequence[Pick]) -> dict[str, Any]:
    count = ngettext("%(n)d on this page", "%(n)d on this page", len(rows)) % {"n": len(rows)}
    if asked.group is Group.RUN:
        title, only = _("Run %(run)s") % {"run": key}, replace(asked.filters, run=key)
    else:
        title, only = _("%(tool)s, alike") % {"tool": rows[0]["tool"]}, replace(asked.filters, alike=key)
    return {
        "title": title,
        "count": count,
        "url": replace(asked, filters=only, group=None).url(),
        "rows": rows,
    }


def saved(asked: Asked, person: Person, *, typed: str = "", error: str = "") -> dict[str, Any]:
    """Return templates/components/saved.html's context: his views, and the form that adds what is `asked` for."""
    views = [
        {
            "name": view.name,
            "url": f"{reverse('queue')}?{view.query}",
            "current": view.query == asked.query,
            "remove_url": reverse("saved_view_remove", args=[view.id]),
        }
        for view in saved_views(person)
    ]
    new = not asked.is_plain and not any(view["current"] for view in views)
    form = {"url": reverse("saved_views"), "said": asked.words(), "typed": typed, "error": error}
    return {"views": views, "form": form if new or error else None}
