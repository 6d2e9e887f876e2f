"""`withdrawn.jsonl`: what was rejected, once more outside the database, beside the witness file.

A database that is put back from an older copy has forgotten its latest tombstones; this file has not.
One line of canonical JSON each, only ever appended, and only once the commit that holds it is durable.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from huqan_site.lib.canonical_json import JSON, canonical
from memory.models import Tombstone
from review.audit.file_lock import locked
from review.audit.stretches import every

logger = logging.getLogger(__name__)


def path() -> Path:
    """Where the file is."""
    return Path(settings.HUQAN_WITNESS_FILE).with_name("withdrawn.jsonl")


def catch_up() -> None:
    """Append every tombstone, and every lifting of one, that is committed and not yet in the file.

    Never raises: the commit stands, and the next call appends what this one could not.
    """
    try:
        with locked(path()) as descriptor:
            _append_missing(descriptor)
    except OSError as error:
        logger.error("A committed tombstone is not in %s yet: %s", path().name, error)


def lines() -> Iterator[dict[str, Any]]:
    """Yield every whole line of the file; what a crash cut short is passed over. Raises: OSError."""
    with path().open(encoding="utf-8", errors="replace", newline="\n") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def _append_missing(descriptor: int) -> None:
    known = {(line["what"], line["id"]) for line in lines()}
    told = (line for row in every(Tombstone.objects.all()) for line in _lines(row))
    text = "".join(canonical(line) + "\n" for line in told if (line["what"], line["id"]) not in known)
    if text:
        _append(descriptor, text.encode())


def _lines(tombstone: Tombstone) -> Iterator[dict[str, JSON]]:
    """That its value was rejected; and where it was, that this was lifted again."""
    value: dict[str, JSON] = {
        "v": 1,
        "id": str(tombstone.id),
        "workspace": str(tombstone.workspace_id),
        "value": tombstone.value_key,
        "value_key": tombstone.value_key_id,
    }
    yield value | {
        "what": "tombstone",
        "proposal": str(tombstone.proposal_id) if tombstone.proposal_id else None,
        "person": str(tombstone.person_id) if tombstone.person_id else None,
        "time": tombstone.created_at.isoformat(),
    }
    if tombstone.lifted_at is not None:
        yield value | {"what": "lifted", "time": tombstone.lifted_at.isoformat()}


def _append(descriptor: int, text: bytes) -> None:
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        text = b"\n" + text  # what a crash cut short stays a line of its own
    if os.write(descriptor, text) < len(text):
        raise OSError("The disk is full.")
    os.fsync(descriptor)
