from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from review.audit import checkpoints
from review.audit.refusals import Unavailable
from review.audit.transaction import write


class Command(BaseCommand):
    help = "Sign the log as it is now, append that to the witness file and print it."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with write():
                checkpoints.sign_if_due(owed=True)
        except Unavailable as refusal:
            raise CommandError(refusal.detail) from None
        newest = checkpoints.newest()
        self.stdout.write(newest.note if newest else "", ending="")
