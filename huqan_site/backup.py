"""Backups: one consistent copy of the database in a folder of its own, verified after it was written.

The keys folder is not in it: who has a backup alone can sign nothing and guess no rejected value. Keep it elsewhere.
Neither are sessions, so that nobody is signed in by a copy.
The witness file and `withdrawn.jsonl` are copied too, for a machine that has lost its own.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from huqan_site import __version__, postgresql
from huqan_site.draft import stored, unpacked
from huqan_site.failed import Failed
from huqan_site.lib.signed_note import BadNote
from review.audit import attest, checkpoints, withdrawn, witness
from review.audit.chain import stamp
from review.audit.models import Head

MANIFEST = "manifest.json.note"
COPIES = {"sqlite": "huqan.sqlite3", "postgresql": "huqan.pgdump"}
SESSIONS = Session._meta.db_table
WITNESS, WITHDRAWN = "witness.txt", "withdrawn.jsonl"


class Backup(NamedTuple):
    """What a backup is of: the log's size in it, and the SHA-256 of the copy."""

    size: int
    digest: str


def make(folder: Path) -> Backup:
    """Copy the database into `folder`, which must not hold anything, verify the copy, and say what it is of.

    Writers are not kept waiting. Raises: Failed; nothing is left in the folder then.
    """
    if folder.is_file() or (folder.exists() and any(folder.iterdir())):
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
    _verify(copy, folder / WITNESS)
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
    for path, name in _pairs():
        if path.exists():
            shutil.copyfile(path, folder / name)


def _copy_sqlite(copy: Path) -> None:
    """All pages in one step, so of one moment: in write-ahead mode that keeps nobody from writing."""
    with (
        closing(sqlite3.connect(settings.DATABASES["default"]["NAME"])) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
        target.execute("PRAGMA secure_delete=ON")
        target.execute(f"DELETE FROM {SESSIONS}")
        target.commit()


def _dump(copy: Path) -> None:
    sessions = f"--exclude-table-data={SESSIONS}"
    postgresql.run("pg_dump", "--format=custom", "--no-owner", sessions, f"--file={copy}")


def _verify(copy: Path, beside: Path) -> None:
    """Walk the log of the copy that was written. An archive has to be unpacked for it. Raises: Failed."""
    if connection.vendor == "sqlite":
        stored(copy).verify(beside)
        return
    with unpacked(copy, beside) as draft:
        draft.verify(beside)


def restore(folder: Path) -> str:
    """Put the backup of `folder` in the place of the database, and return what that ended and put in force again.

    It is verified, and what was withdrawn since is in force in it, before it takes the place of what is there.
    Raises: Failed, OSError; the database is as it was then.
    """
    stated = manifest(folder)
    with unpacked(folder / stated["database"], folder / WITNESS) as draft:
        draft.verify(folder / WITNESS)
        _put_beside(folder, draft.folder)
        ended = draft.manage("after_restore", stated["sha256"], witness=draft.folder / WITNESS)
        draft.take_place()
    _keep_what_was_lost(folder)
    return f"Restored, as of {stated['made_at']}. {ended.strip()}"


def _put_beside(folder: Path, draft: Path) -> None:
    """This machine knows more than the backup; where it has lost its own, the backup's are all there is."""
    for path, name in _pairs():
        known = path if path.exists() else folder / name
        if known.exists():
            shutil.copyfile(known, draft / name)


def _keep_what_was_lost(folder: Path) -> None:
    for path, name in _pairs():
        if not path.exists() and (folder / name).exists():
            shutil.copyfile(folder / name, path)
    witness.publish()
    withdrawn.catch_up()


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


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pairs() -> tuple[tuple[Path, str], ...]:
    """The files outside the database, and what they are called in a backup."""
    return (witness.path(), WITNESS), (withdrawn.path(), WITHDRAWN)


def _empty(folder: Path) -> None:
    for name in (*COPIES.values(), MANIFEST, WITNESS, WITHDRAWN):
        (folder / name).unlink(missing_ok=True)
