"""The lists of proposals that a person sees: what needs him, what waits for others, what is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, OuterRef, Q
from django.db.models.functions import Coalesce

from review.access.models import Membership, Ownership, Person, User
from review.access.queries import workspaces_of
from review.access.roles import Role
from review.domain.binding import Kind
from review.domain.decision import Verdict
from review.domain.status import REPORT_WITHIN, Status
from review.models import Conflict, Decision, Look, Proposal, ProposalQuerySet
from review.queries.identity import Identities, identities
from review.queries.paging import Keyset, Page

PAGE = 50
COUNTED = 500  # how many rows a number beside a view, or the choices of a filter, look at


class View(StrEnum):
    MINE = "mine"
    OTHERS = "others"
    RETURNED = "returned"
    UNRUN = "unrun"
    UNKNOWN = "unknown"
    DECIDED = "decided"


WAITING = (View.MINE, View.OTHERS, View.RETURNED, View.UNRUN)
OVER = (
    *(Status.EXECUTED, Status.REJECTED, Status.WITHDRAWN, Status.EXPIRED),
    *(Status.RUNNING, Status.SUCCEEDED, Status.FAILED, Status.UNKNOWN),
)
BY_RISK_AND_TIME = Keyset("huqan.queue", (("-risk_rank", "int"), ("expires_at", "time"), ("id", "id")))
BY_END = Keyset("huqan.decided", (("-ended_at", "time"), ("-id", "id")))


@dataclass(frozen=True)
class Filters:
    """What the address asks for; empty means any. `search` looks into summary, agent and run."""

    workspace: str = ""
    risk: str = ""
    tool: str = ""
    agent: str = ""
    search: str = ""

    def scope(self) -> list[str]:
        return [self.workspace, self.risk, self.tool, self.agent, self.search]


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


def page(person: Person, view: View, filters: Filters, cursor: str | None, now: datetime) -> Page[Proposal]:
    """Return a page of `view` as `person` sees it.

    Raises: BadCursor.
    """
    rows = matching(in_view(person, view, now), filters).select_related("workspace", "agent")
    scope = [view, str(person.id), *filters.scope()]
    return _order(view).page(*_by_workspace(rows, person, now), cursor=cursor, size=PAGE, scope=scope)


def _order(view: View) -> Keyset:
    return BY_RISK_AND_TIME if view in WAITING else BY_END


def _by_workspace(rows: ProposalQuerySet, person: Person, now: datetime) -> list[ProposalQuerySet]:
    """Split `rows`, so that each part can be read in the order of an index."""
    return [rows.filter(workspace_id=workspace.id) for workspace in workspaces_of(person.id, now)]


def in_view(person: Person, view: View, now: datetime) -> ProposalQuerySet:
    """Return the proposals of `view` in every workspace where `person` has a role."""
    rows = _within(person, now)
    match view:
        case View.MINE:
            return rows.filter(status=Status.PENDING).live(now).filter(decidable_by(person, now))
        case View.OTHERS:
            return rows.filter(status=Status.PENDING).live(now).exclude(decidable_by(person, now))
        case View.RETURNED:
            return rows.filter(status=Status.CHANGES_REQUESTED).live(now)
        case View.UNRUN:
            return rows.filter(status=Status.APPROVED).live(now)
        case View.UNKNOWN:
            return _of_unknown_outcome(rows, now)
        case View.DECIDED:
            return _over(rows, now)


def held(person: Person, now: datetime) -> ProposalQuerySet:
    return _within(person, now).filter(status=Status.QUARANTINED)


def decidable_by(person: Person, now: datetime) -> Q:
    """The condition under which an approval by `person` would count: independence as a question to the database.

    `decide` asks the rule itself again; this only spares him rows that he could not decide.
    """
    known = identities()
    himself = known.all_of(person.id)
    return _entitled(himself, known, now) & ~_in_conflict(himself, now) & ~_approved_by(himself)


def matching(rows: ProposalQuerySet, filters: Filters) -> ProposalQuerySet:
    """Return `rows` that `filters` lets through."""
    exact = {
        "workspace__name": filters.workspace,
        "risk": filters.risk,
        "tool": filters.tool,
        "agent__name": filters.agent,
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


def counts(person: Person, now: datetime) -> Counts:
    """Return the numbers that stand beside the views."""
    mine, others = _pending(person, now)
    return Counts(
        mine=mine,
        others=others,
        returned=_counted(in_view(person, View.RETURNED, now)),
        unrun=_counted(in_view(person, View.UNRUN, now)),
        unknown=_counted(in_view(person, View.UNKNOWN, now)),
    )


def decidable(person: Person, now: datetime) -> Counted:
    """Return how many pending proposals `person` can decide."""
    return _pending(person, now)[0]


def releasable(person: Person, now: datetime) -> Counted:
    """Return how many held proposals `person` can decide."""
    return _counted(held(person, now).filter(decidable_by(person, now)))


def _pending(person: Person, now: datetime) -> tuple[Counted, Counted]:
    """What is pending, as what `person` can decide and what waits for others: of the first COUNTED rows."""
    pending = _within(person, now).filter(status=Status.PENDING).live(now)
    is_mine = ExpressionWrapper(decidable_by(person, now), output_field=BooleanField())
    first = list(pending.annotate(is_mine=is_mine).order_by()[:COUNTED].values_list("is_mine", flat=True))
    mine, more = sum(first), len(first) == COUNTED
    return Counted(mine, more), Counted(len(first) - mine, more)


def _counted(rows: ProposalQuerySet) -> Counted:
    found = rows.order_by()[:COUNTED].count()
    return Counted(found, found == COUNTED)


def looked_at(person: Person, proposals: Sequence[Proposal]) -> dict[UUID, Look]:
    """Return `person`'s newest look at each of `proposals`."""
    looks = Look.objects.filter(person=person, proposal__in=proposals).order_by("revision")
    return {look.proposal_id: look for look in looks}


def choices(person: Person, view: View, now: datetime) -> dict[str, list[str]]:
    """Return the values that the filters of a view offer; tools and agents are those of its first COUNTED rows."""
    names = [name for name, _ in _order(view).keys]
    parts = _by_workspace(in_view(person, view, now), person, now)
    first = [
        row for part in parts for row in part.order_by(*names)[:COUNTED].values_list("tool", "agent__name")
    ]
    return {
        "workspace": [workspace.name for workspace in workspaces_of(person.id, now)],
        "tool": sorted({tool for tool, _ in first}),
        "agent": sorted({agent for _, agent in first if agent}),
    }


def _within(person: Person, now: datetime) -> ProposalQuerySet:
    return Proposal.objects.within([workspace.id for workspace in workspaces_of(person.id, now)])


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
    unknown = rows.filter(Q(status=Status.UNKNOWN) | silent)
    return unknown.annotate(ended_at=Coalesce(F("decided_at"), F("created_at")))


def _entitled(himself: list[UUID], known: Identities, now: datetime) -> Q:
    """A role older than the arguments, granted and vouched for by nobody who is in conflict with them."""
    entitled = Q(pk__in=[])
    accounts = User.objects.filter(person__in=himself, is_active=True, vouched_by__isnull=False)
    vouchers = set(accounts.values_list("vouched_by", flat=True))
    for membership in Membership.objects.active(now).filter(person__in=himself):
        policy = Q(kind=Kind.POLICY_CHANGE)
        right = policy if membership.role == Role.MANAGER else ~policy
        mine = right & Q(workspace_id=membership.workspace_id, submitted_at__gt=membership.since)
        granted_by = {membership.granted_by_id} if membership.granted_by_id else set()
        if granted_by & set(himself):
            continue
        for other in granted_by | vouchers:
            mine &= ~_in_conflict(known.all_of(other), now)
        entitled |= mine
    return entitled


def _in_conflict(himself: list[UUID], now: datetime) -> Q:
    running = Q(since__lte=now) & (Q(until__isnull=True) | Q(until__gt=now))
    owns = Ownership.objects.filter(running, agent=OuterRef("agent"), person__in=himself)
    stored = Conflict.objects.filter(proposal=OuterRef("pk"), person__in=himself)
    return Q(Exists(stored)) | Q(Exists(owns))


def _approved_by(himself: list[UUID]) -> Q:
    approvals = Decision.objects.filter(
        proposal=OuterRef("pk"),
        binding=OuterRef("binding"),
        person__in=himself,
        verdict=Verdict.APPROVE,
    )
    return Q(Exists(approvals))
