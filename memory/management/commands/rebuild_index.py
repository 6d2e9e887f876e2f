"""`manage.py rebuild_index`: reads every record again and makes the search's index from them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from memory.gateway.reindex import rebuild_index


class Command(BaseCommand):
    help = "Make the index of the memory anew from its records, as after a change of how texts are read."

    def handle(self, *args: Any, **options: Any) -> None:
        changed = rebuild_index()
        self.stdout.write(
            f"The index is made anew. {changed} records were read by an older tokenizer or not at all."
        )
