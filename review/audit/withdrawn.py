"""`withdrawn.jsonl`: what was rejected, erased or revoked, once more outside the database, beside the witness file.

A database that is put back from an older copy has forgotten the latest of it; this file has not. One line of
canonical JSON each: `{v, what, id, time, …}` in ids, times and keyed digests, never a text. Lines are only ever
appended, and only once the commit that holds what they tell is durable. Of several about one thing the last counts.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from huqan_site.lib.canonical_json import canonical
from review.audit import transaction
from review.audit.actions import Action
from review.audit.file_lock import locked

logger = logging.getLogger(__name__)

Line = Mapping[str, Any]

#: What has a line in the file.
WITHDRAWING = frozenset(
    {
        Action.TOMBSTONE_CREATED,
        Action.TOMBSTONE_LIFTED,
        Action.MEMORY_ERASED,
        Action.TOKEN_REVOKED,
        Action.PERSON_DISABLED,
        Action.ACCOUNT_LINKED,
        Action.MEMBERSHIP_REVOKED,
        Action.AGENT_STOPPED,
        Action.AGENT_RESUMED,
    }
)


class Source(NamedTuple):
    """What one app has withdrawn: `lines` tells it as the database has it, `enforce` puts a line in force again.

    `enforce` joins the open write(), records what it does and returns whether anything had to be done.
    """

    lines: Callable[[], Iterator[Line]]
    enforce: Callable[[Line], bool]


_sources: dict[str, Source] = {}


def register(what: str, lines: Callable[[], Iterator[Line]], enforce: Callable[[Line], bool]) -> None:
    """Have the lines that say `what` kept. Call it once, when the app is ready."""
    _sources[what] = Source(lines, enforce)


def path() -> Path:
    """Where the file is."""
    return Path(settings.HUQAN_WITNESS_FILE).with_name("withdrawn.jsonl")


def lines() -> Iterator[dict[str, Any]]:
    """Yield every whole line of the file; what a crash cut short is passed over. Raises: OSError."""
    with path().open(encoding="utf-8", errors="replace", newline="\n") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if isinstance(line, dict) and {"what", "id"} <= line.keys():
                yield line


def catch_up() -> None:
    """Append all that is withdrawn, committed and not yet in the file.

    Never raises: the commit stands, and the next call appends what this one could not.
    """
    try:
        with locked(path()) as descriptor:
            told = _last(lines())
            new = [line for key, line in _last(_in_force()).items() if _is_news(line, told.get(key))]
            _append(descriptor, new)
    except OSError as error:
        logger.error("What was withdrawn is not in %s yet: %s", path().name, error)


def enforce() -> int:
    """Put in force again what the file tells and the database has forgotten, and return how much that was.

    Each has its entry. For the start and after a restore, before anybody reads. Raises: Unavailable, OSError.
    """
    if not path().exists():
        return 0
    known = _last(_in_force())
    forgotten = [line for key, line in _last(lines()).items() if known.get(key) != line]
    due = [line for line in forgotten if line["what"] in _sources]
    if not due:
        return 0
    with transaction.write():
        return sum(_sources[str(line["what"])].enforce(line) for line in due)


def _in_force() -> Iterator[Line]:
    for source in _sources.values():
        yield from source.lines()


def _is_news(line: Line, told: Line | None) -> bool:
    """An older copy of the database does not know better than the file."""
    return told is None or (told != line and str(told.get("time")) <= str(line["time"]))


def _last(told: Iterable[Line]) -> dict[tuple[str, str], Line]:
    return {(line["what"], line["id"]): line for line in told}


def _append(descriptor: int, new: list[Line]) -> None:
    text = "".join(canonical(dict(line)) + "\n" for line in new).encode()
    if not text:
        return
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        text = b"\n" + text  # what a crash cut short stays a line of its own
    if os.write(descriptor, text) < len(text):
        raise OSError("The disk is full.")
    os.fsync(descriptor)
