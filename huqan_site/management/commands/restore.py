"""`manage.py restore FOLDER`: put a backup in the place of the database. Stop the console first."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from huqan_site import backup
from huqan_site.failed import Failed
from review.audit.management.commands.verify_audit import in_words
from review.audit.verify import verify


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
        if not replace and _holds_something():
            raise CommandError(
                "There is a database already, and it would be lost. Say --replace to give it up."
            )
        try:
            self.stdout.write(backup.restore(folder))
        except (Failed, OSError) as failure:
            raise CommandError(f"Nothing was restored: {failure}") from None
        for line in in_words(verify()):
            self.stdout.write(line)


def _holds_something() -> bool:
    try:
        return "audit_entry" in connection.introspection.table_names()
    except DatabaseError:
        return False
