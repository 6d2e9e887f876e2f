"""The lists of proposals that a person sees: what needs him, what waits for others, what is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet
from django.db.models.functions import Coalesce

from review.access.models import Membership, Person, Workspace
from review.access.queries import memberships_of
from review.audit.statements import first, prepared
from review.domain.status import REPORT_WITHIN, Status, current
from review.models import Decision, Look, Proposal, ProposalQuerySet, SavedView
from review.queries.decidable import Voter, approval_counts, voter
from review.queries.paging import Keyset, Page
from review.queries.visible import among

PAGE = 50
NEAR = 20  # among these is nearly always one that its reader can decide
COUNTED = 500  # how many rows a page, a number beside a view and the choices of a filter look at


class View(StrEnum):
    MINE = "mine"
    OTHERS = "others"
    RETURNED = "returned"
    UNRUN = "unrun"
    UNKNOWN = "unknown"
    DECIDED = "decided"


class Order(StrEnum):
    """How what waits is sorted; what is over comes newest first."""

    RISK = "risk"
    AGE = "age"


OVER = (
    *(Status.EXECUTED, Status.REJECTED, Status.WITHDRAWN, Status.EXPIRED),
    *(Status.RUNNING, Status.SUCCEEDED, Status.FAILED, Status.UNKNOWN),
)
STATE = {
    View.MINE: Status.PENDING,
    View.OTHERS: Status.PENDING,
    View.RETURNED: Status.CHANGES_REQUESTED,
    View.UNRUN: Status.APPROVED,
}
"""In which state a proposal stands in a view of what waits."""
WAITING = tuple(STATE)
SPLIT = (View.MINE, View.OTHERS)
"""What is pending, parted by whether the viewer can decide it."""
BY_RISK_AND_TIME = Keyset("huqan.queue", (("-risk_rank", "int"), ("expires_at", "time"), ("id", "id")))
BY_AGE = Keyset("huqan.queue.age", (("created_at", "time"), ("id", "id")))
BY_END = Keyset("huqan.decided", (("-ended_at", "time"), ("-id", "id")))


@dataclass(frozen=True)
class Viewer:
    """A person at one moment, with what every list asks about him, asked once."""

    person: Person
    now: datetime

    @cached_property
    def memberships(self) -> list[Membership]:
        return memberships_of(self.person.id, self.now)

    @cached_property
    def workspaces(self) -> list[Workspace]:
        """Where he has any role, by name."""
        return list({held.workspace_id: held.workspace for held in self.memberships}.values())

    @cached_property
    def voter(self) -> Voter:
        return voter(self.person, self.now)

    @cached_property
    def can_decide(self) -> Q:
        return approval_counts(self.now, *self.voter.values())

    @cached_property
    def pending(self) -> list[Any]:
        """Keys of the first COUNTED that are pending, riskiest first, and whether he can decide each (`fits`)."""
        return self._of_all(_pending)[:COUNTED]

    @cached_property
    def nearest(self) -> list[Any]:
        """The first NEAR of `pending`, for who only asks what comes next."""
        return self._of_all(_nearest)[:NEAR]

    def _of_all(self, pending: Callable[..., list[Any]]) -> list[Any]:
        places = [workspace.id for workspace in self.workspaces]
        return BY_RISK_AND_TIME.merged([pending(one, self.now, *self.voter.values(one)) for one in places])

    @cached_property
    def needs_him(self) -> list[Any]:
        """Those of `pending` that he can decide."""
        return [row for row in self.pending if row.fits]


@dataclass(frozen=True)
class Filters:
    """What the address asks for; empty means any. `search` looks into summary, agent and run.

    `run` is one run's id; `alike` is the key that alike calls share: review/domain/sameness.py.
    """

    workspace: str = ""
    risk: str = ""
    tool: str = ""
    agent: str = ""
    run: str = ""
    alike: str = ""
    search: str = ""

    def scope(self) -> list[str]:
        return list(astuple(self))

    def __bool__(self) -> bool:
        return any(self.scope())


EVERYTHING = Filters()


class Counted(NamedTuple):
    """A number beside a view. Nobody works through more than COUNTED, so no more are looked at."""

    n: int
    more: bool = False  # than were looked at

    def __str__(self) -> str:
        return f"{self.n}+" if self.more else str(self.n)

    def __bool__(self) -> bool:
        return self.n > 0


class Counts(NamedTuple):
    """How many proposals stand in each view that is counted."""

    mine: Counted
    others: Counted
    returned: Counted
    unrun: Counted
    unknown: Counted


def page(
    viewer: Viewer, view: View, filters: Filters, cursor: str | None, order: Order = Order.RISK
) -> Page[Proposal]:
    """Return a page of `view`; one without rows may have a cursor, where what was looked at belongs to others.

    Raises: BadCursor.
    """
    scope = [view, str(viewer.person.id), *filters.scope()]
    keyset = _keyset(view, order)
    if view in SPLIT:
        seen = _seen(viewer, filters, cursor, keyset, scope)
        found = keyset.cut(seen, fits=view is View.MINE, most=COUNTED, size=PAGE, scope=scope)
        return Page(_placed(_fetched([row.pk for row in found.rows]), viewer), found.next_cursor)
    parts = _by_workspace(matching(_stock(viewer, view), filters).select_related("agent"), viewer)
    whole = keyset.page(*parts, cursor=cursor, size=PAGE, scope=scope)
    return Page(_placed(whole.rows, viewer), whole.next_cursor)


def _seen(
    viewer: Viewer, filters: Filters, cursor: str | None, keyset: Keyset, scope: list[str]
) -> list[Any]:
    """What is pending, from `cursor` on; the beginning of the plain list is read for the bar in any case."""
    if not filters and not cursor and keyset is BY_RISK_AND_TIME:
        return viewer.pending
    parts = _by_workspace(matching(_stock(viewer, View.MINE), filters), viewer)
    return keyset.look(*parts, fits=viewer.can_decide, most=COUNTED, cursor=cursor, scope=scope)


def _fetched(ids: list[UUID]) -> list[Proposal]:
    by_id = {row.pk: row for row in _with_agents(tuple(ids))}
    return [by_id[id_] for id_ in ids]


@prepared
def _with_agents(ids: tuple[UUID, ...]) -> QuerySet[Proposal]:
    return Proposal.objects.select_related("agent").filter(pk__in=ids)


def _placed(rows: list[Proposal], viewer: Viewer) -> list[Proposal]:
    """Give each its workspace, which is known: joined to it, SQLite would leave the order of the index."""
    workspaces = {workspace.id: workspace for workspace in viewer.workspaces}
    for row in rows:
        row.workspace = workspaces[row.workspace_id]
    return rows


def _keyset(view: View, order: Order) -> Keyset:
    if view not in WAITING:
        return BY_END
    return BY_AGE if order is Order.AGE else BY_RISK_AND_TIME


def _by_workspace(rows: ProposalQuerySet, viewer: Viewer) -> list[ProposalQuerySet]:
    """Split `rows`, so that each part can be read in the order of an index."""
    return [rows.filter(workspace_id=workspace.id) for workspace in viewer.workspaces]


def in_view(viewer: Viewer, view: View) -> ProposalQuerySet:
    """Return the proposals of `view` in every workspace where the viewer has a role."""
    fits = _fits(viewer, view)
    return _stock(viewer, view) if fits is None else _stock(viewer, view).filter(fits)


def _fits(viewer: Viewer, view: View) -> Q | None:
    """What of its stock belongs in a view, where that has to be asked of each row; None where all does."""
    match view:
        case View.MINE:
            return viewer.can_decide
        case View.OTHERS:
            return ~viewer.can_decide
        case _:
            return None


def _stock(viewer: Viewer, view: View) -> ProposalQuerySet:
    """The rows among which a view finds its own, read in the order of an index."""
    rows, now = _within(viewer), viewer.now
    match view:
        case View.MINE | View.OTHERS:
            return rows.filter(status=Status.PENDING).live(now)
        case View.RETURNED:
            return rows.filter(status=Status.CHANGES_REQUESTED).live(now)
        case View.UNRUN:
            return rows.filter(status=Status.APPROVED).live(now)
        case View.UNKNOWN:
            return _of_unknown_outcome(rows, now)
        case View.DECIDED:
            return _over(rows, now)


def held(viewer: Viewer) -> ProposalQuerySet:
    return _within(viewer).filter(status=Status.QUARANTINED)


def newer(viewer: Viewer, view: View, since: datetime, filters: Filters = EVERYTHING) -> Counted:
    """Return how many that `filters` lets through came into `view` after `since`; COUNTED are looked at."""
    came_at = "submitted_at" if view in WAITING else "ended_at"
    rows = matching(_stock(viewer, view).filter(**{f"{came_at}__gt": since}), filters)
    fits = _fits(viewer, view)
    if fits is None:
        return _counted(rows)
    return _met(list(_sorted_out(rows, fits)))


def gone(viewer: Viewer, view: View, ids: Sequence[UUID]) -> list[Proposal]:
    """Return those of `ids`, which stood in `view`, that wait there no more, whoever ended that."""
    state = STATE.get(view)
    found = among(viewer.person, ids, viewer.now) if state else []
    return [row for row in found if current(row.status, row.expires_at, viewer.now) is not state]


def last_decisions(proposals: Sequence[Proposal]) -> dict[UUID, Decision]:
    """Return the newest decision on each of `proposals`, with who made it."""
    made = Decision.objects.filter(proposal__in=proposals).select_related("person").order_by("created_at")
    return {decision.proposal_id: decision for decision in made}


def matching(rows: ProposalQuerySet, filters: Filters) -> ProposalQuerySet:
    """Return `rows` that `filters` lets through."""
    exact = {
        "workspace__name": filters.workspace,
        "risk": filters.risk,
        "tool": filters.tool,
        "agent__name": filters.agent,
        "run_id": filters.run,
        "same_key": filters.alike,
    }
    rows = rows.filter(**{column: value for column, value in exact.items() if value})
    if filters.search:
        rows = rows.filter(
            Q(summary__icontains=filters.search)
            | Q(agent__name__icontains=filters.search)
            | Q(run_id__icontains=filters.search)
            | Q(tool__icontains=filters.search)
        )
    return rows


def counts(viewer: Viewer) -> Counts:
    """Return the numbers that stand beside the views."""
    mine = decidable(viewer)
    return Counts(
        mine=mine,
        others=Counted(len(viewer.pending) - mine.n, mine.more),
        returned=_counted(in_view(viewer, View.RETURNED)),
        unrun=_counted(in_view(viewer, View.UNRUN)),
        unknown=_counted(in_view(viewer, View.UNKNOWN)),
    )


def decidable(viewer: Viewer) -> Counted:
    """Return how many pending proposals the viewer can decide."""
    return Counted(len(viewer.needs_him), len(viewer.pending) == COUNTED)


def next_for(viewer: Viewer) -> Proposal | None:
    """Return what needs the viewer first; None where nothing among the first COUNTED does."""
    near = [row for row in viewer.nearest if row.fits]
    following = first(near or viewer.needs_him)
    return first(_proposal(following.pk)) if following else None


def releasable(viewer: Viewer) -> Counted:
    """Return how many held proposals the viewer can decide."""
    places = tuple(workspace.id for workspace in viewer.workspaces)
    return _met(_held(places, viewer.now, *viewer.voter.values()))


@prepared
def _pending(workspace: UUID, now: datetime, *voter: Any) -> QuerySet[Proposal, Any]:
    return _first_pending(COUNTED, workspace, now, *voter)


@prepared
def _nearest(workspace: UUID, now: datetime, *voter: Any) -> QuerySet[Proposal, Any]:
    return _first_pending(NEAR, workspace, now, *voter)


def _first_pending(most: int, workspace: UUID, now: datetime, *voter: Any) -> QuerySet[Proposal, Any]:
    rows = Proposal.objects.filter(workspace=workspace, status=Status.PENDING).live(now)
    return BY_RISK_AND_TIME.asking(rows, approval_counts(now, *voter), most)


@prepared
def _held(workspaces: tuple[UUID, ...], now: datetime, *voter: Any) -> QuerySet[Proposal, bool]:
    rows = Proposal.objects.filter(workspace__in=workspaces, status=Status.QUARANTINED)
    return _sorted_out(rows, approval_counts(now, *voter))


@prepared
def _proposal(id: UUID) -> QuerySet[Proposal]:
    return Proposal.objects.filter(pk=id)


def _sorted_out(rows: ProposalQuerySet, condition: Q) -> QuerySet[Proposal, bool]:
    """Whether each of the first COUNTED of `rows` meets `condition`."""
    meets = ExpressionWrapper(condition, output_field=BooleanField())
    return rows.annotate(meets=meets).order_by()[:COUNTED].values_list("meets", flat=True)


def _met(sorted_out: list[bool]) -> Counted:
    """How many of the first COUNTED meet what they were asked for."""
    return Counted(sum(sorted_out), len(sorted_out) == COUNTED)


def _counted(rows: ProposalQuerySet) -> Counted:
    found = rows.order_by()[:COUNTED].count()
    return Counted(found, found == COUNTED)


def looked_at(person: Person, proposals: Sequence[Proposal]) -> dict[UUID, Look]:
    """Return `person`'s newest look at each of `proposals`."""
    looks = Look.objects.filter(person=person, proposal__in=proposals).order_by("revision")
    return {look.proposal_id: look for look in looks}


def saved_views(person: Person) -> list[SavedView]:
    """Return the addresses of the queue that `person` has named, by name."""
    return list(SavedView.objects.filter(person=person))


def choices(viewer: Viewer, view: View) -> dict[str, list[str]]:
    """Return the values that the filters of a view offer; tools and agents are those of its first COUNTED rows."""
    names = [name for name, _ in _keyset(view, Order.RISK).keys]
    parts = _by_workspace(_stock(viewer, view), viewer)
    listed = [
        row for part in parts for row in part.order_by(*names)[:COUNTED].values_list("tool", "agent__name")
    ]
    return {
        "workspace": [workspace.name for workspace in viewer.workspaces],
        "tool": sorted({tool for tool, _ in listed}),
        "agent": sorted({agent for _, agent in listed if agent}),
    }


def _within(viewer: Viewer) -> ProposalQuerySet:
    return Proposal.objects.within([workspace.id for workspace in viewer.workspaces])


def _over(rows: ProposalQuerySet, now: datetime) -> ProposalQuerySet:
    """What is decided or over, also what ran out of time before a sweeper met it."""
    ended = Q(status__in=OVER) | Q(
        status__in=(Status.PENDING, Status.CHANGES_REQUESTED, Status.APPROVED), expires_at__lte=now
    )
    ended_at = Coalesce(F("decided_at"), F("expires_at"), F("created_at"))
    # The last condition says nothing new, and lets the index begin where the first row is.
    return rows.filter(ended).annotate(ended_at=ended_at).filter(ended_at__lte=now)


def _of_unknown_outcome(rows: ProposalQuerySet, now: datetime) -> ProposalQuerySet:
    """What was let run and nobody has said how it ended, also before the worker noted the silence."""
    silent = Q(status=Status.RUNNING, permit__issued_at__lte=now - REPORT_WITHIN)
    # The first condition says nothing new, and lets an index find the few rows that can be meant.
    unknown = rows.filter(status__in=(Status.UNKNOWN, Status.RUNNING)).filter(
        Q(status=Status.UNKNOWN) | silent
    )
    return unknown.annotate(ended_at=Coalesce(F("decided_at"), F("created_at")))
