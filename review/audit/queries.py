"""The one reader of the log for pages and exports. Whose entries are shown is always an argument."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from review.audit.actions import ACCOUNT, Action
from review.audit.chain import stamp
from review.audit.models import Entry, Head, PrivateText


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
    """What a reader asked for; None is anything. `since` is included, `until` is not; both with a zone."""

    since: datetime | None = None
    until: datetime | None = None
    person: UUID | None = None
    agent: UUID | None = None
    action: Action | None = None
    tool: str | None = None
    proposal: UUID | None = None

    def condition(self) -> Q:
        """The filters as one condition."""
        wanted = {
            "stamp__gte": self.since and stamp(self.since),
            "stamp__lt": self.until and stamp(self.until),
            "person": _text(self.person),
            "agent": _text(self.agent),
            "action": self.action,
            "tool": self.tool,
            "proposal": _text(self.proposal),
        }
        return Q(**{name: value for name, value in wanted.items() if value is not None})


EVERYTHING = Filters()


def page(
    scope: Scope, filters: Filters = EVERYTHING, *, before: int | None = None, limit: int = 50
) -> list[Entry]:
    """At most `limit` entries, newest first, below entry `before`. The next page is below the last of these."""
    wanted = filters.condition() & (Q() if before is None else Q(seq__lt=before))
    parts = (Entry.objects.filter(part & wanted).order_by("-seq")[:limit] for part in scope.parts())
    return list(islice(merge(*parts, key=lambda entry: -entry.seq), limit))


def count(scope: Scope, filters: Filters = EVERYTHING) -> int:
    """How many entries `page` would give in all."""
    return sum(Entry.objects.filter(part & filters.condition()).count() for part in scope.parts())


def entry(scope: Scope, seq: int) -> Entry | None:
    """Entry `seq` where the scope holds it; a foreign one is like one that does not exist."""
    return _first(Entry.objects.filter(part, seq=seq) for part in scope.parts())


def _first(querysets: Iterable[QuerySet[Entry]]) -> Entry | None:
    return next((found for queryset in querysets for found in queryset), None)


def history(workspace: UUID, *, proposal: UUID | None = None, object_id: UUID | None = None) -> list[Entry]:
    """Everything that happened to one proposal, or one other object, of `workspace`, oldest first."""
    of = Q(proposal=str(proposal)) if proposal else Q(object_id=str(object_id))
    return list(Entry.objects.filter(of, workspace=str(workspace)).order_by("seq"))


def private_texts(entry: Entry) -> dict[str, str | None]:
    """What people wrote for this entry, by name; None where it was erased."""
    return dict(PrivateText.objects.filter(seq=entry.seq).values_list("name", "text"))


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
