"""PostgreSQL's own programs, and databases of their own for what nobody uses yet: both as the role that owns."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg.conninfo import make_conninfo

from huqan_site.failed import Failed
from huqan_site.owner import owner
from review.audit.grants import CACHE

_NAMES = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD"}
_URLS = ("HUQAN_DATABASE_URL", "HUQAN_DATABASE_OWNER_URL")


def run(program: str, *words: str | Path, database: str | None = None) -> None:
    """Run a program of PostgreSQL's on a database of our server, on ours where none is named. Raises: Failed."""
    place = settings.HUQAN_DATABASE_OWNER or settings.DATABASES["default"]
    given = {name: str(place[key]) for name, key in _NAMES.items() if place.get(key)}
    command = [program, f"--dbname={_target(place, database or str(place['NAME']))}", *map(str, words)]
    try:
        done = subprocess.run(command, env={**os.environ, **given}, capture_output=True, text=True)
    except FileNotFoundError:
        raise Failed(f"{program} is not installed here. Install PostgreSQL's client programs.") from None
    if done.returncode != 0:
        raise Failed(f"{program} failed: {done.stderr.strip()[-1000:]}{_hint()}")


def _target(place: Mapping[str, Any], database: str) -> str:
    """What the URL says of how to connect, but for the limits that the server works under."""
    options = {name: value for name, value in place["OPTIONS"].items() if name != "options"}
    return str(make_conninfo(dbname=database, **options))


@contextmanager
def empty_database() -> Iterator[str]:
    """Make an empty database beside ours for the block, and yield its name.

    One that a kill has left is taken away first. Raises: Failed, where the role may not, or somebody works in it.
    """
    name = f"{connection.settings_dict['NAME']}_restoring"
    quoted = connection.ops.quote_name(name)
    _say(f"DROP DATABASE IF EXISTS {quoted}")
    _say(f"CREATE DATABASE {quoted} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
    try:
        yield name
    finally:
        _say(f"DROP DATABASE IF EXISTS {quoted} WITH (FORCE)")


def _say(statement: str) -> None:
    try:
        with owner(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError as error:
        raise Failed(
            f"A copy is looked at in a database of its own, and that cannot be had: {str(error).strip()}. "
            f"Its role may need ALTER ROLE … CREATEDB.{_hint()}"
        ) from error


def _hint() -> str:
    return "" if settings.HUQAN_DATABASE_OWNER else " Name the role that owns it in HUQAN_DATABASE_OWNER_URL."


def environ_of(database: str) -> dict[str, str]:
    """Return what the environment has to say for a command of the console to work at `database` of our server."""
    return {
        name: urlsplit(os.environ[name])._replace(path=f"/{quote(database, safe='')}").geturl()
        for name in _URLS
        if os.environ.get(name)
    }


def replace_by(database: str, folder: Path) -> None:
    """Put the tables of `database` in the place of ours, all at once or not at all, by way of files in `folder`.

    Raises: Failed.
    """
    connection.close()
    with owner():
        _refuse_while_served()
        drop = folder / "drop.sql"
        drop.write_text(_drop())
    script = folder / "tables.sql"
    run("pg_dump", "--clean", "--if-exists", "--no-owner", f"--file={script}", database=database)
    words = ("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1")
    run("psql", *words, f"--file={drop}", f"--file={script}")


def _refuse_while_served() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename = %s AND pid <> pg_backend_pid()",
            [settings.DATABASES["default"]["USER"]],
        )
        (others,) = cursor.fetchone()
    if others:
        raise Failed("Somebody is connected to the database. Stop the console first.")


def _drop() -> str:
    """The tables of this version as they may stand here: the copy may lack some that point to others."""
    names = [
        *connection.introspection.django_table_names(),
        MigrationRecorder.Migration._meta.db_table,
        CACHE,
    ]
    tables = ", ".join(connection.ops.quote_name(name) for name in names)
    return f"SET lock_timeout = '10s';\nDROP TABLE IF EXISTS {tables} CASCADE;\n"
