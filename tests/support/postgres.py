"""A private PostgreSQL: its own scratch folder, its own socket, no network, gone when the tests are.

No other server is ever used. The cluster's data directory is asked for and compared before the
first test, so that a wrong socket or a left-over variable cannot point the tests at real data.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

USER = "postgres"
OPERATE = Path(__file__).parents[2] / "docs" / "operate.md"
SQL = re.compile(r"^```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)
START_SECONDS = 30
OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",  # a crash of this machine may lose it: it is scratch
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "100",
    "autovacuum": "off",
}


class Unavailable(Exception):
    """No private cluster can be had here; the text says what is missing."""


def binaries() -> Path:
    """Return the newest folder that holds PostgreSQL's server programs. Raises: Unavailable."""
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/opt/homebrew/opt").glob("postgresql*/bin")]
    if found := shutil.which("initdb"):
        folders.append(Path(found).resolve().parent)
    whole = [folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()]
    if not whole:
        raise Unavailable("PostgreSQL's server programs (initdb, postgres) are not installed.")
    return max(whole, key=_version)


def _version(folder: Path) -> int:
    said = subprocess.run(
        [folder / "postgres", "--version"], capture_output=True, text=True, check=True
    ).stdout
    return int(said.split()[2].split(".")[0])


def _account() -> pwd.struct_passwd | None:
    """Return whom the server runs as: the caller, or the account postgres for root, whom it refuses."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise Unavailable("PostgreSQL refuses to run as root and there is no account postgres or nobody.")


@contextlib.contextmanager
def cluster() -> Iterator[tuple[str, Path]]:
    """Run a private cluster for the block; yield its URL and its scratch folder. Raises: Unavailable."""
    with server() as running:
        yield database_url(running.folder), running.folder


@contextlib.contextmanager
def server() -> Iterator[Cluster]:
    """Run a private cluster for the block, one that can be stopped and started meanwhile. Raises: Unavailable."""
    programs, account = binaries(), _account()
    folder = Path(tempfile.mkdtemp(prefix="huqan-pg-"))  # short, since a socket path may hold 107 bytes
    made = Cluster(programs, folder, account)
    try:
        if account:
            os.chown(folder, account.pw_uid, account.pw_gid)
        _initialise(programs, folder, account)
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)


def database_url(folder: Path, name: str = USER, user: str = USER) -> str:
    """Return the URL of a database of the cluster by its socket in `folder`."""
    return f"postgresql://{user}@{quote(str(folder), safe='')}/{name}"


def _as(account: pwd.struct_passwd | None) -> dict[str, Any]:
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}


def _initialise(programs: Path, folder: Path, account: pwd.struct_passwd | None) -> None:
    command = [
        programs / "initdb",
        "-D",
        folder / "data",
        "-U",
        USER,
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
    ]
    made = subprocess.run([*command, "--no-sync"], cwd=folder, capture_output=True, text=True, **_as(account))
    if made.returncode:
        raise Unavailable(f"initdb failed: {made.stderr.strip()[-500:]}")


class Cluster:
    """The server of one scratch folder."""

    def __init__(self, programs: Path, folder: Path, account: pwd.struct_passwd | None) -> None:
        self.folder = folder
        self._programs, self._account = programs, account
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers. Raises: Unavailable."""
        options = [word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}")]
        with open(self.folder / "server.log", "ab") as log:
            self._server = subprocess.Popen(
                [self._programs / "postgres", "-D", self.folder / "data", "-k", self.folder, *options],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C ends the tests first, and they end the server
                **_as(self._account),
            )
        _wait_until_it_answers(self._server, self.folder)
        _must_be_ours(self.folder)

    def stop(self) -> None:
        """Stop the server; whoever is connected is cut off."""
        if self._server is not None:
            _stop(self._server)

    def new_database(self, name: str) -> str:
        """Make an empty database and return its URL."""
        self.run(f"CREATE DATABASE {name}")
        return database_url(self.folder, name)

    def with_two_roles(self, name: str) -> dict[str, str]:
        """Make an empty database as docs/operate.md says, `name` in place of huqan; return the settings for it."""
        on_the_server, in_the_database, *_ = SQL.findall(OPERATE.read_text())
        for block, database in ((on_the_server, USER), (in_the_database, name)):
            for statement in re.sub(r"\bhuqan", name, block).split(";\n")[:-1]:
                self.run(statement, database)
        return {
            "HUQAN_DATABASE_OWNER_URL": database_url(self.folder, name, f"{name}_owner"),
            "HUQAN_DATABASE_URL": database_url(self.folder, name, f"{name}_serving"),
        }

    def run(self, statement: str, database: str = USER) -> None:
        """Run one statement as the superuser, whatever the server's settings say about reading only."""
        writable = "-c default_transaction_read_only=off"
        with psycopg.connect(
            database_url(self.folder, database), autocommit=True, options=writable
        ) as connection:
            connection.execute(statement)


def _wait_until_it_answers(server: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(database_url(folder)).close()
            return
        time.sleep(0.1)
    raise Unavailable(f"PostgreSQL did not start: {(folder / 'server.log').read_text()[-500:]}")


def _must_be_ours(folder: Path) -> None:
    with psycopg.connect(database_url(folder)) as connection:
        refuse_foreign(connection.execute("show data_directory").fetchone(), folder)


def refuse_foreign(answer: tuple[str, ...] | None, folder: Path) -> None:
    """Raise Unavailable unless `show data_directory` answered with the one inside the scratch `folder`."""
    lives_in = answer[0] if answer else "an unknown place"
    if not answer or Path(lives_in).resolve() != (folder / "data").resolve():
        raise Unavailable(f"The PostgreSQL that answered lives in {lives_in}, not in {folder}.")


def _stop(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is not None:
        return
    server.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
