"""The lists of what is or was in quarantine, as a person sees them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, When
from django.db.models.functions import Coalesce

from memory.models import Lifecycle, MemoryRecord, RecordQuerySet, Trust
from review.access.models import Person
from review.access.queries import workspaces_of
from review.domain.refusals import NotFound
from review.domain.status import Status
from review.models import Proposal, Revision
from review.queries.decidable import decidable_by
from review.queries.paging import Keyset, Page

PAGE = 50


class View(StrEnum):
    HELD = "held"
    RELEASED = "released"
    DISCARDED = "discarded"


ORDERS = {
    View.HELD: Keyset("huqan.memory.held", (("others", "int"), ("since", "time"), ("id", "id"))),
    View.RELEASED: Keyset("huqan.memory.released", (("-let_out_at", "time"), ("-id", "id"))),
    View.DISCARDED: Keyset("huqan.memory.discarded", (("-retired_at", "time"), ("-id", "id"))),
}


@dataclass(frozen=True)
class Filters:
    """What the address asks for; empty means any. `search` looks into the held text."""

    workspace: str = ""
    reason: str = ""
    source: str = ""
    agent: str = ""
    search: str = ""

    def scope(self) -> list[str]:
        return [self.workspace, self.reason, self.source, self.agent, self.search]


REASONS = (
    *("credential", "untrusted_source", "model_instructions", "hidden_characters", "look_alike"),
    "set_aside",
)
"""The signals that hold a text."""
SINCE = Coalesce("held_by__created_at", "recorded_at")
UNDER = [f"{name}__{of}" for name in ("proposal", "held_by") for of in ("workspace", "agent")]
LONGEST_WALK = 500  # held records among which a place is counted


class Place(NamedTuple):
    """Where something held stands in the list of a person, from 1, and the proposals before and after it."""

    number: int
    of: int
    previous: UUID | None
    following: UUID | None


def page(
    person: Person, view: View, filters: Filters, cursor: str | None, now: datetime
) -> Page[MemoryRecord]:
    """Return a page of `view` where `person` has a role; what is held, his own first, then the longest held.

    Raises: BadCursor.
    """
    rows = matching(in_view(person, view, now), filters)
    rows = rows.select_related("workspace", "agent", *UNDER)
    rows = rows.annotate(since=SINCE, let_out_at=Coalesce("held_by__decided_at", "trusted_at"))
    return ORDERS[view].page(
        rows.annotate(others=_others(person, now)),
        cursor=cursor,
        size=PAGE,
        scope=[view, str(person.id), *filters.scope()],
    )


def place_of(proposal: UUID, person: Person, now: datetime) -> Place | None:
    """Return where what is held for `proposal` stands in the list of `person`; None far down, or once it is decided."""
    rows = in_view(person, View.HELD, now).annotate(others=_others(person, now))
    listed = list(rows.order_by("others", SINCE, "id").values_list("decided", flat=True)[:LONGEST_WALK])
    if proposal not in listed:
        return None
    at = listed.index(proposal)
    after = listed[at + 1 : at + 2]
    return Place(at + 1, len(listed), listed[at - 1] if at else None, after[0] if after else None)


def of_source(record: MemoryRecord) -> RecordQuerySet:
    """Return what is held of the source of `record`, the longest held first.

    One source is one reference of one kind; where none is given, what one agent brought of one kind.
    """
    source = record.provenance or {}
    rows = _still_held(MemoryRecord.objects.filter(workspace=record.workspace_id))
    rows = rows.filter(provenance__kind=source["kind"]) if source else rows.filter(provenance__isnull=True)
    same = (
        rows.filter(provenance__ref=source["ref"])
        if source.get("ref")
        else rows.filter(agent=record.agent_id)
    )
    return same.select_related("workspace", "agent", *UNDER).order_by(SINCE, "id")


def in_view(person: Person, view: View, now: datetime) -> RecordQuerySet:
    """Return the records of `view` in every workspace where `person` has a role.

    Each is `decided` under the proposal that brought it, or under the release of what a person set aside.
    """
    rows = _decided(
        MemoryRecord.objects.filter(
            workspace_id__in=[workspace.id for workspace in workspaces_of(person.id, now)]
        )
    )
    match view:
        case View.HELD:
            return _still_held(rows)
        case View.RELEASED:
            return rows.once_held().filter(trust=Trust.TRUSTED)
        case View.DISCARDED:
            return rows.filter(lifecycle=Lifecycle.DISCARDED)


def matching(rows: RecordQuerySet, filters: Filters) -> RecordQuerySet:
    """Return `rows` that `filters` lets through."""
    exact = {
        "workspace__name": filters.workspace,
        "provenance__kind": filters.source,
        "agent__name": filters.agent,
    }
    rows = rows.filter(**{column: value for column, value in exact.items() if value})
    if filters.reason:
        rows = rows.filter(_held_for(filters.reason))
    return rows.filter(content__icontains=filters.search) if filters.search else rows


def counts(person: Person, now: datetime) -> dict[View, int]:
    """Return how many records stand in each view."""
    return {view: in_view(person, view, now).count() for view in View}


def decidable(person: Person, now: datetime) -> int:
    """Return how many held records wait for this person."""
    return in_view(person, View.HELD, now).filter(_his(person, now)).count()


def choices(person: Person, view: View, now: datetime) -> dict[str, list[str]]:
    """Return the values that the filters of a view offer."""
    rows = in_view(person, view, now).order_by()
    kinds = rows.exclude(provenance=None).values_list("provenance__kind", flat=True).distinct()[:100]
    return {
        "workspace": [workspace.name for workspace in workspaces_of(person.id, now)],
        "source": sorted(kind for kind in kinds if isinstance(kind, str)),
        "agent": sorted(rows.exclude(agent=None).values_list("agent__name", flat=True).distinct()[:100]),
    }


def held_for(proposal: Proposal) -> MemoryRecord:
    """Return what is or was held for `proposal`, the latest if there were several; nothing once it is erased.

    Raises: NotFound.
    """
    for_it = Q(held_by=proposal) | Q(proposal=proposal, held_by__isnull=True)
    came_held = Q(proposal=proposal) & ~Q(trusted_at=F("recorded_at"), trusted_at__isnull=False)
    rows = MemoryRecord.objects.once_held().exclude(lifecycle=Lifecycle.ERASED)
    found = rows.filter(for_it | came_held).select_related("held_by").order_by("-id").first()
    if found is None:
        raise NotFound
    return found


def _decided(rows: RecordQuerySet) -> RecordQuerySet:
    return rows.annotate(decided=Coalesce("held_by", "proposal"))


def _still_held(rows: RecordQuerySet) -> RecordQuerySet:
    """Those of `rows` that wait for people to decide on the proposal they are held under."""
    still = Proposal.objects.filter(pk=OuterRef("decided"), status=Status.QUARANTINED)
    return _decided(rows).held().filter(Exists(still))


def _others(person: Person, now: datetime) -> Case:
    """SQL that puts a person's own first."""
    return Case(When(_his(person, now), then=0), default=1, output_field=IntegerField())


def _held_for(reason: str) -> Exists:
    """The condition that the gate gave this reason for the current revision of what is decided."""
    current = Revision.objects.filter(proposal=OuterRef("decided"), number=F("proposal__revision"))
    return Exists(current.filter(gate__signals__icontains=f'"{reason}"'))


def _his(person: Person, now: datetime) -> Exists:
    """The condition that an approval by `person` would count towards the release of a record."""
    return Exists(Proposal.objects.filter(decidable_by(person, now), pk=OuterRef("decided")))
