"""Backups: one consistent copy of the database in a folder of its own, verified after it was written.

The keys folder is not in it: who has a backup alone can sign nothing and guess no rejected value. Keep it elsewhere.
The witness file and `withdrawn.jsonl` are copied too, for a machine that has lost its own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.utils import timezone

from huqan_site import __version__
from huqan_site.lib.signed_note import BadNote
from review.audit import attest, checkpoints, withdrawn, witness
from review.audit.chain import stamp
from review.audit.models import Head

MANIFEST = "manifest.json.note"
COPIES = {"sqlite": "huqan.sqlite3", "postgresql": "huqan.pgdump"}
WITNESS, WITHDRAWN = "witness.txt", "withdrawn.jsonl"


class Failed(Exception):
    """A backup or a restore that came to nothing, with a sentence that says why and what to do."""


class Backup(NamedTuple):
    """What a backup is of: the log's size in it, and the SHA-256 of the copy."""

    size: int
    digest: str


def make(folder: Path) -> Backup:
    """Copy the database into `folder`, which must not hold anything, verify the copy, and say what it is of.

    Writers are not kept waiting. Raises: Failed; nothing is left in the folder then.
    """
    if folder.exists() and any(folder.iterdir()):
        raise Failed(f"{folder} holds something already. Name a new folder for each backup.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _make(folder)
    except (OSError, sqlite3.Error) as error:
        _empty(folder)
        raise Failed(f"No backup was made: {error}.") from error
    except Failed:
        _empty(folder)
        raise


def _make(folder: Path) -> Backup:
    _copy_beside(folder)  # before the database, so that the copy holds all that the witness vouches for
    copy = folder / COPIES[connection.vendor]
    size = Head.objects.values_list("size", flat=True).get()
    (_copy_sqlite if connection.vendor == "sqlite" else _dump)(copy)
    copy.chmod(0o600)
    check(copy, folder / WITNESS)
    made = Backup(size, digest_of(copy))
    statement = {
        "v": 1,
        "kind": "huqan.backup",
        "made_at": stamp(timezone.now()),
        "log": settings.HUQAN_LOG_NAME,
        "entries_at_least": made.size,
        "database": copy.name,
        "sha256": made.digest,
        "version": __version__,
    }
    (folder / MANIFEST).write_text(attest.attest(statement), encoding="utf-8")
    return made


def _copy_beside(folder: Path) -> None:
    for path, name in ((witness.path(), WITNESS), (withdrawn.path(), WITHDRAWN)):
        if path.exists():
            shutil.copyfile(path, folder / name)


def _copy_sqlite(copy: Path) -> None:
    """All pages in one step, so of one moment: in write-ahead mode that keeps nobody from writing."""
    with (
        closing(sqlite3.connect(settings.DATABASES["default"]["NAME"])) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)


def _dump(copy: Path) -> None:
    run_postgresql(["pg_dump", "--format=custom", "--no-owner", f"--file={copy}"])


def check(copy: Path, beside: Path) -> None:
    """Walk the log of a copy, with the witness file of its time. Raises: Failed, naming the first fault."""
    if copy.name == COPIES["postgresql"]:
        run_postgresql(["pg_restore", "--list", str(copy)], connect=False)
        return
    environ = {
        **os.environ,
        "HUQAN_DATABASE_URL": f"sqlite:///{copy.absolute()}",
        "HUQAN_WITNESS_FILE": str(beside.absolute()),
    }
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "verify_audit"]
    walked = subprocess.run(command, env=environ, capture_output=True, text=True)
    if walked.returncode != 0:
        raise Failed(f"The copy does not verify:\n{walked.stdout}{walked.stderr}")


def manifest(folder: Path) -> Mapping[str, Any]:
    """Return what the manifest of a backup states, once signature and digest hold. Raises: Failed."""
    try:
        note = (folder / MANIFEST).read_text(encoding="utf-8")
        stated = attest.read(note, log=settings.HUQAN_LOG_NAME, keys=checkpoints.public_keys().values())
        copy = folder / str(stated["database"])
        found = digest_of(copy)
    except (OSError, KeyError, BadNote, ValueError) as error:
        raise Failed(
            f"{folder} is no backup that this console's log key has signed: {error} "
            "Put the keys folder of its time in place, or name another folder."
        ) from error
    if found != stated["sha256"]:
        raise Failed(f"{copy} is not the file that was backed up. Use another backup.")
    if copy.name != COPIES[connection.vendor]:
        raise Failed(f"{copy} is of another engine than HUQAN_DATABASE_URL names.")
    return stated


def put_back(folder: Path, copy: Path) -> None:
    """Put the copy in the place of the database, and beside it what this machine has lost. Raises: Failed, OSError."""
    for path, name in ((witness.path(), WITNESS), (withdrawn.path(), WITHDRAWN)):
        if not path.exists() and (folder / name).exists():
            shutil.copyfile(folder / name, path)
    connection.close()
    if connection.vendor == "sqlite":
        _replace(copy, Path(settings.DATABASES["default"]["NAME"]))
    else:
        run_postgresql(
            ["pg_restore", "--clean", "--if-exists", "--no-owner", "--single-transaction", str(copy)]
        )


def _replace(copy: Path, database: Path) -> None:
    """The file appears whole or not at all; the logs beside it are of the one that goes."""
    draft = database.with_name(f"{database.name}.restoring")
    shutil.copyfile(copy, draft)
    draft.chmod(0o600)
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    os.replace(draft, database)


def run_postgresql(command: list[str], *, connect: bool = True) -> None:
    """Run a program of PostgreSQL's on the database, as the role that owns it. Raises: Failed."""
    place = settings.HUQAN_DATABASE_OWNER or settings.DATABASES["default"]
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD"}
    given = {name: str(place[key]) for name, key in names.items() if place.get(key)}
    database = str(connection.settings_dict["NAME"])
    target = [f"--dbname={database}"] if connect else []
    try:
        done = subprocess.run(
            [command[0], *target, *command[1:]],
            env={**os.environ, **given},
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise Failed(f"{command[0]} is not installed here. Install PostgreSQL's client programs.") from None
    if done.returncode != 0:
        raise Failed(f"{command[0]} failed: {done.stderr.strip()[-1000:]}")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _empty(folder: Path) -> None:
    for name in (*COPIES.values(), MANIFEST, WITNESS, WITHDRAWN):
        (folder / name).unlink(missing_ok=True)
