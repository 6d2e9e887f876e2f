"""The witness file: every signed checkpoint once more, outside the database, a blank line between.

Whoever can rewrite the database can cut the end off the log; this file still says how long it was.
Notes are only ever appended, and only once the commit that holds them is durable.
"""

from __future__ import annotations

import logging
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import QuerySet

from review.audit import checkpoints
from review.audit.checkpoints import Statement
from review.audit.file_lock import locked
from review.audit.models import Checkpoint
from review.audit.proofs import frontier_at
from review.audit.refusals import Unavailable
from review.audit.statements import prepared

logger = logging.getLogger(__name__)

_WHOLE = re.compile(
    r"[^\n]+\n(?P<size>[1-9][0-9]*)\n[A-Za-z0-9+/]{43}=\n(?:adopted [0-9]+ [0-9a-f]{64}\n)?"
    r"\n(?:— [^\s+]+ [A-Za-z0-9+/]+={0,2}\n)+"
)
_TAIL = 1024  # bytes; a note has about 250


class Standing(Enum):
    """How the log stands to the witness file."""

    AGREES = "agrees"
    DISPUTED = "disputed"  # the file knows a longer log, or another


class LastNote(NamedTuple):
    """The last whole note of the file and the size of log it is for; 0 and nothing where there is no file.

    Where a file holds no whole note, 0 and what it holds: it said something once, and nobody knows what.
    """

    size: int = 0
    note: str = ""


def path() -> Path:
    """Where the file is."""
    return Path(settings.HUQAN_WITNESS_FILE)


def notes() -> Iterator[LastNote]:
    """Every whole note, in the order of the file. What a crash cut short is passed over. Raises: OSError."""
    with path().open(encoding="utf-8", errors="replace", newline="\n") as file:
        yield from _whole_notes(file)


def _whole_notes(lines: Iterable[str]) -> Iterator[LastNote]:
    body = ""
    for paragraph in _paragraphs(lines):
        whole = _WHOLE.fullmatch(f"{body}\n{paragraph}")
        if whole:
            yield LastNote(int(whole["size"]), whole[0])
        body = paragraph


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    paragraph: list[str] = []
    for line in lines:
        if line == "\n" and paragraph:
            yield "".join(paragraph)
            paragraph = []
        elif line != "\n":
            paragraph.append(line)
    if paragraph:
        yield "".join(paragraph)


_seen: tuple[tuple[str, int, int, int], LastNote] | None = None  # the file as it was when last read


def last_note() -> LastNote:
    """The last whole note. The file is read again only after it has changed. Raises: OSError."""
    global _seen
    try:
        stat = path().stat()
    except FileNotFoundError:
        return LastNote()
    as_it_is = (str(path()), stat.st_ino, stat.st_size, stat.st_mtime_ns)
    if _seen is None or _seen[0] != as_it_is:
        if _seen and _seen[0][:2] != as_it_is[:2]:
            compare_again()
        _seen = (as_it_is, _read_last(stat.st_size))
    return _seen[1]


def _read_last(size: int) -> LastNote:
    start = max(0, size - _TAIL)
    with path().open("rb") as file:
        file.seek(start)
        tail = file.read().decode("utf-8", errors="replace")
    if start:  # in the middle of a note, which would pass for a shorter one
        tail = tail[tail.find("\n\n") + 1 :]
    whole = list(_whole_notes(tail.splitlines(keepends=True)))
    return whole[-1] if whole else _read_further_back()


def _read_further_back() -> LastNote:
    """Look for the last note in the whole file, since whoever may append can fill its end with anything."""
    for last in deque(notes(), maxlen=1):
        return last
    return LastNote(note=path().read_text(encoding="utf-8", errors="replace"))


def standing() -> Standing:
    """Say how the log stands to the file, and change nothing. Raises: OSError; django.db.DatabaseError."""
    if connection.in_atomic_block:
        return Standing.AGREES
    last = last_note()
    return Standing.AGREES if _agree(last, _database(last.size)) else Standing.DISPUTED


def catch_up() -> Standing:
    """Say how the log stands to the file, and append what is committed and not yet in it.

    Raises: Unavailable where that cannot be appended.
    """
    if connection.in_atomic_block:  # not committed yet, so nothing may leave the database
        return Standing.AGREES
    try:
        # The file first: a note is committed before it gets there, so the database read afterwards has it.
        last = last_note()
        state = _database(last.size)
        agree = _agree(last, state)
        if not agree and not _is_given_up(last):
            return Standing.DISPUTED
        if not agree or state.newest > last.size:
            _append_committed()
    except OSError as error:
        logger.error("The witness file cannot be read or appended to: %s", error)
        raise Unavailable from error
    return Standing.AGREES


_compared = False  # whether this program has held the tree of the log against the file


def compare_again(**_: object) -> None:
    """Hold the tree of the log against the file at the next look: either may be another one by now."""
    global _compared
    _compared = False


def _agree(last: LastNote, state: _State) -> bool:
    """Whether the database holds the file's last note, the entries that it is over, and the same tree of them.

    The tree is looked at by each program that starts, and again where it opens the database anew or finds another
    file: from then on each checkpoint that is signed continues the one before.
    """
    global _compared
    if last.note and not last.size:
        return _is_begun()
    if last.size and (state.note != last.note or state.size < last.size):
        return False
    if last.size and not _compared:
        _compared = holds(last)
        return _compared
    return True


def _is_begun() -> bool:
    """Whether the file holds the beginning of the very first note, which a crash cut short."""
    first = Checkpoint.objects.order_by("size").first()
    return bool(first and first.note.encode().startswith(path().read_bytes()))


def holds(note: LastNote) -> bool:
    """Whether the tree of the log has the root that `note` states."""
    try:
        return frontier_at(note.size).root() == Statement.read(note.note).root.hash
    except ValueError:
        return False


def _missing(last: LastNote) -> list[str]:
    """The notes that are committed and not in the file yet."""
    newest = checkpoints.newest()
    return [newest.note] if newest and _gives_up(newest, last) else _notes_after(last.size)


def _is_given_up(last: LastNote) -> bool:
    """Whether people adopted the log in place of the one that `last` is over, which the file does not know yet."""
    newest = checkpoints.newest()
    return newest is not None and _gives_up(newest, last)


def _gives_up(newest: Checkpoint, last: LastNote) -> bool:
    adopted = Statement.read(newest.note).adopted
    return bool(adopted and adopted.gives_up(last.note))


@prepared
def _notes_after(size: int) -> QuerySet[Checkpoint, str]:
    return Checkpoint.objects.filter(size__gt=size).order_by("size").values_list("note", flat=True)


def publish() -> None:
    """Append what was just committed. Never raises: the commit stands, and the next write() will say so."""
    try:
        catch_up()
    except (Unavailable, DatabaseError):
        logger.exception("A committed checkpoint is not in the witness file yet.")


class _State(NamedTuple):
    size: int  # of the log
    newest: int  # size of the newest checkpoint
    note: str | None  # the checkpoint of the size asked for


def _database(size: int) -> _State:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT size FROM audit_head), (SELECT MAX(size) FROM audit_checkpoint),"
            " (SELECT note FROM audit_checkpoint WHERE size = %s)",
            [size],
        )
        entries, newest, note = cursor.fetchone()
    return _State(entries or 0, newest or 0, note)


def _append_committed() -> None:
    path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(path()) as descriptor:
        size = os.fstat(descriptor).st_size
        last = _read_last(size)
        if text := "\n".join(_missing(last)):
            _append(descriptor, (_separator(descriptor, size) + text).encode())


def _separator(descriptor: int, size: int) -> str:
    """What parts the next note from what stands: a blank line, after closing what a crash cut short."""
    if not size:
        return ""
    return "\n" if os.pread(descriptor, 1, size - 1) == b"\n" else " (cut short)\n\n"


def _append(descriptor: int, text: bytes) -> None:
    """Write without waiting for the disk: what a power cut takes is in the database and appended again."""
    if os.write(descriptor, text) < len(text):
        raise OSError("The disk of the witness file is full.")
