"""The rules of a policy as a table that people read, the defaults and the floor among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.domain.policy import DEFAULTS, FLOOR, Route, Rule, resolve, resolve_own, rule_number
from review.domain.satisfiable import House

BEGINNING: Mapping[str, Any] = {"defaults": dict(DEFAULTS), "rules": []}
"""What the editor begins with where nothing but the built-in defaults holds."""


def rules(document: Mapping[str, Any], house: House) -> list[dict[str, Any]]:
    """Return a row for each rule in the order in which they are tried, then the floor's, then the defaults."""
    return [
        *(
            _row(str(number), own["tool"], resolve_own(document, own), house)
            for number, own in enumerate(document.get("rules", ()), 1)
        ),
        *(_row(_("floor"), tool, resolve(document, tool), house) for tool in _unruled(document)),
        {**_row(_("defaults"), "", resolve_own(document, {"tool": ""}), house), "tool": _("everything else")},
    ]


def _unruled(document: Mapping[str, Any]) -> Iterator[str]:
    return (tool for tool in FLOOR if rule_number(document, tool) is None)


def _row(place: str, tool: str, rule: Rule, house: House) -> dict[str, Any]:
    return {
        "place": place,
        "tool": tool,
        "risk": rule.risk.value,
        "route": _route(rule),
        "approvals": _approvals(rule),
        "groups": [f"{group.name} {group.approvals}" for group in rule.groups],
        "time": span(rule.ttl_seconds) if rule.route is Route.REVIEW else "",
        "asked": list(_asked(rule)),
        "unmet": [shortfall.sentence for shortfall in house.shortfalls(rule, tool)],
    }


def _route(rule: Rule) -> str:
    return {Route.REVIEW: _("People decide"), Route.ALLOW: _("Goes through"), Route.BLOCK: _("Blocked")}[
        rule.route
    ]


def _approvals(rule: Rule) -> str:
    if rule.route is not Route.REVIEW:
        return ""
    return ngettext("%(n)d person", "%(n)d people", rule.people) % {"n": rule.people}


def _asked(rule: Rule) -> Iterator[str]:
    if rule.step_up:
        yield _("a sign-in at most 5 minutes old")
    if rule.confirm:
        yield _("typing the value of %(pointer)s") % {"pointer": rule.confirm}
    if rule.audience:
        yield _("run by %(agent)s") % {"agent": rule.audience}
    if rule.schema is not True:
        yield _("arguments by a schema")


def span(seconds: int) -> str:
    """Return a length of time as a rule means it: in the largest unit that says it exactly."""
    units = (
        (timedelta(days=1), "%(n)d day", "%(n)d days"),
        (timedelta(hours=1), "%(n)d hour", "%(n)d hours"),
        (timedelta(minutes=1), "%(n)d minute", "%(n)d minutes"),
    )
    for unit, one, many in units:
        number, rest = divmod(timedelta(seconds=seconds), unit)
        if not rest:
            return ngettext(one, many, number) % {"n": number}
    return ngettext("%(n)d second", "%(n)d seconds", seconds) % {"n": seconds}
