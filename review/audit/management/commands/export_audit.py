from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from review.audit import bundle
from review.audit.actions import Action
from review.audit.actors import SYSTEM
from review.audit.export import lines
from review.audit.log import record
from review.audit.queries import EVERYTHING
from review.audit.refusals import Unavailable
from review.audit.transaction import write


class Command(BaseCommand):
    help = (
        "Write the whole log, one canonical entry a line; the export itself is its last entry. "
        "A file that ends with .zip gets all that it takes to check it, too."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="where to; standard output without it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with write():
                entry = record(Action.AUDIT_EXPORTED, actor=SYSTEM)
        except Unavailable as refusal:
            raise CommandError(refusal.detail) from None
        stop = entry.seq + 1
        if options["file"] is None:
            for line in _lines(stop):
                self.stdout.write(line, ending="")
            return
        try:
            _save(options["file"], stop)
        except OSError as error:
            raise CommandError(f"The file {options['file']} cannot be written: {error.strerror}.") from None


def _lines(stop: int) -> Iterator[str]:
    return (f"{line}\n" for line in lines(None, stop=stop))


def _save(file: Path, stop: int) -> None:
    """Write the log up to entry `stop` as the name of `file` asks. Raises: OSError."""
    blocks = (
        bundle.zipped(bundle.parts(None, EVERYTHING, stop=stop))
        if file.suffix == ".zip"
        else (line.encode() for line in _lines(stop))
    )
    with file.open("wb") as opened:
        opened.writelines(blocks)
