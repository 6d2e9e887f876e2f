from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from review.audit.log import sign_checkpoint
from review.audit.refusals import Unavailable


class Command(BaseCommand):
    help = "Sign the log as it is now, append that to the witness file and print it."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(sign_checkpoint(), ending="")
        except Unavailable as refusal:
            raise CommandError(refusal.detail) from None
