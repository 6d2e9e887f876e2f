"""`manage.py adopt_log --reason …`: ask two managers to take a restored log as it is."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from huqan_site.lib.problems import Refusal
from review.access.actors import SystemActor
from review.services.adopt_log import open_adoption


class Command(BaseCommand):
    help = (
        "After an older copy was restored: open an adoption of the log as it is, "
        "which two managers then confirm on /audit/."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", required=True, help="what happened, for the managers and for the log")

    def handle(self, *args: Any, reason: str, **options: Any) -> None:
        try:
            found = open_adoption(reason, by=SystemActor())
        except Refusal as refusal:
            raise CommandError(refusal.detail) from None
        self.stdout.write(
            f"The log has {found.entries} entries, the witness file vouches for {found.witnessed}. "
            "Nobody decides or redeems until two managers have confirmed on /audit/ that it is taken as it is."
        )
