"""The log as one zip for an auditor who trusts neither us nor our database: entries, checkpoints, keys, the checker.

It is made piece by piece while it is sent: nothing of it is held in memory or on the disk.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

from django.conf import settings

from review.audit import checkpoints, export
from review.audit.models import Checkpoint
from review.audit.queries import Filters, Scope
from review.audit.stretches import every

VERIFIER = Path(settings.BASE_DIR) / "docs" / "log_verifier.py"
BLOCK = 64 * 1024  # bytes of the zip that are sent at once

README = """\
The audit log of the Huqan review console, and what it takes to check it.

  entries.jsonl     One entry a line, every entry of the log in its order. What the reader of this export may not see,
                    or did not ask for, is there as its place and its hash (seq, leaf): the whole chain can be checked.
  private.jsonl     What people wrote for the entries that are whole, with the salt by which the entry commits to it.
                    An erased text has neither; its entry still verifies.
  checkpoints.txt   The signed heads of the log (signed notes as in https://c2sp.org/tlog-checkpoint), oldest first.
  keys.txt          The public keys that signed them, oldest first.
  log_verifier.py   Checks all of this. It is one file and needs Python 3.9 or later and `cryptography`, nothing else.

Check it in this folder, or give it the zip:

  python log_verifier.py .

It exits with 0 where everything is as it was when it was signed, with 1 at a fault, and with 2 where that cannot be
judged. Keys and checkpoints that come with an export are only as good as its sender: ask for the keys some other way
(--key) and hold the export against the checkpoints that were sent to you or kept outside the database (--checkpoints).
"""


class Part(NamedTuple):
    """A file of the bundle: its name and its text, piece by piece."""

    name: str
    texts: Iterable[str]


def parts(scope: Scope | None, filters: Filters, *, stop: int) -> Iterator[Part]:
    """Yield the files about the first `stop` entries, as far as the reader may see them; without a scope whole."""
    yield Part("README.txt", [README])
    yield Part("log_verifier.py", [VERIFIER.read_text(encoding="utf-8")])
    yield Part("keys.txt", _lines(checkpoints.verifier_keys()))
    yield Part("checkpoints.txt", _notes(stop))
    yield Part("entries.jsonl", _lines(export.lines(scope, filters, stop=stop)))
    yield Part("private.jsonl", _lines(export.texts(scope, filters, stop=stop)))


def zipped(files: Iterable[Part]) -> Iterator[bytes]:
    """Yield the bytes of a zip of `files` as they are made."""
    sink = _Sink()
    with ZipFile(sink, "w", ZIP_DEFLATED) as archive:
        for name, texts in files:
            with archive.open(name, "w", force_zip64=True) as file:
                for text in texts:
                    file.write(text.encode())
                    if sink.waiting >= BLOCK:
                        yield sink.taken()
    yield sink.taken()


def _lines(texts: Iterable[str]) -> Iterator[str]:
    return (f"{text}\n" for text in texts)


def _notes(stop: int) -> Iterator[str]:
    """Every checkpoint of at most `stop` entries, a blank line between, as the witness file has them."""
    for place, row in enumerate(every(Checkpoint.objects.filter(size__lte=stop))):
        yield f"\n{row.note}" if place else row.note


class _Sink(io.RawIOBase):
    """What the zip is written into; it keeps only what was not taken yet, and nobody can go back in it."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []
        self.waiting = 0

    def writable(self) -> bool:
        return True

    def write(self, block: object) -> int:
        text = bytes(block)  # type: ignore[call-overload]
        self._kept.append(text)
        self.waiting += len(text)
        return len(text)

    def taken(self) -> bytes:
        """Return what is waiting, and keep it no more."""
        taken, self._kept, self.waiting = b"".join(self._kept), [], 0
        return taken
