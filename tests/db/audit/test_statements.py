"""Prepared statements give what the ORM gives, whatever the values."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.db import DEFAULT_DB_ALIAS, IntegrityError, connections
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from review.access.models import Person, Workspace
from review.audit.statements import insert, prepared

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
pytestmark = pytest.mark.django_db


@prepared
def made_since(people: tuple[UUID, ...], since: datetime, name: str) -> QuerySet[Person]:
    rows = Person.objects.filter(pk__in=people, created_at__gte=since, disabled_at__isnull=True)
    return rows.exclude(name=name).order_by("created_at")


def people(*names: str) -> list[Person]:
    made = [Person(name=name, created_at=NOON + timedelta(hours=place)) for place, name in enumerate(names)]
    insert(*made)
    return made


def test_the_same_statement_serves_other_values() -> None:
    ada, bea, cleo = people("Ada", "Bea", "Cleo")
    assert made_since((ada.id, bea.id), NOON, "Ada") == [bea]
    assert made_since((ada.id, cleo.id), NOON, "nobody's") == [ada, cleo]
    assert made_since((ada.id, cleo.id), NOON + timedelta(minutes=1), "nobody's") == [cleo]


def test_as_many_values_as_are_asked_for() -> None:
    everyone = people("Ada", "Bea", "Cleo", "Dora")
    for count in range(5):
        asked = tuple(person.id for person in everyone[:count])
        assert made_since(asked, NOON, "nobody's") == everyone[:count]


def test_rows_come_as_the_orm_reads_them() -> None:
    [ada] = people("Ada")
    [read] = made_since((ada.id,), NOON, "nobody's")
    assert (read.id, read.name, read.created_at) == (ada.id, "Ada", NOON)
    assert not read._state.adding


def test_a_thread_whose_connection_was_replaced_asks_the_new_one() -> None:
    made_since((uuid4(),), NOON, "nobody's")  # prepared on the old one
    old = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = new = old.copy()
    try:
        with closing(new), CaptureQueriesContext(new) as asked:
            made_since((uuid4(),), NOON, "nobody's")
    finally:
        connections[DEFAULT_DB_ALIAS] = old
    assert len(asked) == 1


def test_a_value_that_is_sent_as_another_is_told_at_once() -> None:
    @prepared
    def like(name: str) -> QuerySet[Person]:
        return Person.objects.filter(name__icontains=name)

    with pytest.raises(RuntimeError, match="like"):
        like("a")


def test_a_row_that_conflicts_is_not_inserted() -> None:
    place = Workspace(name="acme", created_at=NOON)
    insert(place)
    again = Workspace(id=place.id, name=f"acme-{uuid4().hex[:6]}", created_at=NOON)
    with pytest.raises(IntegrityError):
        insert(again)
