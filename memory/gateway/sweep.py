"""After an erasure: the bytes leave the files, and then it is looked whether they are gone.

A row that was emptied leaves its old text in the free parts of the file and in the write-ahead log. On SQLite the
file is written anew and the log is folded in; on PostgreSQL that is VACUUM's, which its owner runs.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from memory.domain.fragments import fragments, spellings
from memory.models import Erasure
from review.access.actors import SystemActor
from review.audit import log, transaction
from review.audit.actions import Action
from review.audit.refusals import Unavailable

logger = logging.getLogger(__name__)
CONSOLE = SystemActor()
AT_ONCE = 1 << 20  # bytes of a file that are looked at together


def sweep_after(erasure: UUID, contents: Collection[str]) -> None:
    """Have the bytes of `contents` swept away once the open write() is committed, and looked for."""

    def sweep() -> None:
        _sweep(erasure, contents)

    transaction.afterwards(sweep)


def sweep_due() -> int:
    """Sweep after each erasure after which nobody has, and return how many: a server was stopped meanwhile.

    Their texts are not known any more, so nothing is looked for.
    """
    due = list(Erasure.objects.filter(swept_at__isnull=True).values_list("id", flat=True))
    return sum(_sweep(erasure, ()) for erasure in due)


def _sweep(erasure: UUID, contents: Collection[str]) -> bool:
    """Never raises: what was erased is, and the worker sweeps again."""
    if connection.in_atomic_block:
        return False
    try:
        if not clean_files():
            return False
        _note(erasure, scan(contents))
    except (DatabaseError, Unavailable, OSError):
        logger.exception(
            "The bytes of erasure %s may still be in the files; the worker tries again.", erasure
        )
        return False
    return True


def clean_files() -> bool:
    """Write the SQLite file anew, without what was erased, and empty its write-ahead log.

    Return whether that is done: somebody who still reads what was keeps the log as long as he does.
    Raises: Unavailable, DatabaseError.
    """
    if connection.vendor != "sqlite":
        return True
    with transaction.alone(settings.HUQAN_WRITE_WAIT_SECONDS), connection.cursor() as cursor:
        cursor.execute("VACUUM")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        busy, *_ = cursor.fetchone()
    return not busy


def _note(erasure: UUID, found: dict[str, Any]) -> None:
    with transaction.write():
        row = Erasure.objects.select_for_update().filter(id=erasure, swept_at__isnull=True).first()
        if row is None:
            return
        row.scan, row.swept_at = found, timezone.now()
        row.save(update_fields=["scan", "swept_at"])
        log.record(
            Action.MEMORY_ERASED,
            actor=CONSOLE.audit(),
            workspace=row.workspace_id,
            object=log.ObjectRef("erasure", row.id),
            after={"searched_for": found["pieces"], "still_in": len(found["still_in"])},
            proposal=row.id,
        )


def scan(contents: Collection[str]) -> dict[str, Any]:
    """Look for pieces of `contents` in every file of the console, on PostgreSQL in every row of every table.

    Return `{texts, pieces, places, still_in}`: how many texts and pieces of them were looked for, in how many files
    and tables, and the names of those in which one is. Raises: OSError, DatabaseError.
    """
    pieces = {piece for content in contents for piece in fragments(content)}
    places = {**_files(), **(_tables() if connection.vendor == "postgresql" else {})}
    return {
        "texts": len(contents),
        "pieces": len(pieces),
        "places": sorted(places),
        "still_in": sorted(name for name, holds in places.items() if pieces and holds(pieces)),
    }


def _files() -> dict[str, Any]:
    folder = Path(settings.HUQAN_DATA_DIR)
    beside = {
        Path(settings.HUQAN_WITNESS_FILE),
        Path(settings.HUQAN_WITNESS_FILE).with_name("withdrawn.jsonl"),
    }
    paths = {path for path in folder.rglob("*") if path.is_file()} | {
        path for path in beside if path.is_file()
    }
    return {_named(path, folder): partial(_file_holds, path) for path in paths}


def _named(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name


def _file_holds(path: Path, pieces: Collection[str]) -> bool:
    wanted = {spelling for piece in pieces for spelling in spellings(piece)}
    return any(spelling in stretch for stretch in _stretches(path) for spelling in wanted)


def _stretches(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, each stretch with the end of the one before."""
    tail = b""
    with path.open("rb") as file:
        while stretch := file.read(AT_ONCE):
            yield tail + stretch
            tail = stretch[-1024:]


def _tables() -> dict[str, Any]:
    names = connection.introspection.table_names()
    return {f"table {name}": partial(_table_holds, name) for name in names}


def _table_holds(table: str, pieces: Collection[str]) -> bool:
    """Whether a row, written as text, has one of `pieces` in it, also as JSON escapes it."""
    wanted = sorted({spelling.decode() for piece in pieces for spelling in spellings(piece)})
    quoted = connection.ops.quote_name(table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT EXISTS (SELECT 1 FROM {quoted} t, unnest(%s::text[]) piece WHERE strpos(t::text, piece) > 0)",
            [wanted],
        )
        (found,) = cursor.fetchone()
    return bool(found)
