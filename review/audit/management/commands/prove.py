from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from review.audit.models import Checkpoint, Entry
from review.audit.proofs import inclusion


class Command(BaseCommand):
    help = (
        "Print, as JSON, the proof that an entry is in the log that the newest signed checkpoint vouches for."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("seq", type=int, help="the number of the entry")

    def handle(self, *args: Any, **options: Any) -> None:
        entry = Entry.objects.filter(seq=options["seq"]).first()
        checkpoint = Checkpoint.objects.order_by("-size").first()
        if entry is None:
            raise CommandError(f"The log has no entry {options['seq']}.")
        if checkpoint is None or checkpoint.size <= entry.seq:
            raise CommandError("No checkpoint covers that entry yet. Run manage.py checkpoint first.")
        proof = inclusion(entry.seq, checkpoint.size)
        document = {
            "seq": entry.seq,
            "entry": entry.canonical,
            "leaf": proof.leaf.hex(),
            "size": proof.root.size,
            "path": [node.hex() for node in proof.path],
            "root": proof.root.hash.hex(),
            "checkpoint": checkpoint.note,
        }
        self.stdout.write(json.dumps(document, indent=1, ensure_ascii=False))
