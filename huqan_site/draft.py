"""A copy of the database that nobody uses yet: looked at, brought up to today, and only then put in place.

Whatever fails or is killed on the way, the database that is there is as it was.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import connection

from huqan_site import postgresql
from huqan_site.failed import Failed


class Draft:
    """A database that `environ` names for the commands of the console, and a folder for files of its time.

    `take_place` lets it be the database, whole or not at all. It raises: Failed, OSError.
    """

    def __init__(self, environ: Mapping[str, str], folder: Path, take_place: Callable[[], None]) -> None:
        self.folder, self.take_place = folder, take_place
        self._environ = {**os.environ, **environ}

    def manage(self, *command: str, witness: Path) -> str:
        """Run a command of the console on it, with another witness file, and return what it says. Raises: Failed."""
        done = subprocess.run(
            [sys.executable, str(settings.BASE_DIR / "manage.py"), *command],
            env={**self._environ, "HUQAN_WITNESS_FILE": str(witness.absolute())},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise Failed(f"{command[0]} fails on the copy:\n{done.stdout}{done.stderr[-2000:]}")
        return done.stdout

    def verify(self, witness: Path) -> None:
        """Walk its log, with the witness file of its time. Raises: Failed, naming the first fault."""
        self.manage("verify_audit", witness=witness)


@contextmanager
def unpacked(copy: Path, witness: Path) -> Iterator[Draft]:
    """Unpack a copy beside the database for the block, and bring its tables to this version.

    Raises: Failed, OSError.
    """
    with (_sqlite if connection.vendor == "sqlite" else _postgresql)(copy) as draft:
        # The checks ask for what only migrate gives: an archive holds no rights.
        draft.manage("migrate", "--verbosity", "0", "--no-input", "--skip-checks", witness=witness)
        yield draft


@contextmanager
def _new_folder(beside: Path) -> Iterator[Path]:
    """For texts too, so nobody else reads in it, and nothing of it stays; what a kill has left goes first."""
    folder = beside.with_name(f"{beside.name}.restoring")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _sqlite(copy: Path) -> Iterator[Draft]:
    database = Path(settings.DATABASES["default"]["NAME"])
    with _new_folder(database) as folder:
        path = folder / database.name
        shutil.copyfile(copy, path)
        path.chmod(0o600)
        yield stored(path)


def stored(path: Path) -> Draft:
    """An SQLite database where it lies."""
    environ = {"HUQAN_DATABASE_URL": f"sqlite:///{path.absolute()}"}
    return Draft(environ, path.parent, partial(_rename, path))


def _rename(path: Path) -> None:
    database = Path(settings.DATABASES["default"]["NAME"])
    connection.close()
    _fold(path)
    _give_up(database)
    os.replace(path, database)


def _fold(database: Path) -> None:
    """Take what lies beside a file into it. Raises: Failed, where somebody has it open; sqlite3.Error."""
    with closing(sqlite3.connect(database)) as alone:
        (mode,) = alone.execute("PRAGMA journal_mode=DELETE").fetchone()
    if mode != "delete":
        raise Failed(f"Somebody has {database} open. Stop the console first.")


def _give_up(database: Path) -> None:
    """Leave nothing beside the file that would be read into the next one, and nothing of it unfolded until then."""
    try:
        if database.exists():
            _fold(database)
    except sqlite3.OperationalError as error:
        raise Failed(f"Somebody has {database} open ({error}). Stop the console first.") from error
    except sqlite3.DatabaseError:
        pass  # it cannot be read, which may be why it is given up
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)


@contextmanager
def _postgresql(copy: Path) -> Iterator[Draft]:
    with _new_folder(settings.HUQAN_DATA_DIR / "database") as folder, postgresql.empty_database() as name:
        postgresql.run("pg_restore", "--no-owner", "--no-privileges", "--exit-on-error", copy, database=name)
        yield Draft(postgresql.environ_of(name), folder, partial(postgresql.replace_by, name, folder))
