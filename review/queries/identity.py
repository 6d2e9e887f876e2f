"""Two accounts, or two entries made for one human being, are one person to every rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from django.db.models import Q

from review.access.models import Person
from review.domain.independence import Reason, union

OnePerson = Callable[[UUID], UUID]


def one_person() -> OnePerson:
    """Return what gives, for whoever turned out to be somebody else, that one; everybody else is himself."""
    rows = Person.objects.filter(same_as__isnull=False).values_list("id", "same_as")
    doubles: dict[UUID, UUID] = {double: same for double, same in rows if same}
    return lambda person: doubles.get(person, person)


def all_of(person: UUID) -> list[UUID]:
    """Return every id under which this human being stands in the tables."""
    known = Person.objects.filter(Q(pk=person) | Q(doubles=person)).values_list("pk", "same_as")
    survivors = {same_as or pk for pk, same_as in known}
    return list(
        Person.objects.filter(Q(pk__in=survivors) | Q(same_as__in=survivors)).values_list("pk", flat=True)
    ) or [person]


def folded(conflicts: Mapping[UUID, Reason], one: OnePerson) -> dict[UUID, Reason]:
    """Return `conflicts` with each human being once, under the plainest of his reasons."""
    return union(*({one(person): reason} for person, reason in conflicts.items()))
