"""The tables of `/insights/`, each with the sentence that says what it shows and the chart over it.

A cell is a word, a number, a length of time, a Share, or nothing where too few are compared; pages and files
write it in their own way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.domain.decision import Verdict
from review.domain.insights import FAST, Age, Asked, Load, Period, Spread
from review.domain.policy import Risk
from review.views import charts

SHOWN = 6  # codes or tools that have a row of their own


WIDE, CLIPPED = 150, 21  # room for a code or a tool beside its bar: SVG units, characters
RISKS = tuple(risk.value for risk in reversed(Risk))
STYLES = {Verdict.APPROVE: "approved", Verdict.REJECT: "rejected", Verdict.REQUEST_CHANGES: "returned"}


class Share(NamedTuple):
    """A part of a whole, 0 to 1."""

    part: float


Cell = str | int | timedelta | Share | None


class Table(NamedTuple):
    """A table; the first cell of a row says what the row is about. `has_sum`: the last row adds the others up."""

    key: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str
    has_sum: bool = False
    chart: Mapping[str, Any] | None = None
    legend: Sequence[tuple[str, str]] = ()

    @property
    def is_wide(self) -> bool:
        """Whether a phone shows each row as lines, since its columns do not fit beside each other."""
        return len(self.head) > 5

    def labelled(self) -> list[list[tuple[str, str]]]:
        """Return the rows as a page writes them, each cell with the name of its column."""
        return [list(zip(self.head, map(shown, row), strict=True)) for row in self.rows]

    def plain(self) -> Iterable[tuple[str, str, str, object]]:
        """Yield each figure as a file holds it: table, row, column, value; lengths in seconds."""
        for row in self.rows:
            for name, cell in zip(self.head[1:], row[1:], strict=True):
                yield self.title, str(row[0]), name, _plain(cell)


def open_by_age(counted: Mapping[tuple[str, str], int]) -> Table:
    """Return what waits for people now, by age and risk."""
    rows = [(label, [counted.get((age, risk), 0) for risk in RISKS]) for age, label in _ages().items()]
    sums = [sum(column) for column in zip(*(numbers for _label, numbers in rows), strict=True)]
    return Table(
        "open",
        _("Open now, by age and risk"),
        [_("Age"), *_risks(), _("All")],
        [_summed(label, numbers) for label, numbers in [*rows, (_("All"), sums)]],
        _open(sum(sums), rows[-1][1]),
        has_sum=True,
        chart=charts.bars([(label, list(zip(RISKS, numbers, strict=True))) for label, numbers in rows]),
        legend=list(zip(RISKS, _risks(), strict=True)),
    )


def time_to_decision(whole: Spread, cut: Sequence[Period], paces: Sequence[Spread]) -> Table:
    """Return how long a revision waited for each verdict on it, over time."""
    note = _("Half of %(n)d verdicts came within %(half)s of the revision, 90%% within %(most)s.")
    return Table(
        "time",
        _("Time to decision"),
        [_("From"), _("Verdicts"), _("Median"), _("90%")],
        [[day(one), *_spread(pace)] for one, pace in zip(cut, paces, strict=True)],
        note % {"n": whole.n, "half": shown(whole.median), "most": shown(whole.p90)}
        if whole.n
        else _("Nobody decided anything in this period."),
        chart=charts.lines(
            [_tick(one) for one in cut],
            [
                ("median", _("median"), [pace.median for pace in paces]),
                ("most", _("90%"), [pace.p90 for pace in paces]),
            ],
            write=_length,
        ),
        legend=[("median", _("Median")), ("most", _("90th percentile"))],
    )


def outcomes(
    cut: Sequence[Period], verdicts: Sequence[Mapping[Verdict, int]], expired: Sequence[int]
) -> Table:
    """Return what people answered, and what nobody answered in time, over time."""
    numbers = [
        [*(counted[verdict] for verdict in STYLES), late]
        for counted, late in zip(verdicts, expired, strict=True)
    ]
    sums = [sum(column) for column in zip(*numbers, strict=True)]
    styles = [*STYLES.values(), "expired"]
    names = [_("Approved"), _("Rejected"), _("Changes"), _("Expired")]
    rows = [_summed(day(one), row) for one, row in zip(cut, numbers, strict=True)]
    return Table(
        "outcomes",
        _("Decisions by outcome"),
        [_("From"), *names, _("All")],
        [*rows, _summed(_("All"), sums)],
        _expired(sums[-1]),
        has_sum=True,
        chart=charts.columns(
            [_tick(one) for one in cut], [list(zip(styles, row, strict=True)) for row in numbers]
        ),
        legend=list(zip(styles, names, strict=True)),
    )


def refusals(counted: Counter[str]) -> Table:
    """Return which refusals were answered most often."""
    most, all_of_them = counted.most_common(SHOWN), counted.total()
    note = _("%(code)s is the most frequent: %(n)d of %(all)d.")
    named = {"code": most[0][0], "n": most[0][1], "all": all_of_them} if most else {}
    return _ranked(
        "refusals",
        _("Refusals by code"),
        _("Code"),
        counted,
        note % named if most else _("Nothing was refused."),
    )


def expiries(tools: Counter[str]) -> Table:
    """Return of which tools proposals expired."""
    note = ngettext("%(n)d tool has calls that expired.", "%(n)d tools have calls that expired.", len(tools))
    sentence = note % {"n": len(tools)} if tools else _("Nothing expired.")
    return _ranked("expiries", _("Expired, by tool"), _("Tool"), tools, sentence)


def reviewers(loads: Iterable[Load], names: Mapping[UUID, str], too_few: int) -> Table:
    """Return what each reviewer decided, by name: nobody is ranked."""
    named = sorted((names.get(load.person, _("somebody")), load) for load in loads)
    return Table(
        "reviewers",
        _("Per reviewer"),
        [
            *(_("Reviewer"), _("Verdicts"), _("Median time to decision"), _("Not approved")),
            _("Approved within %(n)d s of opening") % {"n": FAST.seconds},
        ],
        [[name, *_load(load)] for name, load in named],
        _("Under %(n)d verdicts nothing is compared. A figure is a question, not a verdict.")
        % {"n": too_few},
    )


def agents(asked: Iterable[Asked], names: Mapping[UUID, str], too_few: int) -> Table:
    """Return what agents submitted and how much was not let through, in the order given."""
    return Table(
        "agents",
        _("Agents by refusal rate"),
        [_("Agent"), _("Submissions"), _("Refused at once"), _("Rejected by people"), _("Not let through")],
        [_asked(one, names[one.agent]) for one in asked],
        _("Under %(n)d submissions nothing is compared; those agents stand last.") % {"n": too_few},
    )


def shown(cell: Cell) -> str:
    """Return `cell` as a page writes it."""
    match cell:
        case None:
            return _("too few")
        case Share(part):
            return f"{part:.0%}"
        case timedelta():
            return _length(cell)
    return str(cell)


def day(period: Period) -> str:
    return date_format(period.since, "j M")


def _tick(period: Period) -> str:
    return date_format(period.since, "j")


def _plain(cell: Cell) -> object:
    match cell:
        case Share(part):
            return round(part, 4)
        case timedelta():
            return round(cell.total_seconds(), 3)
    return "too few" if cell is None else cell


def _length(length: timedelta) -> str:
    """A length with two digits or so: what a reader compares, in the unit he would say."""
    seconds = length.total_seconds()
    if seconds < 60:
        return _("%(n)d s") % {"n": seconds}
    if seconds < 3600:
        return _("%(n)d min") % {"n": seconds // 60}
    if seconds < 172_800:
        return _("%(n)s h") % {"n": _tenths(seconds / 3600)}
    return _("%(n)s days") % {"n": _tenths(seconds / 86_400)}


def _tenths(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _ages() -> dict[Age, str]:
    return {
        Age.UNDER_HOUR: _("Under 1 h"),
        Age.HOURS: _("1 to 4 h"),
        Age.DAY: _("4 to 24 h"),
        Age.OVER_DAY: _("Over 24 h"),
    }


def _risks() -> list[str]:
    names = {"high": _("High"), "medium": _("Medium"), "low": _("Low")}
    return [names[risk] for risk in RISKS]


def _open(number: int, old: Sequence[int]) -> str:
    if not number:
        return _("Nothing is open.")
    said = [f"{n} {name.lower()}" for n, name in zip(old, _risks(), strict=True) if n]
    late = (
        _("%(which)s over a day old.") % {"which": ", ".join(said)} if said else _("None is over a day old.")
    )
    return f"{_('%(n)d open.') % {'n': number}} {late}"


def _expired(number: int) -> str:
    sentence = ngettext(
        "%(n)d expired: nobody decided in time, so nothing ran.",
        "%(n)d expired: nobody decided in time, so nothing ran.",
        number,
    )
    return sentence % {"n": number} if number else _("Nothing expired.")


def _summed(name: str, numbers: Sequence[int]) -> list[Cell]:
    return [name, *numbers, sum(numbers)]


def _spread(pace: Spread) -> list[Cell]:
    return [pace.n, "–" if pace.median is None else pace.median, "–" if pace.p90 is None else pace.p90]


def _load(load: Load) -> list[Cell]:
    fast = _("%(n)d of %(all)d") % {"n": load.fast, "all": load.opened}
    if not load.is_comparable:
        return [load.spread.n, None, None, fast]
    return [load.spread.n, load.spread.median, Share(load.not_approved / load.spread.n), fast]


def _asked(one: Asked, name: str) -> list[Cell]:
    rate = Share(one.rate) if one.is_comparable else None
    return [name, one.submissions, one.refused, one.rejected, rate]


def _ranked(key: str, title: str, name: str, counted: Counter[str], note: str) -> Table:
    most = counted.most_common(SHOWN)
    rest = counted.total() - sum(number for _name, number in most)
    rows: list[list[Cell]] = [[one, number] for one, number in most]
    more: list[list[Cell]] = [[_("Others"), rest]] if rest else []
    return Table(
        key,
        title,
        [name, _("Number")],
        [*rows, *more, [_("All"), counted.total()]],
        note,
        has_sum=True,
        chart=charts.bars([(_clipped(one), [("rejected", number)]) for one, number in most], label=WIDE)
        if most
        else None,
    )


def _clipped(name: str) -> str:
    """A name as it fits beside a bar; the table below has it whole."""
    return name if len(name) <= CLIPPED else f"{name[: CLIPPED - 1]}…"
