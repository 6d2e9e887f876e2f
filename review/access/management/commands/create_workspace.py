"""`manage.py create_workspace NAME --manager USER`: where a real team begins."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from huqan_site.lib.problems import Refusal
from review.access.actors import SystemActor
from review.access.services import links
from review.access.services.workspaces import create_workspace


class Command(BaseCommand):
    """Open a workspace and print the one-time link with which its manager chooses a password."""

    help = (
        "Open a workspace. Its policy is the built-in one until a manager proposes another: all is reviewed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--manager", required=True, metavar="USER", help="account name; made if new")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises: CommandError with the sentence of the refusal."""
        try:
            opened = create_workspace(options["name"], options["manager"], by=SystemActor())
        except Refusal as refusal:
            raise CommandError(refusal.detail) from refusal
        self.stdout.write(f"Workspace {opened.workspace} is open; its manager is {opened.manager}.")
        if opened.secret:
            self.stdout.write(
                f"Works once, for 72 hours, to choose a password:\n{links.address(opened.secret)}"
            )
