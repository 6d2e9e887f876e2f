"""Which proposals an approval by somebody would count for: independence as a question to the database.

`decide` asks the rule itself again; this only spares people rows that they could not decide.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from review.access.models import Membership, Ownership, Person, User
from review.access.roles import Role
from review.audit.statements import prepared
from review.domain.binding import Kind
from review.domain.decision import Verdict
from review.models import Conflict, Decision
from review.queries.identity import Identities, identities

NEVER = datetime.max.replace(tzinfo=UTC)
BY_ROLE = {
    Role.MANAGER: (Kind.POLICY_CHANGE,),
    Role.REVIEWER: tuple(kind for kind in Kind if kind is not Kind.POLICY_CHANGE),
}


class Right(NamedTuple):
    """A role in force: it counts for `kinds` that came after `since`, unless one of `apart` is in conflict.

    Apart from a proposal must be he himself, who gave him the role, and who vouched for his account.
    """

    workspace: UUID
    kinds: tuple[Kind, ...]
    since: datetime
    apart: tuple[UUID, ...]


class Voter(NamedTuple):
    """Every id under which somebody stands in the tables, and what his roles let him decide."""

    himself: tuple[UUID, ...]
    rights: tuple[Right, ...]

    def values(self, workspace: UUID | None = None) -> list[Any]:
        """Return what a prepared statement needs to ask `approval_counts`: in one workspace, or in all.

        A role may have been lost since his workspaces were read; in its place stands one that never counts.
        """
        rights = [right for right in self.rights if workspace in (None, right.workspace)]
        none = Right(workspace or self.himself[0], BY_ROLE[Role.MANAGER], NEVER, self.himself)
        return [self.himself, *(value for right in rights or [none] for value in right)]


def voter(person: Person, now: datetime) -> Voter:
    """Return what `person` may decide at `now`, in three queries."""
    known = identities()
    himself = tuple(known.all_of(person.id))
    vouched = set(_vouchers(himself))
    rights = (_right(held, himself, vouched, known) for held in _memberships(himself, now))
    return Voter(himself, tuple(rights))


def approval_counts(now: datetime, himself: tuple[UUID, ...], *rights: Any) -> Q:
    """The condition that an approval would count; `himself` and `rights` are the values of a voter."""
    entitled = Q(pk__in=[])
    for right in map(Right, *[iter(rights)] * len(Right._fields)):
        mine = Q(workspace_id=right.workspace, kind__in=right.kinds, submitted_at__gt=right.since)
        entitled |= mine & ~_in_conflict(right.apart, now)
    return entitled & ~_approved_by(himself)


def decidable_by(person: Person, now: datetime) -> Q:
    """The condition that an approval by `person` would count."""
    return approval_counts(now, *voter(person, now).values())


def _right(held: Membership, himself: tuple[UUID, ...], vouched: set[UUID], known: Identities) -> Right:
    """What a role lets him decide; one that he granted himself never begins to count."""
    granted_by = {held.granted_by_id} if held.granted_by_id else set()
    others = [known.all_of(other) for other in granted_by | vouched]
    since = NEVER if granted_by & set(himself) else held.since
    apart = dict.fromkeys((*himself, *(one for ids in others for one in ids)))
    return Right(held.workspace_id, BY_ROLE[Role(held.role)], since, tuple(apart))


@prepared
def _vouchers(people: tuple[UUID, ...]) -> QuerySet[User, UUID]:
    accounts = User.objects.filter(person__in=people, is_active=True, vouched_by__isnull=False)
    return accounts.values_list("vouched_by", flat=True)


@prepared
def _memberships(people: tuple[UUID, ...], now: datetime) -> QuerySet[Membership]:
    return Membership.objects.active(now).filter(person__in=people)


def _in_conflict(people: tuple[UUID, ...], now: datetime) -> Q:
    running = Q(since__lte=now) & (Q(until__isnull=True) | Q(until__gt=now))
    owns = Ownership.objects.filter(running, agent=OuterRef("agent"), person__in=people)
    stored = Conflict.objects.filter(proposal=OuterRef("pk"), person__in=people)
    return Q(Exists(stored)) | Q(Exists(owns))


def _approved_by(himself: tuple[UUID, ...]) -> Q:
    approvals = Decision.objects.filter(
        proposal=OuterRef("pk"),
        binding=OuterRef("binding"),
        person__in=himself,
        verdict=Verdict.APPROVE,
    )
    return Q(Exists(approvals))
