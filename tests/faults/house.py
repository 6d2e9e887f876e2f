"""A console to do harm to: its servers, its files and its database, and the ways in which each can fail."""

from __future__ import annotations

import contextlib
import fcntl
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import psycopg
import pytest

from tests.support import postgres
from tests.support.console import Agent, Answer, Console, fetch
from tests.support.postgres import Cluster, database_url
from tests.support.visitor import Visitor

Result = TypeVar("Result")
READY_SECONDS = 40  # not a measure: machines that run tests are busy. The bench holds it against 5


_HANGS_WHEN_DONE = """
    CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM set_config('synchronous_commit', 'on', true); RETURN NEW; END $$;
    CREATE TRIGGER hang BEFORE INSERT ON review_idempotencykey FOR EACH ROW EXECUTE FUNCTION hang()
"""  # then the commit waits for a standby, of which there is none
_HANGS_BEFORE = """
    CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER hang AFTER INSERT ON review_idempotencykey
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hang()
"""

_HOLDING = "SELECT 1 FROM {0} t WHERE strpos(t::text, '{1}') > 0 LIMIT 1"
_GUARDS_SQLITE = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_entry'"
_GUARDS_POSTGRESQL = (
    "SELECT tgname FROM pg_trigger WHERE tgrelid = 'audit_entry'::regclass AND NOT tgisinternal"
)


class House(Console):
    """A console with people who are signed in already, and what can go wrong in it."""

    def __init__(self, cluster: Cluster | None, **settings: str) -> None:
        self.cluster = cluster
        self.database = f"house_{uuid4().hex}"
        if cluster is not None:
            settings |= cluster.with_two_roles(self.database)
        super().__init__(**settings)
        self.witness = self.folder / "outside" / "witness.txt"
        self.environ["HUQAN_WITNESS_FILE"] = str(self.witness)

    def start(self) -> None:
        """Start the server and sign the people in who were not yet."""
        super().start()
        if not hasattr(self, "alice"):
            self.alice, self.carol = (Visitor(self, name).sign_in() for name in ("alice", "carol"))

    def until_ready(self) -> float:
        """Start the server again and return after how many seconds it says that it is ready."""
        began = time.monotonic()
        self.start()
        while fetch(f"{self.url}/readyz").status != 200:
            assert time.monotonic() - began < READY_SECONDS
            time.sleep(0.05)
        return time.monotonic() - began

    def must_be_whole(self) -> None:
        """The log verifies, against its witness file too."""
        self.manage("verify_audit")

    # What people and agents do here.

    def refund(self, agent: Agent | None = None, key: str | None = None, **arguments: Any) -> Answer:
        """Propose a refund that one person must approve; no two are the same, unless `arguments` are given."""
        headers = {"Idempotency-Key": key} if key else {}
        body = {"tool": "payments.refund", "arguments": arguments or {"order": uuid4().hex}}
        return (agent or self.agent()).call("POST", "/api/v1/proposals", body, headers)

    def proposed(self, **arguments: Any) -> dict[str, Any]:
        """Return a refund that waits for people."""
        answer = self.refund(**arguments)
        assert answer.status == 201, answer.body
        proposal: dict[str, Any] = answer.json()
        return proposal

    def redeem(
        self, proposal: Mapping[str, Any], agent: Agent | None = None, key: str | None = None
    ) -> Answer:
        """Take the permit for exactly what was proposed."""
        headers = {"Idempotency-Key": key} if key else {}
        path = f"/api/v1/proposals/{proposal['id']}/redeem"
        return (agent or self.agent()).call("POST", path, {"arguments": proposal["arguments"]}, headers)

    def status(self, proposal: Mapping[str, Any]) -> str:
        """Return how a proposal stands, as its agent is told."""
        answer = self.agent().call("GET", f"/api/v1/proposals/{proposal['id']}")
        assert answer.status == 200, answer.body
        return str(answer.json()["status"])

    # What its database holds, read past the console.

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        if self.cluster is None:
            with contextlib.closing(sqlite3.connect(self.sqlite)) as connection:
                return connection.execute(query).fetchall()
        with psycopg.connect(database_url(self.cluster.folder, self.database)) as connection:
            return connection.execute(query).fetchall()

    @property
    def sqlite(self) -> Path:
        return self.folder / "huqan.sqlite3"

    def holding(self, text: str) -> list[str]:
        """Return the files, and on PostgreSQL the tables, that hold a text."""
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        found = [path.name for path in paths if text.encode() in path.read_bytes()]
        if self.cluster is not None:
            tables = self.rows("SELECT relname FROM pg_stat_user_tables")
            found += [name for (name,) in tables if self.rows(_HOLDING.format(name, text))]
        return found

    def past_the_guards(self, statement: str) -> None:
        """Change the log as somebody who may do everything with the database, and put its guards back."""
        if self.cluster is None:
            with contextlib.closing(sqlite3.connect(self.sqlite)) as connection:
                guards = connection.execute(_GUARDS_SQLITE).fetchall()
                drop = [f"DROP TRIGGER {name};" for name, _ in guards]
                connection.executescript(";".join([*drop, statement, *(sql for _, sql in guards)]) + ";")
            return
        names = [name for (name,) in self.rows(_GUARDS_POSTGRESQL)]
        alter = "ALTER TABLE audit_entry {} TRIGGER {};"
        off = [alter.format("DISABLE", name) for name in names]
        on = [alter.format("ENABLE ALWAYS", name) for name in names]
        self._sql("".join([*off, f"{statement};", *on]))

    # What goes wrong.

    @contextlib.contextmanager
    def read_only(self) -> Iterator[None]:
        """Let nobody write to the database for the block."""
        if self.cluster is not None:
            with self._set(default_transaction_read_only="on"):
                yield
        else:
            usual = self.sqlite.stat().st_mode
            self._set_mode(0o400)
            try:
                yield
            finally:
                self._set_mode(usual)

    def _set_mode(self, mode: int) -> None:
        """Set that of the database, and of the files beside it, which SQLite makes with the database's own."""
        for path in self.folder.glob(f"{self.sqlite.name}*"):
            path.chmod(mode)

    @contextlib.contextmanager
    def _set(self, **settings: str) -> Iterator[None]:
        assert self.cluster is not None
        for name, value in settings.items():
            self.cluster.run(f"ALTER DATABASE {self.database} SET {name} = {value}")
        self._cut_off()
        try:
            yield
        finally:
            for name in settings:
                self.cluster.run(f"ALTER DATABASE {self.database} RESET {name}")
            self._cut_off()

    def _cut_off(self) -> None:
        """End every connection, so that the next has the new settings."""
        assert self.cluster is not None
        self.cluster.run(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self.database}'"
        )

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Have somebody else hold what every writer needs, longer than anybody waits."""
        if self.cluster is not None:
            with psycopg.connect(database_url(self.cluster.folder, self.database)) as other:
                other.execute("SELECT * FROM audit_head FOR UPDATE")
                yield
        else:
            with contextlib.closing(sqlite3.connect(self.sqlite, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                yield
                other.execute("ROLLBACK")

    @contextlib.contextmanager
    def commit_hangs(self, *, done: bool) -> Iterator[None]:
        """Have every commit that holds an idempotency key wait without an end, when it is `done` or before."""
        assert self.cluster is not None
        self.cluster.run(f"ALTER SYSTEM SET synchronous_standby_names = '{'nobody' if done else ''}'")
        self.cluster.run("SELECT pg_reload_conf()")
        self._sql(_HANGS_WHEN_DONE if done else _HANGS_BEFORE)
        try:
            yield
        finally:
            self._sql("DROP FUNCTION hang() CASCADE")
            self.cluster.run("ALTER SYSTEM RESET synchronous_standby_names")
            self.cluster.run("SELECT pg_reload_conf()")

    def end_who_commits(self) -> None:
        """Wait until somebody hangs in his commit, and end his connection."""
        ended = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE datname = '{self.database}' AND wait_event IN ('SyncRep', 'PgSleep')"
        )
        end = time.monotonic() + READY_SECONDS
        while not self.rows(ended):
            assert time.monotonic() < end
            time.sleep(0.05)

    def _sql(self, statements: str) -> None:
        assert self.cluster is not None
        with psycopg.connect(database_url(self.cluster.folder, self.database)) as connection:
            connection.execute(statements)

    @contextlib.contextmanager
    def hung_writer(self) -> Iterator[None]:
        """Have a program of ours hold the writers' queue and not go on."""
        with open(self.folder / "write.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def full_disk(self) -> Iterator[None]:
        """Let no file of the servers grow."""
        workers = self._workers()
        usual = resource.prlimit(workers[0], resource.RLIMIT_FSIZE)
        for worker in workers:
            resource.prlimit(worker, resource.RLIMIT_FSIZE, (0, usual[1]))
        try:
            yield
        finally:
            for worker in workers:
                resource.prlimit(worker, resource.RLIMIT_FSIZE, usual)

    def _workers(self) -> list[int]:
        assert self.server is not None
        master = self.server.pid
        children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        return [int(child) for child in children]

    def memory(self) -> int:
        """Return how many bytes of memory its servers hold."""
        fields = [Path(f"/proc/{worker}/statm").read_text().split() for worker in self._workers()]
        return sum(int(resident) for _, resident, *_ in fields) * resource.getpagesize()

    @contextlib.contextmanager
    def witness_closed(self) -> Iterator[None]:
        """Let nobody append to the witness file for the block."""
        with _mode(self.witness, 0o400):
            yield

    @contextlib.contextmanager
    def witness_lost(self) -> Iterator[None]:
        """Take the witness file away, and for the block let nobody make another in its folder."""
        self.witness.unlink()
        with _mode(self.witness.parent, 0o500):
            yield

    def kill(self) -> None:
        """End every program of the server in the middle of whatever it does."""
        self.stop(signal.SIGKILL)


@contextlib.contextmanager
def house_on(engine: str, **settings: str) -> Iterator[House]:
    """Run a console with demo data on SQLite, or on a PostgreSQL of its own; skip where that cannot be had."""
    if engine == "sqlite":
        with House(None, **settings) as house:
            yield house
        return
    try:
        postgres.binaries()
    except postgres.Unavailable as missing:
        pytest.skip(str(missing))
    with postgres.server() as cluster, House(cluster, **settings) as house:
        yield house


@contextlib.contextmanager
def _mode(path: Path, mode: int) -> Iterator[None]:
    usual = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        path.chmod(usual)


def at_once(*acts: Callable[[], Result]) -> list[Result]:
    """Do `acts` in the same moment and return what each returned."""
    with ThreadPoolExecutor(len(acts)) as people:
        return list(people.map(lambda act: act(), acts))
