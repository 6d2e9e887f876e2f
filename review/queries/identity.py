"""Two accounts, or two entries made for one human being, are one person to every rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from review.access.models import Person
from review.audit.statements import prepared
from review.domain.independence import Reason, union


@dataclass(frozen=True)
class Identities:
    """Who turned out to be whom, by id. Everybody else is himself."""

    doubles: Mapping[UUID, UUID]

    def one(self, person: UUID) -> UUID:
        """Return the one id that counts for this human being."""
        return self.doubles.get(person, person)

    def all_of(self, person: UUID) -> list[UUID]:
        """Return every id under which this human being stands in the tables."""
        himself = self.one(person)
        return [himself, *(double for double, same in self.doubles.items() if same == himself)]

    def folded(self, conflicts: Mapping[UUID, Reason]) -> dict[UUID, Reason]:
        """Return `conflicts` with each human being once, under the plainest of his reasons."""
        return union(*({self.one(person): reason} for person, reason in conflicts.items()))


def identities() -> Identities:
    """Return who turned out to be whom so far, in one query."""
    return Identities({double: same for double, same in _doubles() if same})


@prepared
def _doubles() -> QuerySet[Person, tuple[UUID, UUID | None]]:
    return Person.objects.filter(same_as__isnull=False).values_list("id", "same_as")
