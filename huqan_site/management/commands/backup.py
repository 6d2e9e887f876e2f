"""`manage.py backup FOLDER`: a consistent copy of the database, verified, while the console works on."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from huqan_site import backup
from huqan_site.failed import Failed
from review.audit.actions import Action
from review.audit.actors import SYSTEM
from review.audit.log import record
from review.audit.refusals import Unavailable
from review.audit.transaction import write


class Command(BaseCommand):
    help = "Copy the database into a new folder, and verify the copy. The keys folder is not part of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder that does not exist, or is empty")

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        try:
            made = backup.make(folder)
            with write():
                record(
                    Action.BACKUP_MADE,
                    actor=SYSTEM,
                    after={"sha256": made.digest, "entries_at_least": made.size},
                )
        except Failed as failure:
            raise CommandError(str(failure)) from None
        except Unavailable as refusal:
            raise CommandError(refusal.detail) from None
        self.stdout.write(
            f"The database is in {folder}, verified. Its log has {made.size} entries or more.\n"
            "The keys are not in it. Keep a copy of the keys folder in another place than the backups."
        )
