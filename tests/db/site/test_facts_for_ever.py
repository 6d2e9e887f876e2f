"""What was decided stays as it was decided: no row of these tables changes or goes, whoever sends the SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import IntegrityError, connection, transaction

from memory.models import Tombstone
from review.audit import guards
from review.services.issue_permit import redeem
from tests.support import factories
from tests.support.memory_acts import doubtful, reject
from tests.support.review_acts import call, mail, vote
from tests.support.tampering import guards_down

pytestmark = pytest.mark.django_db

PROMISED = {
    "review_policyversion": (),
    "review_revision": (),
    "review_conflict": (),
    "review_decision": (),
    "review_permit": ("spent_at", "reported_at", "voided_at"),
    "memory_tombstone": ("lifted_at",),
}
EMPTIED = {"review_revision": ("arguments", "rationale", "evidence"), "review_decision": ("reason",)}
"""What somebody wrote, which an erasure may empty; nobody may write anything else there."""


@pytest.fixture(autouse=True)
def story() -> None:
    """A mail that waits, a call that was redeemed, a value that was rejected for good."""
    cast = factories.team()
    mail(cast.scout)
    approved = call(cast.scout)
    vote(cast.alice, approved)
    redeem(approved.id, by=cast.scout, arguments={"order": "20817"}, key="once")
    reject(doubtful(cast.scout, "The vault opens at noon."), cast.alice, tombstone=True)


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def refused(statement: str) -> bool:
    """Whether a guard refuses `statement`; it is undone in either case."""
    try:
        with transaction.atomic():
            sql(statement)
            transaction.set_rollback(True)
    except IntegrityError as error:
        sentence = str(error)
    else:
        return False
    assert "is append-only" in sentence or "takes no such row" in sentence, sentence
    return True


def columns(table: str) -> list[str]:
    with connection.cursor() as cursor:
        return [column.name for column in connection.introspection.get_table_description(cursor, table)]


def key(table: str) -> str:
    with connection.cursor() as cursor:
        return str(connection.introspection.get_primary_key_column(cursor, table))


@contextmanager
def recursive_triggers(setting: str) -> Iterator[None]:
    sql(f"PRAGMA recursive_triggers={setting}")
    yield
    sql("PRAGMA recursive_triggers=ON")


def test_these_and_the_log_are_what_was_promised() -> None:
    promised = {promise.table: promise.updatable for promise in guards.promises()}
    assert {table: promised[table] for table in PROMISED} == {
        table: (*columns, *EMPTIED.get(table, ())) for table, columns in PROMISED.items()
    }


def changed(table: str, column: str) -> str:
    """An update that would empty the column, count up the one key that is a number, or name an author."""
    others = {
        ("review_conflict", "id"): '"id" + 1',
        ("review_revision", "author_person_id"): "(SELECT id FROM access_person LIMIT 1)",
    }
    value = others.get((table, column), "NULL")
    return f'UPDATE {table} SET "{column}" = {value}'


@pytest.mark.parametrize("table", PROMISED)
def test_no_column_changes_but_those_that_are_filled_in_later(table: str) -> None:
    for column in set(columns(table)) - set(PROMISED[table]):
        assert refused(changed(table, column)), column
    for column in PROMISED[table]:
        assert not refused(f'UPDATE {table} SET "{column}" = CURRENT_TIMESTAMP'), column


@pytest.mark.parametrize("table", EMPTIED)
def test_what_somebody_wrote_can_be_emptied_but_not_changed(table: str) -> None:
    for column in EMPTIED[table]:
        empty = {"arguments": "{}", "evidence": "[]"}.get(column, "")
        assert not refused(f"""UPDATE {table} SET "{column}" = '{empty}'"""), column
        assert refused(f"""UPDATE {table} SET "{column}" = '["other"]'"""), column


def test_no_row_goes() -> None:
    for table in PROMISED:
        assert refused(f"DELETE FROM {table}"), table
    with guards_down():
        for table in PROMISED:
            assert not refused(f"UPDATE {table} SET {key(table)} = {key(table)}"), table
            assert not refused(f"DELETE FROM {table}"), table


@pytest.mark.parametrize("column", PROMISED["review_permit"])
def test_what_happens_to_a_permit_happens_once(column: str) -> None:
    sql(f"UPDATE review_permit SET {column} = '2026-11-30T10:00:00Z'")
    assert refused(f"UPDATE review_permit SET {column} = '2026-11-30T11:00:00Z'")
    assert refused(f"UPDATE review_permit SET {column} = NULL")


@pytest.mark.parametrize("setting", ["ON", "OFF"])
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL has no REPLACE.")
def test_no_row_is_replaced_whatever_triggers_are_set_to(setting: str) -> None:
    with recursive_triggers(setting):
        for table in PROMISED:
            assert refused(f"REPLACE INTO {table} SELECT * FROM {table}"), table
            assert refused(f"DELETE FROM {table}"), table
    with guards_down():
        assert not refused("REPLACE INTO memory_tombstone SELECT * FROM memory_tombstone")


@pytest.mark.parametrize("setting", ["ON", "OFF"])
@pytest.mark.parametrize(
    ("table", "other"),
    [("memory_tombstone", "id"), ("review_decision", "id, nonce"), ("review_revision", "id")],
)
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL has no REPLACE.")
def test_no_row_is_replaced_by_a_key_that_only_some_rows_have(table: str, other: str, setting: str) -> None:
    new = ["lower(hex(randomblob(16)))" if c in other.split(", ") else f'"{c}"' for c in columns(table)]
    with recursive_triggers(setting):
        assert refused(f"REPLACE INTO {table} SELECT {', '.join(new)} FROM {table}")


def test_a_value_that_was_lifted_can_be_rejected_again() -> None:
    sql("UPDATE memory_tombstone SET lifted_at = CURRENT_TIMESTAMP")
    old = Tombstone.objects.get()
    Tombstone.objects.create(
        workspace=old.workspace,
        value_key=old.value_key,
        value_key_id=old.value_key_id,
        person=old.person,
        created_at=old.created_at,
    )
    assert refused("UPDATE memory_tombstone SET lifted_at = NULL")


def test_no_row_is_changed_by_an_insert_that_meets_it() -> None:
    for table in PROMISED:
        kept = next(c for c in columns(table) if c != key(table) and c not in PROMISED[table])
        upsert = (
            f"INSERT INTO {table} SELECT * FROM {table} WHERE true"
            f' ON CONFLICT ({key(table)}) DO UPDATE SET "{kept}" = NULL'
        )
        assert refused(upsert), table


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no TRUNCATE and no replicas.")
def test_no_session_setting_lets_a_row_go() -> None:
    connection.check_constraints()  # what is still to be checked would refuse TRUNCATE before any guard
    for setting in ("DEFAULT", "replica"):  # replicas skip ordinary triggers
        sql(f"SET session_replication_role = {setting}")
        for table in PROMISED:
            assert refused(f"TRUNCATE {table} CASCADE"), table
            assert refused(f"DELETE FROM {table}"), table
            assert refused(changed(table, key(table))), table
    sql("SET session_replication_role = DEFAULT")
