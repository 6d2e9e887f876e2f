"""`manage.py restore FOLDER`: put a backup in the place of the database. Stop the console first."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from huqan_site import backup
from memory.gateway.sweep import clean_files
from review.access.actors import SystemActor
from review.audit import withdrawn
from review.audit.management.commands.verify_audit import in_words
from review.audit.refusals import Unavailable
from review.audit.verify import verify
from review.services.after_restore import end_what_was_open


class Command(BaseCommand):
    help = (
        "Put a backup in the place of the database: its log is checked, what was withdrawn since is put in force "
        "again, every session ends and every permit is void."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder that `backup` made")
        parser.add_argument("--replace", action="store_true", help="give up the database that is there")

    def handle(self, *args: Any, folder: Path, replace: bool, **options: Any) -> None:
        try:
            self._restore(folder, replace)
        except (backup.Failed, OSError) as failure:
            raise CommandError(str(failure)) from None
        except Unavailable as refusal:
            raise CommandError(refusal.detail) from None

    def _restore(self, folder: Path, replace: bool) -> None:
        stated = backup.manifest(folder)
        copy = folder / stated["database"]
        backup.check(copy, folder / backup.WITNESS)
        if not replace and _holds_something():
            raise backup.Failed(
                "There is a database already, and it would be lost. Say --replace to give it up."
            )
        backup.put_back(folder, copy)
        call_command("migrate", verbosity=0, interactive=False)
        again = withdrawn.enforce()
        ended = end_what_was_open(backup=stated["sha256"], by=SystemActor("restore"))
        clean_files()
        self.stdout.write(
            f"Restored, as of {stated['made_at']}. Put in force again: {again}. Ended: {ended.sessions} sessions, "
            f"{ended.links} set-up links. Voided: {ended.permits} permits."
        )
        for line in in_words(verify()):
            self.stdout.write(line)


def _holds_something() -> bool:
    try:
        return "audit_entry" in connection.introspection.table_names()
    except DatabaseError:
        return False
