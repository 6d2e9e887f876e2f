"""`manage.py export_memory [FILE]`: what agents can recall, one memory a line."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from huqan_site.lib.problems import Refusal
from memory.gateway.take_out import Export, take_out
from review.access import queries as access
from review.access.actors import SystemActor
from review.access.models import Workspace


class Command(BaseCommand):
    """What is held stays unless --held asks for it; what holds a secret always stays."""

    help = "Write the memories that agents can recall, one JSON object a line; import_memory reads them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="where to; standard output without it")
        parser.add_argument("--workspace", metavar="NAME", help="of one workspace; of all without it")
        parser.add_argument("--held", action="store_true", help="also what is in quarantine, and says so")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises: CommandError with the sentence of the refusal."""
        try:
            exports = [
                take_out(workspace, by=SystemActor(), and_held=options["held"])
                for workspace in _workspaces(options["workspace"])
            ]
        except Refusal as refusal:
            raise CommandError(refusal.detail) from refusal
        self._write(options["file"], "".join(f"{line}\n" for export in exports for line in export.lines))
        self._say(exports)

    def _write(self, file: Path | None, text: str) -> None:
        if file is None:
            self.stdout.write(text, ending="")
            return
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"The file {file} cannot be written: {error.strerror}.") from None

    def _say(self, exports: Sequence[Export]) -> None:
        """Say on standard error, since the lines may be on the other one."""
        self.stderr.write(f"{sum(len(export.lines) for export in exports)} memories are exported.")
        if left_out := sum(export.left_out for export in exports):
            self.stderr.write(f"{left_out} are not: a secret stands in each.")


def _workspaces(name: str | None) -> list[Workspace]:
    if name is None:
        return access.all_workspaces()
    if (found := access.workspace(name)) is None:
        raise CommandError(f"There is no workspace {name}.")
    return [found]
