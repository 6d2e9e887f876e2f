"""What the database itself refuses: triggers that keep append-only tables append-only.

Their SQL lives here and nowhere else, because a migration that rebuilds a table on SQLite drops its
triggers without a word. `schema.settle` installs them again after every migrate and `checks` lists
the missing. They hold against raw SQL, REPLACE, TRUNCATE and COPY, not against who may drop them.

    append_only("review_decision")                          # rows are written once
    append_only("memory_tombstone", once=("lifted_at",))    # ... but this column is filled in later, once

What may change is also all that `grants` lets the app role change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from review.audit.chain import GENESIS

Event = Literal["INSERT", "UPDATE", "DELETE", "TRUNCATE"]


class Guard(NamedTuple):
    """One trigger: `event` on `table` is refused with `sentence` where the SQL `condition` holds."""

    table: str
    event: Event
    condition: str
    sentence: str

    @property
    def name(self) -> str:
        return f"huqan_{self.table}_{self.event.lower()}"


@dataclass(frozen=True)
class AppendOnly:
    """The promise about one table: no row changes or goes.

    Columns in `changing` may change, those in `once` only while they are NULL, those in `erasable` may
    only become NULL, those in `emptied` only the text that is said for them. A column that a later migration adds
    is in none of them until somebody says so.
    `insert_refused` and `update_refused` are further SQL conditions under which a row is refused: NEW is
    the row as it would be, OLD as it was.
    """

    table: str
    changing: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    erasable: tuple[str, ...] = ()
    insert_refused: str = ""
    update_refused: str = ""
    emptied: tuple[tuple[str, str], ...] = ()

    @property
    def updatable(self) -> tuple[str, ...]:
        """The columns that an UPDATE may name at all."""
        return (*self.changing, *self.once, *self.erasable, *dict(self.emptied))


_promises: dict[str, AppendOnly] = {}


def append_only(
    table: str,
    *,
    changing: Iterable[str] = (),
    once: Iterable[str] = (),
    erasable: Iterable[str] = (),
    insert_refused: str = "",
    update_refused: str = "",
    emptied: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Promise that `table` is append-only. Call it beside the model; every migrate installs the guards."""
    _promises[table] = AppendOnly(
        table,
        tuple(changing),
        tuple(once),
        tuple(erasable),
        insert_refused,
        update_refused,
        tuple(emptied.items()),
    )


def promises() -> list[AppendOnly]:
    """Return what was promised, one for each append-only table."""
    return list(_promises.values())


# No guard names another table: SQLite could then no longer rebuild that one in a migration.
append_only(
    "audit_entry",
    insert_refused=(
        "NEW.seq <> (SELECT COALESCE(MAX(seq) + 1, 0) FROM audit_entry) OR NEW.prev <>"
        f" COALESCE((SELECT leaf FROM audit_entry WHERE seq = NEW.seq - 1), '{GENESIS}')"
    ),
)
append_only(
    "audit_head",
    changing=("size", "leaf", "frontier", "time"),
    insert_refused="NEW.size <> 0",
    update_refused="NEW.size <> OLD.size + 1 OR NEW.time < OLD.time",
)
append_only("audit_private_text", erasable=("salt", "text"))
append_only("audit_checkpoint")


def install(connection: BaseDatabaseWrapper) -> None:
    """Make every guard of every table that exists stand exactly as written here.

    One that does is left alone: replacing it would keep everybody waiting who works with its table.
    """
    engine = _engine(connection)
    standing = engine.standing(connection)
    for guard in _expected(connection):
        if standing.get(guard.name) != engine.written(guard):
            _run(connection, [*engine.drop(guard), *engine.create(guard)])


def remove(connection: BaseDatabaseWrapper) -> None:
    """Take every guard away. For tests that flush their tables; nothing in the product calls it."""
    engine = _engine(connection)
    _run(connection, [statement for guard in _expected(connection) for statement in engine.drop(guard)])


def _run(connection: BaseDatabaseWrapper, statements: Iterable[str]) -> None:
    """All of `statements` or none: no table is without its guard in between."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        for statement in (*_engine(connection).prelude, *statements):
            cursor.execute(statement)


def missing(connection: BaseDatabaseWrapper) -> list[str]:
    """Name each guard that is not there or not as written here, sorted; empty when all stand."""
    engine = _engine(connection)
    standing = engine.standing(connection)
    gone = [
        guard.name for guard in _expected(connection) if standing.get(guard.name) != engine.written(guard)
    ]
    return sorted(gone + engine.unsafe_settings(connection))


def _expected(connection: BaseDatabaseWrapper) -> list[Guard]:
    tables = set(connection.introspection.table_names())
    return [
        guard
        for promise in _promises.values()
        if promise.table in tables
        for guard in _guards(promise, connection)
    ]


def _guards(promise: AppendOnly, connection: BaseDatabaseWrapper) -> list[Guard]:
    engine, table = _engine(connection), promise.table
    guards = [Guard(table, "DELETE", "TRUE", f"{table} is append-only: no row is deleted.")]
    changed = [_changed(promise, connection), promise.update_refused]
    guards.append(Guard(table, "UPDATE", _any(changed), f"{table} is append-only: no row is changed."))
    refused = [*engine.replaces(connection, table), promise.insert_refused]
    if any(refused):
        guards.append(Guard(table, "INSERT", _any(refused), f"{table} takes no such row here."))
    if engine.has_truncate:
        guards.append(Guard(table, "TRUNCATE", "TRUE", f"{table} is append-only: it is never emptied."))
    return guards


def _any(conditions: Iterable[str]) -> str:
    return " OR ".join(condition for condition in conditions if condition)


def _changed(promise: AppendOnly, connection: BaseDatabaseWrapper) -> str:
    """The condition under which an update touches something that may not change."""
    if not promise.updatable:
        return "TRUE"
    columns = _columns(connection, promise.table)
    clauses = [_kept(column, promise, _engine(connection).same) for column in columns]
    return f"NOT ({' AND '.join(clause for clause in clauses if clause)})"


def _columns(connection: BaseDatabaseWrapper, table: str) -> list[str]:
    """Django's own introspection parses the table's SQL, which takes a hundred times as long on SQLite."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} LIMIT 0")
        return [name for name, *_ in cursor.description]


def _kept(column: str, promise: AppendOnly, same: str) -> str:
    """The condition that what `column` holds is as it must be; nothing where it may change freely."""
    if column in promise.changing:
        return ""
    kept = f'NEW."{column}" {same} OLD."{column}"'
    if column in promise.once:
        return f'({kept} OR OLD."{column}" IS NULL)'
    if column in promise.erasable:
        return f'({kept} OR NEW."{column}" IS NULL)'
    if column in dict(promise.emptied):
        return f"""({kept} OR NEW."{column}" {same} '{dict(promise.emptied)[column]}')"""
    return kept


class _SQLite:
    """RAISE(ABORT) before the row is touched; REPLACE is met by the insert guard on every unique key."""

    has_truncate = False
    same = "IS"
    prelude = ()

    def written(self, guard: Guard) -> str:
        return (
            f"CREATE TRIGGER {guard.name} BEFORE {guard.event} ON {guard.table} WHEN {guard.condition} "
            f"BEGIN SELECT RAISE(ABORT, '{guard.sentence}'); END"
        )

    def create(self, guard: Guard) -> list[str]:
        return [self.written(guard)]

    def drop(self, guard: Guard) -> list[str]:
        return [f"DROP TRIGGER IF EXISTS {guard.name}"]

    def standing(self, connection: BaseDatabaseWrapper) -> dict[str, str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            return dict(cursor.fetchall())

    def unsafe_settings(self, connection: BaseDatabaseWrapper) -> list[str]:
        with connection.cursor() as cursor:
            on = cursor.execute("PRAGMA recursive_triggers").fetchone()[0]
        return [] if on else ["PRAGMA recursive_triggers=ON"]

    def replaces(self, connection: BaseDatabaseWrapper, table: str) -> list[str]:
        """One condition for each key: another row that has it is there already.

        With recursive triggers REPLACE meets the delete guard too; any program may turn them off.
        """
        return [
            f"EXISTS (SELECT 1 FROM {table} WHERE {' AND '.join(key)})" for key in _keys(connection, table)
        ]


def _keys(connection: BaseDatabaseWrapper, table: str) -> list[tuple[str, ...]]:
    """What a row has in common with NEW for each key of an SQLite table, the primary one first, then by name."""
    with connection.cursor() as cursor:
        columns = cursor.execute(f'PRAGMA table_info("{table}")').fetchall()
        keys = {"": tuple(_same(row[1]) for row in columns if row[5])}
        cursor.execute(
            "SELECT name, partial, sql FROM pragma_index_list(%s) JOIN sqlite_master USING (name)"
            """ WHERE "unique" AND origin <> 'pk'""",
            [table],
        )
        for name, partial, written in cursor.fetchall():
            cursor.execute(f'PRAGMA index_info("{name}")')
            same = tuple(_same(row[2]) for row in cursor.fetchall())
            keys[name] = (*same, *_rows_in(written)) if partial else same
    return [key for _, key in sorted(keys.items()) if key]


def _same(column: str) -> str:
    return f'"{column}" = NEW."{column}"'


def _rows_in(index: str) -> tuple[str, str]:
    """The condition of a partial index, for the row that is there and for NEW."""
    _, _, condition = index.partition(" WHERE ")
    return condition, re.sub(r'"(\w+)"', r'NEW."\1"', condition)


class _PostgreSQL:
    """A function and a trigger for each guard, ENABLE ALWAYS so that no session setting skips it.

    COPY meets the insert guard; ON CONFLICT DO UPDATE the update guard. Each function looks for its table
    in the table's own schema first: by default a temporary table of the same name would be found before.
    """

    has_truncate = True
    same = "IS NOT DISTINCT FROM"
    prelude = (
        "SET CONSTRAINTS ALL IMMEDIATE",  # a table with checks that are still due cannot be altered
        "SET CONSTRAINTS ALL DEFERRED",
        "SELECT set_config('search_path', current_schema() || ', pg_temp', true)",
    )

    def written(self, guard: Guard) -> str:
        return f"{self._definition(guard)} A {self._body(guard)}"

    def create(self, guard: Guard) -> list[str]:
        head = f"CREATE OR REPLACE FUNCTION {guard.name}() RETURNS trigger LANGUAGE plpgsql"
        head += " SET search_path FROM CURRENT"
        return [
            f"{head} AS $${self._body(guard)}$$",
            self._definition(guard),
            f"ALTER TABLE {guard.table} ENABLE ALWAYS TRIGGER {guard.name}",
        ]

    def drop(self, guard: Guard) -> list[str]:
        return [
            f"DROP TRIGGER IF EXISTS {guard.name} ON {guard.table}",
            f"DROP FUNCTION IF EXISTS {guard.name}()",
        ]

    def standing(self, connection: BaseDatabaseWrapper) -> dict[str, str]:
        with connection.cursor() as cursor:
            cursor.execute(_STANDING)
            return dict(cursor.fetchall())

    def unsafe_settings(self, connection: BaseDatabaseWrapper) -> list[str]:
        return []

    def replaces(self, connection: BaseDatabaseWrapper, table: str) -> list[str]:
        return []

    def _definition(self, guard: Guard) -> str:
        each = "STATEMENT" if guard.event == "TRUNCATE" else "ROW"
        return (
            f"CREATE TRIGGER {guard.name} BEFORE {guard.event} ON {guard.table} "
            f"FOR EACH {each} EXECUTE FUNCTION {guard.name}()"
        )

    def _body(self, guard: Guard) -> str:
        return (
            f" BEGIN IF {guard.condition} THEN RAISE EXCEPTION '{guard.sentence}'"
            " USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        )


_STANDING = """
    SELECT tgname, pg_get_triggerdef(t.oid, true) || ' ' || tgenabled::text || ' ' || prosrc
    FROM pg_trigger t
    JOIN pg_proc p ON p.oid = tgfoid
    JOIN pg_class c ON c.oid = tgrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE NOT tgisinternal AND proconfig = ARRAY['search_path=' || nspname || ', pg_temp']
"""
_ENGINES: dict[str, Any] = {"sqlite": _SQLite(), "postgresql": _PostgreSQL()}


def _engine(connection: BaseDatabaseWrapper) -> Any:
    return _ENGINES[connection.vendor]
