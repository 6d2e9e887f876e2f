"""`manage.py reset_password USER`: for somebody who cannot sign in any more."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from huqan_site.lib.problems import Refusal
from review.access.actors import SystemActor
from review.access.services import links
from review.access.services.factors import remove_factors
from review.access.services.passwords import reset_password


class Command(BaseCommand):
    """End the account's sessions and print a one-time link to choose another password."""

    help = "Reset a password: sessions end, a one-time link is printed, the log has it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument(
            "--and-second-factor",
            action="store_true",
            help="for somebody who lost the app and recovery codes",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises: CommandError with the sentence of the refusal."""
        try:
            reset = reset_password(options["username"], by=SystemActor())
            if options["and_second_factor"]:
                remove_factors(options["username"], by=SystemActor())
                self.stdout.write("The second factor is removed.")
        except Refusal as refusal:
            raise CommandError(refusal.detail) from refusal
        self.stdout.write(f"Sessions of {reset.user} ended, and the old password opens nothing.")
        self.stdout.write(f"Works once, for 72 hours, to choose another:\n{links.address(reset.secret)}")
