"""A person gives an address of the queue a name, for himself alone. It changes no proposal, policy or right."""

from __future__ import annotations

from collections.abc import Callable, Collection
from urllib.parse import parse_qsl
from uuid import UUID

from django.utils import timezone

from review.access.actors import PersonActor
from review.access.models import Membership
from review.access.refusals import Mistyped
from review.audit.transaction import write
from review.domain.refusals import NotFound
from review.models import Proposal, SavedView

MOST = 20  # views of one person
LONGEST = 40  # characters of a name
ROOM = 1_200  # characters of an address
NOTHING_CHOSEN = "There is nothing to keep yet. Choose a filter, an order or groups first."
NAMELESS = "A view needs a name. Write one."
TOO_LONG = "A name takes 40 characters at most. Shorten it."
TOO_MANY = "You have 20 saved views, which is all there is room for. Remove one first."
TOO_MUCH = "These filters are too long to be kept. Search for less."


def save_view(name: str, query: str, *, by: PersonActor) -> SavedView:
    """Keep `query`, the part of an address after the question mark, under `name`; what the name meant is replaced.

    Raises: Mistyped.
    """
    name = " ".join(name.split())
    with write():
        own = SavedView.objects.filter(person=by.person)
        _check(name, query, others=own.exclude(name=name).count())
        kept = {"query": query, "created_at": timezone.now()}
        return SavedView.objects.update_or_create(person=by.person, name=name, defaults=kept)[0]


def remove_view(view: int, *, by: PersonActor) -> None:
    """Forget a view of `by`.

    Raises: NotFound, also where it is another's.
    """
    with write():
        removed, _ = SavedView.objects.filter(person=by.person, pk=view).delete()
        if not removed:
            raise NotFound


def forget_views(workspace: UUID, proposals: Collection[UUID], says_it: Callable[[str], bool]) -> int:
    """Within the caller's erasure: remove what people of `workspace` saved that says what is erased, or that leads
    to the run or the like of one of `proposals`; return how many views went."""
    people, named = Membership.objects.filter(workspace=workspace).values("person"), _names_of(proposals)
    views = SavedView.objects.filter(person__in=people)
    gone = [view.pk for view in views if named & _asked(view) or any(map(says_it, _words(view)))]
    return SavedView.objects.filter(pk__in=gone).delete()[0]


def _names_of(proposals: Collection[UUID]) -> set[tuple[str, str]]:
    rows = Proposal.objects.filter(pk__in=proposals).values_list("run_id", "same_key")
    return {pair for run, alike in rows for pair in (("run", run or ""), ("alike", alike or "")) if pair[1]}


def _asked(view: SavedView) -> set[tuple[str, str]]:
    return set(parse_qsl(view.query))


def _words(view: SavedView) -> list[str]:
    """What a view says, as it was typed: in an address, letters are percent-encoded."""
    return [view.name, *(value for _, value in _asked(view))]


def _check(name: str, query: str, others: int) -> None:
    if {asked for asked, _ in parse_qsl(query)} <= {"view"}:  # it stands beside the list without being saved
        raise Mistyped(NOTHING_CHOSEN)
    if not name:
        raise Mistyped(NAMELESS)
    if len(name) > LONGEST:
        raise Mistyped(TOO_LONG)
    if len(query) > ROOM:
        raise Mistyped(TOO_MUCH)
    if others >= MOST:
        raise Mistyped(TOO_MANY)
