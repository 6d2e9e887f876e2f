"""What the database itself keeps for the search: counts, terms and an index of exactly the eligible records.

Triggers keep it, so that it changes in the transaction that changes a record, by whichever door. It holds the
stored tokens, never raw text, and only records that are trusted and active: no other text can move a score.

SQLite has an FTS5 table. Each of its terms begins with the workspace, so that a question reads nothing of another
one. PostgreSQL has a partial GIN index over the tokens. `memory_recallterm` and `memory_recallepoch` are in both.

SQLite drops the triggers of a table that a migration rebuilds, without a word, and refuses to rebuild one that they
name. So they stand aside for every migration of this app (`stand_aside`), and every migrate ends in `settle`, which
makes what is missing and fills it anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration

from memory.models import Lifecycle, Trust

RECORDS = "memory_memoryrecord"
COLUMNS = ("content", "tokens", "tokenizer", "trust", "lifecycle", "workspace_id")


def stand_aside(*, using: str, plan: Iterable[tuple[Migration, bool]], **_: Any) -> None:
    """Take the triggers away while tables of this app are migrated."""
    if any(migration.app_label == "memory" for migration, _ in plan):
        connection = connections[using]
        _execute(connection, _ENGINES[connection.vendor].drop())


def settle(*, using: str, **_: Any) -> None:
    """Make what is missing after a migration, and fill it from the records."""
    connection = connections[using]
    tables = connection.introspection.table_names()
    if using == DEFAULT_DB_ALIAS and "memory_recallterm" in tables and missing(connection):
        install(connection)


def missing(connection: BaseDatabaseWrapper) -> list[str]:
    """Name each part that is not there or not as written here, sorted; empty when all stand."""
    engine = _ENGINES[connection.vendor]
    standing = engine.standing(connection)
    return sorted(name for name, text in engine.written().items() if standing.get(name) != text)


def install(connection: BaseDatabaseWrapper) -> None:
    """Make every part anew, and fill it."""
    with transaction.atomic(using=connection.alias):
        _execute(connection, _ENGINES[connection.vendor].create())
        fill(connection)


def renew(connection: BaseDatabaseWrapper) -> None:
    """Fill what stands; where something is missing make every part, which takes the owner of the tables."""
    (install if missing(connection) else fill)(connection)


def fill(connection: BaseDatabaseWrapper) -> None:
    """Count and index all eligible records again, whatever stood here. The caller has a transaction open."""
    _execute(connection, _ENGINES[connection.vendor].fill())


def _execute(connection: BaseDatabaseWrapper, statements: list[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _eligible(row: str) -> str:
    return f"{row}.trust = '{Trust.TRUSTED.value}' AND {row}.lifecycle = '{Lifecycle.ACTIVE.value}'"


def _changes(same: str) -> str:
    """The condition under which an update matters here."""
    unchanged = " AND ".join(f"OLD.{column} {same} NEW.{column}" for column in COLUMNS)
    return f"NOT ({unchanged})"


_COUNTED = """
INSERT INTO memory_recallepoch (workspace_id, epoch, records, words, tokenizer)
SELECT r.workspace_id, 0, count(*), sum({words}), min(r.tokenizer) FROM memory_memoryrecord r
WHERE {eligible} GROUP BY r.workspace_id ON CONFLICT (workspace_id) DO UPDATE
SET records = excluded.records, words = excluded.words, tokenizer = excluded.tokenizer
"""
_EMPTIED = "UPDATE memory_recallepoch SET epoch = epoch + 1, records = 0, words = 0"


class _SQLite:
    """FTS5 without content or positions: `memory_indexed` says which record a row of it stands for.

    Such a table forgets a row only when it is told again exactly what the row held, which OLD knows.
    """

    tables = {
        "memory_indexed": "CREATE TABLE memory_indexed (number INTEGER PRIMARY KEY, record TEXT NOT NULL UNIQUE)",
        "memory_fts": (
            "CREATE VIRTUAL TABLE memory_fts USING fts5"
            """(terms, content='', detail=none, columnsize=0, tokenize="ascii tokenchars ':.#'")"""
        ),
    }

    def written(self) -> dict[str, str]:
        return self.tables | self._triggers()

    def standing(self, connection: BaseDatabaseWrapper) -> dict[str, str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            return dict(cursor.fetchall())

    def drop(self) -> list[str]:
        return [f"DROP TRIGGER IF EXISTS {name}" for name in self._triggers()]

    def create(self) -> list[str]:
        return [
            *self.drop(),
            *(f"DROP TABLE IF EXISTS {name}" for name in self.tables),
            *self.written().values(),
        ]

    def fill(self) -> list[str]:
        scoped, found = self._scoped("r"), f"FROM {RECORDS} r, json_each({self._list('r')}) t"
        return [
            "INSERT INTO memory_fts (memory_fts) VALUES ('delete-all')",
            "DELETE FROM memory_indexed",
            f"INSERT INTO memory_indexed (record) SELECT id FROM {RECORDS} r WHERE {_eligible('r')} ORDER BY id",
            (
                f"INSERT INTO memory_fts (rowid, terms) SELECT number, {scoped}"
                f" FROM memory_indexed JOIN {RECORDS} r ON r.id = record"
            ),
            "DELETE FROM memory_recallterm",
            (
                "INSERT INTO memory_recallterm (workspace_id, term, records) SELECT r.workspace_id, t.value,"
                f" count(DISTINCT r.id) {found} WHERE {_eligible('r')} GROUP BY r.workspace_id, t.value"
            ),
            _EMPTIED,
            _COUNTED.format(words=self._words("r"), eligible=_eligible("r")),
        ]

    def _triggers(self) -> dict[str, str]:
        of = f"UPDATE OF {', '.join(COLUMNS)}"
        matters = _changes("IS")
        erased = Lifecycle.ERASED.value
        events = {
            "huqan_recall_insert": ("AFTER INSERT", _eligible("NEW"), self._enter(bump=0)),
            "huqan_recall_delete": ("BEFORE DELETE", _eligible("OLD"), self._leave()),
            # Before and after, since the order of two triggers on one event is not promised.
            "huqan_recall_leave": (f"BEFORE {of}", f"{_eligible('OLD')} AND {matters}", self._leave()),
            "huqan_recall_enter": (f"AFTER {of}", f"{_eligible('NEW')} AND {matters}", self._enter(bump=1)),
            # What FTS5 has forgotten stays in its blocks until they are merged.
            "huqan_recall_erase": (
                "AFTER UPDATE OF lifecycle",
                f"NEW.lifecycle = '{erased}' AND OLD.lifecycle <> '{erased}'",
                ["INSERT INTO memory_fts (memory_fts) VALUES ('optimize')"],
            ),
        }
        return {
            name: f"CREATE TRIGGER {name} {event} ON {RECORDS} WHEN {condition} BEGIN {'; '.join(steps)}; END"
            for name, (event, condition, steps) in events.items()
        }

    def _enter(self, *, bump: int) -> list[str]:
        return [
            "INSERT INTO memory_indexed (record) VALUES (NEW.id)",
            (
                f"INSERT INTO memory_fts (rowid, terms) SELECT number, {self._scoped('NEW')}"
                " FROM memory_indexed WHERE record = NEW.id"
            ),
            (
                "INSERT INTO memory_recallterm (workspace_id, term, records) SELECT NEW.workspace_id, value, 1"
                f" FROM (SELECT DISTINCT value FROM json_each({self._list('NEW')})) WHERE true"
                " ON CONFLICT (workspace_id, term) DO UPDATE SET records = records + 1"
            ),
            (
                "INSERT INTO memory_recallepoch (workspace_id, epoch, records, words, tokenizer)"
                f" VALUES (NEW.workspace_id, {bump}, 1, {self._words('NEW')}, NEW.tokenizer)"
                f" ON CONFLICT (workspace_id) DO UPDATE SET epoch = epoch + {bump}, records = records + 1,"
                " words = words + excluded.words, tokenizer = CASE records WHEN 0 THEN excluded.tokenizer"
                " ELSE min(tokenizer, excluded.tokenizer) END"
            ),
        ]

    def _leave(self) -> list[str]:
        theirs = (
            f"workspace_id = OLD.workspace_id AND term IN (SELECT value FROM json_each({self._list('OLD')}))"
        )
        return [
            (
                f"INSERT INTO memory_fts (memory_fts, rowid, terms) SELECT 'delete', number, {self._scoped('OLD')}"
                " FROM memory_indexed WHERE record = OLD.id"
            ),
            "DELETE FROM memory_indexed WHERE record = OLD.id",
            f"UPDATE memory_recallterm SET records = records - 1 WHERE {theirs}",
            f"DELETE FROM memory_recallterm WHERE {theirs} AND records = 0",
            (
                "UPDATE memory_recallepoch SET epoch = epoch + 1, records = records - 1,"
                f" words = words - {self._words('OLD')} WHERE workspace_id = OLD.workspace_id"
            ),
        ]

    @staticmethod
    def _scoped(row: str) -> str:
        """The tokens, each behind its workspace."""
        scope = f"{row}.workspace_id || ':'"
        return f"CASE {row}.tokens WHEN '' THEN '' ELSE {scope} || replace({row}.tokens, ' ', ' ' || {scope}) END"

    @staticmethod
    def _list(row: str) -> str:
        """The tokens as a JSON array. They are letters, digits, points, colons: nothing is to be escaped."""
        listed = f"""'["' || replace({row}.tokens, ' ', '","') || '"]'"""
        return f"CASE {row}.tokens WHEN '' THEN '[]' ELSE {listed} END"

    @staticmethod
    def _words(row: str) -> str:
        spaces = f"length({row}.tokens) - length(replace({row}.tokens, ' ', ''))"
        return f"(CASE {row}.tokens WHEN '' THEN 0 ELSE {spaces} + 1 END)"


class _PostgreSQL:
    """A partial GIN index, and one trigger for the counts."""

    name = "huqan_recall"
    index = "memory_recall_tokens"

    def written(self) -> dict[str, str]:
        return {self.name: self._body(), self.index: "index"}

    def standing(self, connection: BaseDatabaseWrapper) -> dict[str, str]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT tgname, prosrc FROM pg_trigger t JOIN pg_proc p ON p.oid = tgfoid"
                f" WHERE tgrelid = '{RECORDS}'::regclass AND tgenabled = 'A' UNION ALL"
                " SELECT relname, 'index' FROM pg_class JOIN pg_index ON indexrelid = oid"
                f" WHERE indrelid = '{RECORDS}'::regclass AND indisvalid"
            )
            return dict(cursor.fetchall())

    def drop(self) -> list[str]:
        return [f"DROP TRIGGER IF EXISTS {self.name} ON {RECORDS}"]

    def create(self) -> list[str]:
        return [
            f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS $${self._body()}$$",
            *self.drop(),
            (
                f"CREATE TRIGGER {self.name} AFTER INSERT OR DELETE OR UPDATE OF {', '.join(COLUMNS)} ON {RECORDS}"
                f" FOR EACH ROW EXECUTE FUNCTION {self.name}()"
            ),
            f"ALTER TABLE {RECORDS} ENABLE ALWAYS TRIGGER {self.name}",
            f"DROP INDEX IF EXISTS {self.index}",
            # Without fastupdate no reader pays for what writers have put off.
            (
                f"CREATE INDEX {self.index} ON {RECORDS} USING gin (string_to_array(tokens, ' '))"
                f" WITH (fastupdate = off) WHERE {_eligible(RECORDS)}"
            ),
        ]

    def fill(self) -> list[str]:
        found = f"FROM {RECORDS} r, unnest({self._list('r')}) t"
        return [
            "DELETE FROM memory_recallterm",
            (
                "INSERT INTO memory_recallterm (workspace_id, term, records) SELECT r.workspace_id, t,"
                f" count(DISTINCT r.id) {found} WHERE {_eligible('r')} GROUP BY r.workspace_id, t"
            ),
            _EMPTIED,
            _COUNTED.format(words=self._words("r"), eligible=_eligible("r")),
        ]

    def _body(self) -> str:
        matters = _changes("IS NOT DISTINCT FROM")
        return (
            f" BEGIN IF TG_OP <> 'INSERT' THEN IF {_eligible('OLD')} AND (TG_OP = 'DELETE' OR {matters}) THEN"
            f" {self._leave()} END IF; END IF;"
            f" IF TG_OP <> 'DELETE' THEN IF {_eligible('NEW')} AND (TG_OP = 'INSERT' OR {matters}) THEN"
            f" {self._enter()} END IF; END IF; RETURN NULL; END "
        )

    def _enter(self) -> str:
        """Terms in one order, so that two writers cannot wait for each other."""
        bump = "CASE TG_OP WHEN 'UPDATE' THEN 1 ELSE 0 END"
        return (
            "INSERT INTO memory_recallterm AS t (workspace_id, term, records)"
            f" SELECT DISTINCT NEW.workspace_id, n, 1 FROM unnest({self._list('NEW')}) n ORDER BY n"
            " ON CONFLICT (workspace_id, term) DO UPDATE SET records = t.records + 1;"
            " INSERT INTO memory_recallepoch AS e (workspace_id, epoch, records, words, tokenizer)"
            f" VALUES (NEW.workspace_id, {bump}, 1, {self._words('NEW')}, NEW.tokenizer)"
            " ON CONFLICT (workspace_id) DO UPDATE SET epoch = e.epoch + excluded.epoch, records = e.records + 1,"
            " words = e.words + excluded.words, tokenizer = CASE e.records WHEN 0 THEN excluded.tokenizer"
            " ELSE LEAST(e.tokenizer, excluded.tokenizer) END;"
        )

    def _leave(self) -> str:
        theirs = f"workspace_id = OLD.workspace_id AND term = ANY({self._list('OLD')})"
        return (
            f"UPDATE memory_recallterm SET records = records - 1 WHERE {theirs};"
            f" DELETE FROM memory_recallterm WHERE {theirs} AND records = 0;"
            " UPDATE memory_recallepoch SET epoch = epoch + 1, records = records - 1,"
            f" words = words - {self._words('OLD')} WHERE workspace_id = OLD.workspace_id;"
        )

    @staticmethod
    def _list(row: str) -> str:
        return f"string_to_array({row}.tokens, ' ')"

    def _words(self, row: str) -> str:
        return f"cardinality({self._list(row)})"


_ENGINES: dict[str, Any] = {"sqlite": _SQLite(), "postgresql": _PostgreSQL()}
