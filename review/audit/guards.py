"""What the database itself refuses: triggers that keep append-only tables append-only.

Their SQL lives here and nowhere else, because a migration that rebuilds a table on SQLite drops its
triggers without a word. `schema.settle` installs them again after every migrate and `checks` lists
the missing. They hold against raw SQL, REPLACE, TRUNCATE and COPY, not against who may drop them.

    append_only("review_decision")                          # rows are written once
    append_only("review_revision", erasable=("arguments",)) # ... but this column may become NULL
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

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

    Columns in `allow_update_columns` may change, those in `erasable` may only become NULL.
    `insert_refused` is a further SQL condition under which a new row is refused (NEW is that row),
    `update_refused` one that replaces the promise about changes altogether (OLD is the row before).
    """

    table: str
    allow_update_columns: tuple[str, ...] = ()
    erasable: tuple[str, ...] = ()
    insert_refused: str = ""
    update_refused: str = ""


_promises: dict[str, AppendOnly] = {}


def append_only(
    table: str,
    *,
    allow_update_columns: Iterable[str] = (),
    erasable: Iterable[str] = (),
    insert_refused: str = "",
    update_refused: str = "",
) -> None:
    """Promise that `table` is append-only. Call it beside the model; every migrate installs the guards."""
    _promises[table] = AppendOnly(
        table, tuple(allow_update_columns), tuple(erasable), insert_refused, update_refused
    )


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
    insert_refused="NEW.size <> 0",
    update_refused=(
        "NOT (NEW.id = OLD.id AND NEW.log = OLD.log AND NEW.size = OLD.size + 1 AND NEW.time >= OLD.time)"
    ),
)
append_only("audit_private_text", erasable=("salt", "text"))
append_only("audit_checkpoint")


def install(connection: BaseDatabaseWrapper) -> None:
    """Make every guard of every table that exists stand exactly as written here."""
    engine = _engine(connection)
    with connection.cursor() as cursor:
        for guard in _expected(connection):
            for statement in (*engine.drop(guard), *engine.create(guard)):
                cursor.execute(statement)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Take every guard away. For tests that flush their tables; nothing in the product calls it."""
    engine = _engine(connection)
    with connection.cursor() as cursor:
        for guard in _expected(connection):
            for statement in engine.drop(guard):
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
    changed = promise.update_refused or _changed(promise, connection)
    guards.append(Guard(table, "UPDATE", changed, f"{table} is append-only: no row is changed."))
    refused = [*engine.replaces(connection, table), promise.insert_refused]
    if any(refused):
        condition = " OR ".join(part for part in refused if part)
        guards.append(Guard(table, "INSERT", condition, f"{table} takes no such row here."))
    if engine.has_truncate:
        guards.append(Guard(table, "TRUNCATE", "TRUE", f"{table} is append-only: it is never emptied."))
    return guards


def _changed(promise: AppendOnly, connection: BaseDatabaseWrapper) -> str:
    """The condition under which an update touches something that may not change."""
    if not (promise.allow_update_columns or promise.erasable):
        return "TRUE"
    engine = _engine(connection)
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, promise.table)
    clauses = []
    for name in (column.name for column in described):
        if name not in promise.allow_update_columns:
            same = f'NEW."{name}" {engine.same} OLD."{name}"'
            clauses.append(f'({same} OR NEW."{name}" IS NULL)' if name in promise.erasable else same)
    return f"NOT ({' AND '.join(clauses)})"


class _SQLite:
    """RAISE(ABORT) before the row is touched; REPLACE is met by the insert guard on every unique key."""

    has_truncate = False
    same = "IS"

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
        """One condition: a row with the same key, any of them, is already there.

        Keys of partial indexes are left to the delete guard, which REPLACE meets with recursive triggers.
        """
        keys = [" AND ".join(f'"{c}" = NEW."{c}"' for c in columns) for columns in _keys(connection, table)]
        if not keys:
            return []
        return [f"EXISTS (SELECT 1 FROM {table} WHERE {' OR '.join(f'({key})' for key in keys)})"]


def _keys(connection: BaseDatabaseWrapper, table: str) -> list[tuple[str, ...]]:
    """The columns of each whole unique index of an SQLite table, its primary key among them, sorted."""
    with connection.cursor() as cursor:
        primary = cursor.execute(f'PRAGMA table_info("{table}")').fetchall()
        keys = {tuple(row[1] for row in sorted(primary, key=lambda row: row[5]) if row[5])}
        for _, index, unique, _, partial in cursor.execute(f'PRAGMA index_list("{table}")').fetchall():
            if unique and not partial:
                columns = [row[2] for row in cursor.execute(f'PRAGMA index_info("{index}")').fetchall()]
                keys.add(tuple(columns) if all(columns) else ())
    return sorted(key for key in keys if key)


class _PostgreSQL:
    """A function and a trigger for each guard, ENABLE ALWAYS so that no session setting skips it.

    COPY meets the insert guard; ON CONFLICT DO UPDATE the update guard.
    """

    has_truncate = True
    same = "IS NOT DISTINCT FROM"

    def written(self, guard: Guard) -> str:
        return f"{self._definition(guard)} A {self._body(guard)}"

    def create(self, guard: Guard) -> list[str]:
        head = f"CREATE OR REPLACE FUNCTION {guard.name}() RETURNS trigger LANGUAGE plpgsql"
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
            cursor.execute(
                "SELECT tgname, pg_get_triggerdef(t.oid, true) || ' ' || tgenabled::text || ' ' || prosrc"
                " FROM pg_trigger t JOIN pg_proc p ON p.oid = tgfoid WHERE NOT tgisinternal"
            )
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


_ENGINES: dict[str, Any] = {"sqlite": _SQLite(), "postgresql": _PostgreSQL()}


def _engine(connection: BaseDatabaseWrapper) -> Any:
    return _ENGINES[connection.vendor]
