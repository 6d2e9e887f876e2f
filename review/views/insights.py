"""`/insights/`: whether reviewing works, in figures of the workspaces that a manager manages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from review.access.actors import PersonActor
from review.access.sessions import signed_in
from review.access.views.shared import managed
from review.audit import tallies
from review.domain import insights as rules
from review.domain.insights import TOO_FEW, Period
from review.queries import insights as queries
from review.queries.story import tools
from review.views import figures
from review.views.address import DAY, moment, typed
from review.views.attached import attachment
from review.views.figures import Table
from review.views.spreadsheet import csv_line

if TYPE_CHECKING:
    from review.access.models import Workspace

USUAL = timedelta(days=35)


class Wanted(NamedTuple):
    """What the address asks for. `fault` says what of it is not there, and then the usual period is shown."""

    places: list[Workspace]
    chosen: list[Workspace]
    period: Period
    typed: dict[str, str]
    fault: str


class Figures(NamedTuple):
    """Every table of the page; `cut_short` where the period holds more than is looked at."""

    charted: list[Table]
    listed: list[Table]
    cut_short: bool


@require_safe
@signed_in
def insights(request: HttpRequest, actor: PersonActor) -> HttpResponse:
    now = timezone.now()
    wanted = _wanted(request, actor, now)
    counted = _figures(wanted, now)
    context = {
        **_head(wanted),
        "charted": counted.charted,
        "listed": counted.listed,
        "cut_short": queries.LOOKED_AT if counted.cut_short else None,
    }
    return render(request, "insights/insights.html", context)


@require_safe
@signed_in
def insights_csv(request: HttpRequest, actor: PersonActor) -> HttpResponseBase:
    """Every figure of the page on a line of its own: table, row, column, value; lengths in seconds."""
    now = timezone.now()
    counted = _figures(_wanted(request, actor, now), now)
    return attachment(_lines([*counted.charted, *counted.listed]), "text/csv; charset=utf-8", "insights.csv")


def _wanted(request: HttpRequest, actor: PersonActor, now: datetime) -> Wanted:
    """Raises: NotManager."""
    places, asked = managed(actor), typed(request, "from", "to", "tool", "workspace")
    chosen = [one for one in places if asked["workspace"] in ("", one.name)]
    fault = "" if chosen else _("You manage no workspace of that name. All that you manage are shown.")
    try:
        period = _period(asked["from"], asked["to"], now)
    except (ValueError, OverflowError):
        period = _period("", "", now)
        fault = _("A period begins and ends with a day like 2026-11-30. The last five weeks are shown.")
    return Wanted(places, chosen or places, period, asked, fault)


def _period(since: str, until: str, now: datetime) -> Period:
    """The days that were typed, whole; open ends are five weeks before the end, and today.

    Raises: ValueError where they are no days, or end before they begin; OverflowError.
    """
    today = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
    end = moment(until, after=DAY) or today + DAY
    period = Period(moment(since) or end - USUAL, end)
    if period.since >= period.until:
        raise ValueError
    return period


def _figures(wanted: Wanted, now: datetime) -> Figures:
    ids, period = [one.id for one in wanted.chosen], wanted.period
    part = queries.Part(ids, wanted.typed["tool"])
    within, cut = tallies.span(*period), rules.stretches(period)
    people, agents = queries.names_of(ids), queries.agents_of(ids)
    votes = queries.votes(part, period, list(people))
    expired = queries.expiries(part, within)
    refused = queries.refusals(part, within)
    asked = queries.asked(part, within, agents)
    return Figures(
        charted=[
            figures.open_by_age(queries.open_now(part, now)),
            figures.time_to_decision(rules.spread(vote.took for vote in votes), cut, rules.paces(votes, cut)),
            figures.outcomes(cut, rules.verdicts(votes, cut), rules.counts((one.at for one in expired), cut)),
            figures.refusals(refused),
            figures.expiries(Counter(one.tool for one in expired)),
        ],
        listed=[
            figures.reviewers(rules.loads(votes), people, TOO_FEW),
            figures.agents(rules.by_rate(asked), agents, TOO_FEW),
        ],
        cut_short=max(len(votes), len(expired), refused.total(), sum(one.submissions for one in asked))
        >= queries.LOOKED_AT,
    )


def _head(wanted: Wanted) -> dict[str, Any]:
    first, last = wanted.period.since, wanted.period.until - timedelta(microseconds=1)
    offered = tools((one.id for one in wanted.chosen), wanted.typed["tool"])
    given = {name: value for name, value in wanted.typed.items() if value}
    return {
        "about": _about(wanted, first, last),
        "fault": wanted.fault,
        "fields": {"from": first.date().isoformat(), "to": last.date().isoformat()},
        "workspaces": [("", _("all that you manage")), *((one.name, one.name) for one in wanted.places)],
        "workspace": wanted.typed["workspace"],
        "tools": [("", _("any")), *((one, one) for one in offered)],
        "tool": wanted.typed["tool"],
        "list_url": reverse("insights"),
        "filtered": bool(given),
        "export_url": f"{reverse('insights_csv')}?{urlencode(given)}" if given else reverse("insights_csv"),
    }


def _about(wanted: Wanted, first: datetime, last: datetime) -> str:
    """What is counted, as one line under the title and on paper."""
    tool = wanted.typed["tool"]
    line = (
        _("%(workspaces)s, only %(tool)s, %(from)s to %(to)s")
        if tool
        else _("%(workspaces)s, %(from)s to %(to)s")
    )
    return line % {
        "workspaces": ", ".join(one.name for one in wanted.chosen),
        "tool": tool,
        "from": date_format(first, "j M Y"),
        "to": date_format(last, "j M Y"),
    }


def _lines(tables: list[Table]) -> Iterator[str]:
    yield csv_line(["table", "row", "column", "value"])
    for table in tables:
        yield from (csv_line(figure) for figure in table.plain())
