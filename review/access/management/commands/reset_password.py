"""`manage.py reset_password USER`: for somebody who cannot sign in any more."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.access.actors import SystemActor
from review.access.refusals import NotFound
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
        """Raises: CommandError where no active account has the name."""
        name = options["username"]
        try:
            reset = reset_password(name, by=SystemActor())
        except NotFound as unknown:
            raise CommandError(
                f"No active account is called {name}. The page People lists them."
            ) from unknown
        if options["and_second_factor"]:
            self._remove_factors(name)
        self.stdout.write(f"Sessions of {reset.user} ended, and the old password opens nothing.")
        self.stdout.write(f"Works once, for 72 hours, to choose another:\n{links.address(reset.secret)}")

    def _remove_factors(self, name: str) -> None:
        """The password is reset by now, so having none is said and keeps nobody from the link."""
        try:
            remove_factors(name, by=SystemActor())
        except NotFound:
            self.stdout.write("There was no second factor.")
        else:
            self.stdout.write("The second factor is removed.")
