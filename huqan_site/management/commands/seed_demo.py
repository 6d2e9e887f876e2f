"""`manage.py seed_demo`: the demo's people, agents, policies and proposals, made once."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from huqan_site.demo import cast, story
from huqan_site.demo.keepsake import open_keepsake
from review.audit.file_lock import locked


class Command(BaseCommand):
    """Make what is missing of the demo; a second run changes nothing and prints the same."""

    help = "Load the demo, and print its accounts and tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises: CommandError in production, which never runs on demo people."""
        if settings.PRODUCTION:
            raise CommandError("HUQAN_MODE is production, and the demo's people have no place there.")
        with locked(settings.HUQAN_DATA_DIR / "demo.lock"):
            demo = _seed()
        self.stdout.write(json.dumps(demo, indent=1) if options["json"] else _summary(demo))


def _seed() -> dict[str, Any]:
    keepsake = open_keepsake(settings.HUQAN_DATA_DIR)
    story.tell(cast.assemble(keepsake))
    return cast.described(keepsake, settings.HUQAN_BASE_URL)


def _summary(demo: dict[str, Any]) -> str:
    people, agents = ", ".join(demo["people"]), ", ".join(demo["agents"])
    return f"The demo is loaded: {people}; agents {agents}. Add --json for passwords and tokens."
