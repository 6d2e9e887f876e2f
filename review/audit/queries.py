"""The one reader of the log for pages and exports. Whose entries are shown is always an argument."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import reduce
from heapq import merge
from itertools import islice
from operator import or_
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from review.audit.actions import ACCOUNT, SAYING, TELLING, Action, Ending
from review.audit.chain import stamp
from review.audit.models import Entry, Head, PrivateText
from review.audit.statements import prepared
from review.audit.tallies import bounds, span


@dataclass(frozen=True)
class Scope:
    """What one manager may see: the entries of his workspaces, and his members' about their own accounts."""

    workspaces: tuple[UUID, ...]
    members: tuple[UUID, ...] = ()

    def parts(self) -> list[Q]:
        """The scope as conditions that each follow one index, newest first; no entry is in two."""
        parts = [Q(workspace=str(workspace)) for workspace in self.workspaces]
        if self.members:
            members = [str(person) for person in self.members]
            parts.append(Q(workspace=None, action__in=ACCOUNT, person__in=members))
        return parts


@dataclass(frozen=True)
class Filters:
    """What a reader asked for; None is anything. `since` is included, `until` is not; both with a zone.

    `about` is the id of whatever was acted on, a record for example; `ending` how something ended.
    """

    since: datetime | None = None
    until: datetime | None = None
    person: UUID | None = None
    agent: UUID | None = None
    action: Action | None = None
    tool: str | None = None
    proposal: UUID | None = None
    about: UUID | None = None
    ending: Ending | None = None

    def condition(self) -> Q:
        """The filters as one condition."""
        ended = reduce(or_, self.endings())
        return self._placed() & ended

    def parts(self) -> Iterator[Q]:
        """The filters as conditions that each ask for one action at most; no entry fits two.

        The time is a range of entries in them, since what is far back is found by its place.
        """
        here = Q(**bounds(span(self.since, self.until)))
        timeless = replace(self, since=None, until=None)
        for ended in self.endings():
            yield here & timeless._placed() & ended

    def endings(self) -> list[Q]:
        """The actions that tell of `ending`, one condition each; one that asks nothing where any will do."""
        if self.ending is None:
            return [Q()]
        said = rf'"after":\{{[^{{}}]*"status":"{self.ending.value}"'
        return [
            Q(action=action, canonical__regex=said) if action in SAYING else Q(action=action)
            for action in TELLING[self.ending]
        ]

    def _placed(self) -> Q:
        wanted = {
            "stamp__gte": self.since and stamp(self.since),
            "stamp__lt": self.until and stamp(self.until),
            "person": _text(self.person),
            "agent": _text(self.agent),
            "action": self.action,
            "tool": self.tool,
            "proposal": _text(self.proposal),
            "object_id": _text(self.about),
        }
        return Q(**{name: value for name, value in wanted.items() if value is not None})


EVERYTHING = Filters()


def page(
    scope: Scope, filters: Filters = EVERYTHING, *, before: int | None = None, limit: int = 50
) -> list[Entry]:
    """At most `limit` entries, newest first, below entry `before`. The next page is below the last of these."""
    below = Q() if before is None else Q(seq__lt=before)
    parts = (rows.filter(below).order_by("-seq")[:limit] for rows in _parts(scope, filters))
    return list(islice(merge(*parts, key=lambda entry: -entry.seq), limit))


def count(scope: Scope, filters: Filters = EVERYTHING) -> int:
    """How many entries `page` would give in all."""
    return sum(rows.count() for rows in _parts(scope, filters))


def _parts(scope: Scope, filters: Filters) -> Iterator[QuerySet[Entry]]:
    """Yield what the reader may see and asked for, in parts that each follow one index."""
    for wanted in list(filters.parts()):
        yield from (Entry.objects.filter(part & wanted) for part in scope.parts())


def entry(scope: Scope, seq: int) -> Entry | None:
    """Entry `seq` where the scope holds it; a foreign one is like one that does not exist."""
    return _first(Entry.objects.filter(part, seq=seq) for part in scope.parts())


def _first(querysets: Iterable[QuerySet[Entry]]) -> Entry | None:
    return next((found for queryset in querysets for found in queryset), None)


def history(workspace: UUID, *, proposal: UUID | None = None, object_id: UUID | None = None) -> list[Entry]:
    """Everything that happened to one proposal, or one other object, of `workspace`, oldest first."""
    if proposal:
        return _about_proposal(str(workspace), str(proposal))
    return list(Entry.objects.filter(object_id=str(object_id), workspace=str(workspace)).order_by("seq"))


@prepared
def _about_proposal(workspace: str, proposal: str) -> QuerySet[Entry]:
    return Entry.objects.filter(proposal=proposal, workspace=workspace).order_by("seq")


def private_texts(entries: Iterable[int]) -> dict[int, dict[str, str | None]]:
    """What people wrote for each of these entries, by name; None where it was erased."""
    written: dict[int, dict[str, str | None]] = {seq: {} for seq in entries}
    for seq, name, text in PrivateText.objects.filter(seq__in=written).values_list("seq", "name", "text"):
        written[seq][name] = text
    return written


def recorded_recently(
    action: Action, *, person: UUID, session: str, within: timedelta = timedelta(hours=1)
) -> bool:
    """Whether this person's session has such an entry already: opening `/audit/` is one an hour."""
    recent = Entry.objects.filter(action=action, person=str(person), stamp__gt=stamp(timezone.now() - within))
    return any(f'"session":"{session}"' in text for text in recent.values_list("canonical", flat=True))


def size() -> int:
    """How many entries the log has."""
    return Head.objects.values_list("size", flat=True).first() or 0


def without_entry(ids: Iterable[UUID], *, actions: Iterable[Action]) -> Iterator[UUID | None]:
    """For each id None where an entry with one of `actions` is about that object, else the id: for replays."""
    wanted = [action.value for action in actions]
    rest = iter(ids)
    while some := list(islice(rest, 500)):
        about = Entry.objects.filter(object_id__in=[str(id_) for id_ in some], action__in=wanted)
        found = set(about.values_list("object_id", flat=True))
        yield from (None if str(id_) in found else id_ for id_ in some)


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)
