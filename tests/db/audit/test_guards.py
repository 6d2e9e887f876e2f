"""What the database itself refuses to whoever sends it SQL, and what it allows."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import checks
from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction

from review.audit import guards
from review.audit.actions import Action
from review.audit.chain import GENESIS
from review.audit.models import Checkpoint, Entry, Head, PrivateText
from tests.db.audit.acts import did, sql
from tests.support.tampering import guards_down

pytestmark = pytest.mark.django_db

TABLES = ["audit_entry", "audit_head", "audit_private_text", "audit_checkpoint"]
COLUMNS = "seq, canonical, prev, leaf, subtrees, stamp, action"


def refused(statement: str, *values: Any) -> bool:
    """Whether the database refuses `statement`; it is undone in either case."""
    try:
        with transaction.atomic():
            sql(statement, *values)
            transaction.set_rollback(True)
    except IntegrityError:
        return True
    return False


def entry_values(seq: int, *, prev: str | None = None, leaf: str = "e" * 64) -> list[Any]:
    stored = Entry.objects.order_by("-seq").first()
    assert stored
    return [seq, "{}", stored.leaf if prev is None else prev, leaf, "", stored.stamp, "audit.read"]


def insert(seq: int, **other: Any) -> tuple[Any, ...]:
    marks = ", ".join(["%s"] * 7)
    return (f"INSERT INTO audit_entry ({COLUMNS}) VALUES ({marks})", *entry_values(seq, **other))


@pytest.fixture(autouse=True)
def some_entries(db: None) -> None:
    did()
    did(Action.DECISION_APPROVED, private={"reason": "Looks right."})


def test_an_entry_is_not_changed() -> None:
    assert refused("UPDATE audit_entry SET canonical = '{}' WHERE seq = 1")
    assert refused("UPDATE audit_entry SET workspace = NULL")
    with guards_down():
        assert not refused("UPDATE audit_entry SET canonical = '{}' WHERE seq = 1")


def test_an_entry_is_not_deleted() -> None:
    assert refused("DELETE FROM audit_entry WHERE seq = 2")
    assert refused("DELETE FROM audit_entry")
    with guards_down():
        assert not refused("DELETE FROM audit_entry WHERE seq = 2")


def test_an_entry_is_taken_in_its_place_only() -> None:
    assert not refused(*insert(3))
    assert refused(*insert(4))
    assert refused(*insert(9, prev=GENESIS))
    assert refused(*insert(0))
    assert refused(*insert(-1))
    with guards_down():
        assert not refused(*insert(4))


def test_an_entry_is_taken_only_where_it_continues_the_last() -> None:
    assert refused(*insert(3, prev=GENESIS))
    with guards_down():
        assert not refused(*insert(3, prev=GENESIS))


def test_an_entry_does_not_take_the_place_of_another() -> None:
    if connection.vendor == "sqlite":
        replace, *values = insert(2)
        assert refused(replace.replace("INSERT", "INSERT OR REPLACE"), *values)
        old = Entry.objects.get(seq=1)
        replace, *values = insert(3, leaf=old.leaf)
        assert refused(replace.replace("INSERT", "INSERT OR REPLACE"), *values)
    else:
        upsert, *values = insert(2)
        assert refused(f"{upsert} ON CONFLICT (seq) DO UPDATE SET canonical = '{{}}'", *values)
    assert Entry.objects.count() == 3


def test_replace_is_met_where_recursive_triggers_are_off() -> None:
    if connection.vendor != "sqlite":
        return  # PostgreSQL has no REPLACE
    statement, *values = insert(2)
    sql("PRAGMA recursive_triggers=OFF")
    assert refused(statement.replace("INSERT", "REPLACE"), *values)
    sql("PRAGMA recursive_triggers=ON")


@pytest.mark.parametrize("table", TABLES)
def test_no_table_of_the_log_is_emptied(table: str) -> None:
    if connection.vendor == "postgresql":
        assert refused(f"TRUNCATE {table}")
        sql("SET session_replication_role = replica")  # what skips ordinary triggers
        assert refused(f"DELETE FROM {table}")
        sql("SET session_replication_role = DEFAULT")
    assert refused(f"DELETE FROM {table}")


def test_copy_takes_no_entry_out_of_place() -> None:
    if connection.vendor != "postgresql":
        return  # only PostgreSQL has COPY
    for seq, taken in ((3, True), (4, False)):
        line = ",".join(str(value) for value in entry_values(seq))
        copied = refused(
            f"COPY audit_entry ({COLUMNS}) FROM PROGRAM 'echo {line}' WITH (FORMAT csv, NULL 'none')"
        )
        assert copied is not taken


def test_a_temporary_table_of_the_same_name_deceives_no_guard() -> None:
    if connection.vendor != "postgresql":
        return  # SQLite looks into the table that the trigger stands on
    forged, *values = insert(9, prev=GENESIS)
    sql("CREATE TEMP TABLE audit_entry (seq bigint, leaf text) ON COMMIT DROP")
    sql("INSERT INTO audit_entry VALUES (8, %s)", GENESIS)
    assert refused(forged.replace("INTO audit_entry", "INTO public.audit_entry"), *values)


def test_the_head_goes_forward_by_one() -> None:
    size = Head.objects.get().size
    assert refused("UPDATE audit_head SET size = size - 1")
    assert refused("UPDATE audit_head SET size = size + 2")
    assert refused("UPDATE audit_head SET size = size + 1, log = 'another'")
    assert not refused("UPDATE audit_head SET size = size + 1")
    assert refused(
        "INSERT INTO audit_head (id, log, size, leaf, frontier, time) VALUES (2, 'x', 0, '', '[]', '')"
    )
    assert Head.objects.get().size == size


def test_a_private_text_can_be_erased_and_nothing_else() -> None:
    assert not refused("UPDATE audit_private_text SET text = NULL, salt = NULL")
    assert refused("UPDATE audit_private_text SET text = 'Looks wrong.'")
    assert refused("UPDATE audit_private_text SET text = NULL, salt = NULL, seq = 1")
    assert refused("DELETE FROM audit_private_text")


def test_a_private_text_goes_with_its_salt() -> None:
    assert refused("UPDATE audit_private_text SET text = NULL")
    assert refused("UPDATE audit_private_text SET salt = NULL")


def test_what_was_erased_does_not_come_back() -> None:
    PrivateText.objects.update(text=None, salt=None)
    assert refused("UPDATE audit_private_text SET text = 'Looks right.', salt = %s", b"0" * 16)


def test_a_checkpoint_stands() -> None:
    assert refused("UPDATE audit_checkpoint SET note = ''")
    assert refused("DELETE FROM audit_checkpoint")
    assert Checkpoint.objects.exists()


def test_no_guard_is_missing_after_migrate() -> None:
    assert guards.missing(connection) == []
    assert checks.run_checks(tags=["database"], databases=["default"]) == []


@pytest.mark.parametrize("table", TABLES)
def test_a_dropped_guard_is_named(table: str) -> None:
    name = f"huqan_{table}_update"
    sql(f"DROP TRIGGER {name}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))
    assert guards.missing(connection) == [name]
    (error,) = checks.run_checks(tags=["database"], databases=["default"])
    assert name in error.msg
    assert error.is_serious()


def test_a_missing_guard_does_not_keep_migrate_from_installing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    guards.remove(connection)
    monkeypatch.setattr("sys.argv", ["manage.py", "migrate"])
    call_command("migrate", "audit", verbosity=0, skip_checks=False)
    assert guards.missing(connection) == []


def test_a_guard_that_was_weakened_is_named() -> None:
    name = "huqan_audit_entry_delete"
    if connection.vendor == "sqlite":
        sql(f"DROP TRIGGER {name}")
        sql(f"CREATE TRIGGER {name} BEFORE DELETE ON audit_entry WHEN FALSE BEGIN SELECT 1; END")
    else:
        sql(f"ALTER TABLE audit_entry DISABLE TRIGGER {name}")
    assert guards.missing(connection) == [name]


def test_a_connection_without_recursive_triggers_is_named() -> None:
    if connection.vendor != "sqlite":
        return  # a setting of SQLite
    sql("PRAGMA recursive_triggers=OFF")
    assert guards.missing(connection) == ["PRAGMA recursive_triggers=ON"]
    sql("PRAGMA recursive_triggers=ON")


def test_migrate_installs_what_is_missing() -> None:
    guards.remove(connection)
    assert len(guards.missing(connection)) >= 12
    call_command("migrate", "audit", verbosity=0)
    assert guards.missing(connection) == []


@pytest.mark.parametrize(("model", "name"), [(Entry, "account"), (Head, "log"), (Checkpoint, "note")])
@pytest.mark.django_db(transaction=True)
def test_a_migration_that_rebuilds_a_table_is_noticed(model: type[models.Model], name: str) -> None:
    old = model._meta.get_field(name)
    new = old.clone()
    new.set_attributes_from_name(name)
    new.model = model
    new.null = not old.null
    new.default = ""
    with connection.schema_editor() as editor:
        editor.alter_field(model, old, new)
        editor.alter_field(model, new, old)
    if connection.vendor == "sqlite":
        assert f"huqan_{model._meta.db_table}_delete" in guards.missing(connection)
    call_command("migrate", "audit", verbosity=0)
    assert guards.missing(connection) == []


@pytest.fixture
def diary(db: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table of somebody else, with a key besides its id, that promises to be append-only."""
    monkeypatch.setattr(guards, "_promises", dict(guards._promises))
    sql("CREATE TABLE diary (id integer PRIMARY KEY, day varchar(10) UNIQUE, text text NULL, mood text NULL)")
    guards.append_only("diary", changing=["mood"], erasable=["text"], emptied={"day": ""})
    guards.install(connection)
    sql("INSERT INTO diary VALUES (1, 'Monday', 'Rain.', 'low')")
    return "diary"


def test_another_app_can_promise_the_same(diary: str) -> None:
    assert refused("DELETE FROM diary")
    assert refused("UPDATE diary SET day = 'Sunday'")
    assert refused("UPDATE diary SET day = NULL")
    assert refused("UPDATE diary SET text = 'Sun.'")
    assert not refused("UPDATE diary SET day = ''")
    assert not refused("UPDATE diary SET text = NULL")
    assert not refused("UPDATE diary SET mood = 'high'")
    assert not refused("INSERT INTO diary VALUES (2, 'Tuesday', 'Sun.', 'high')")


def test_a_row_of_another_app_is_not_replaced_by_any_key(diary: str) -> None:
    if connection.vendor != "sqlite":
        return  # PostgreSQL has no REPLACE
    assert refused("REPLACE INTO diary VALUES (1, 'Tuesday', 'Sun.', 'high')")
    assert refused("REPLACE INTO diary VALUES (2, 'Monday', 'Sun.', 'high')")
    assert not refused("REPLACE INTO diary VALUES (2, 'Tuesday', 'Sun.', 'high')")
