from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from review.audit.actions import Action
from review.audit.actors import SYSTEM
from review.audit.export import lines
from review.audit.log import record
from review.audit.refusals import Unavailable
from review.audit.transaction import write


class Command(BaseCommand):
    help = "Write the whole log, one canonical entry a line; the export itself is its last entry."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="where to; standard output without it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with write():
                entry = record(Action.AUDIT_EXPORTED, actor=SYSTEM)
        except Unavailable as refusal:
            raise CommandError(refusal.detail) from None
        exported = (f"{line}\n" for line in lines(None, stop=entry.seq + 1))
        if options["file"] is None:
            for line in exported:
                self.stdout.write(line, ending="")
            return
        try:
            with options["file"].open("w", encoding="utf-8") as file:
                file.writelines(exported)
        except OSError as error:
            raise CommandError(f"The file {options['file']} cannot be written: {error.strerror}.") from None
