from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from huqan_site.lib.keyring import UnusableKey
from review.audit.models import Entry
from review.audit.proof_files import Unproved, entry_is_in, one_continues


class Command(BaseCommand):
    help = (
        "Print, as JSON, the proof that an entry is in the log that the newest signed checkpoint vouches for; "
        "or that one checkpoint continues another. docs/log_verifier.py checks it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("seq", type=int, nargs="?", help="the number of the entry")
        parser.add_argument(
            "--consistency", type=int, nargs=2, metavar=("OLD", "NEW"), help="the sizes of two checkpoints"
        )

    def handle(
        self, *args: Any, seq: int | None = None, consistency: list[int] | None = None, **options: Any
    ) -> None:
        if (seq is None) == (consistency is None):
            raise CommandError("Name an entry, or two checkpoints by --consistency OLD NEW.")
        try:
            proof = one_continues(*consistency) if consistency else entry_is_in(_entry(seq or 0))
        except (Unproved, UnusableKey) as missing:
            raise CommandError(str(missing)) from None
        self.stdout.write(json.dumps(proof, indent=1, ensure_ascii=False))


def _entry(seq: int) -> Entry:
    entry = Entry.objects.filter(pk=seq).first()
    if entry is None:
        raise CommandError(f"The log has no entry {seq}.")
    return entry
