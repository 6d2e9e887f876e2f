"""`manage.py import_memory FILE --by USER`: what a file remembers becomes proposals that others decide."""

from __future__ import annotations

import hashlib
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from huqan_site.lib.problems import Refusal
from memory.domain.lines import Line, Unfit, read
from memory.gateway.bring_in import Became, Fate, File, bring_in
from memory.words import rests_on
from review.access import queries as access
from review.access.actors import PersonActor
from review.access.models import Workspace
from review.access.sessions import may_sign_in


class Command(BaseCommand):
    """Read the whole file first: a line that cannot be read keeps all of it out."""

    help = (
        "Propose what a file of memories (JSON Lines, as export_memory writes it) holds, in the name of a manager; "
        "others decide. Without --by the file is only checked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--by", metavar="USER", help="the manager who imports it; the log has his name")
        parser.add_argument("--workspace", metavar="NAME", help="where to, else where each line says")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises: CommandError with the sentence of the refusal."""
        file, lines = self._read(options["file"])
        parts = _by_workspace(lines, options["workspace"])
        if options["by"] is None:
            self.stdout.write(f"{len(lines)} lines can be read. To import them, say who does: --by USER.")
            return
        by = _actor(options["by"])
        for workspace, part in parts.items():
            try:
                self._bring_in(part, workspace, by, file)
            except Refusal as refusal:
                raise CommandError(refusal.detail) from refusal

    def _read(self, path: Path) -> tuple[File, list[Line]]:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CommandError(f"The file {path} cannot be read: {error.strerror}.") from None
        try:
            lines = read(content.splitlines())
        except Unfit as unfit:
            for fault in unfit.faults:
                place = f", {fault.pointer}" if fault.pointer else ""
                self.stderr.write(f"Line {fault.line}{place}: {fault.detail} ({fault.code})")
            raise CommandError(unfit.detail) from None
        return File(path.name, hashlib.sha256(content).hexdigest()), lines

    def _bring_in(self, lines: Sequence[Line], into: Workspace, by: PersonActor, file: File) -> None:
        done, fates = 0, Counter[Fate]()
        for became in bring_in(lines, into=into, by=by, file=file):
            done += len(became)
            fates.update(one.fate for one in became)
            self.stdout.write(f"{into.name}: {done} of {len(lines)} lines")
            self._say_not_taken(became)
        self.stdout.write(f"{into.name}: {', '.join(f'{fates[fate]} {fate.value}' for fate in Fate)}")

    def _say_not_taken(self, became: Iterable[Became]) -> None:
        for one in became:
            if one.rests_on:
                self.stderr.write(f"Line {one.line} waits: {rests_on(one.rests_on)}")
            if one.refusal:
                why = " ".join(error.detail for error in one.refusal.errors) or one.refusal.detail
                self.stderr.write(f"Line {one.line} is refused: {why} ({one.refusal.code})")


def _by_workspace(lines: Iterable[Line], chosen: str | None) -> dict[Workspace, list[Line]]:
    """Return the lines by where they go. Raises: CommandError for a line that says no workspace that is here."""
    parts: dict[str, list[Line]] = {}
    for line in lines:
        name = chosen or line.workspace
        if name is None:
            raise CommandError(f"Line {line.number} names no workspace. Say where to: --workspace NAME.")
        parts.setdefault(name, []).append(line)
    return {_workspace(name): part for name, part in parts.items()}


def _workspace(name: str) -> Workspace:
    if (found := access.workspace(name)) is None:
        raise CommandError(f"There is no workspace {name}. Say where to: --workspace NAME.")
    return found


def _actor(name: str) -> PersonActor:
    account = access.account(name)
    if account is None or not may_sign_in(account):
        raise CommandError(f"No active account is called {name}. The page People lists them.")
    return PersonActor(account.person, account, session="", methods=("command",))
