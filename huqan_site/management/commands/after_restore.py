"""`manage.py after_restore DIGEST`: what `restore` does to a copy before anybody uses it. Not for people to run."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memory.gateway.sweep import clean_files
from review.access.actors import SystemActor
from review.audit import withdrawn
from review.audit.refusals import Unavailable
from review.services.after_restore import end_what_was_open


class Command(BaseCommand):
    help = "A step of restore: put in force again what was withdrawn, end every session, void every permit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("digest", help="the SHA-256 of the backup")

    def handle(self, *args: Any, digest: str, **options: Any) -> None:
        try:
            again = withdrawn.enforce()
            ended = end_what_was_open(backup=digest, by=SystemActor("restore"))
            clean_files()
        except (Unavailable, OSError) as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(
            f"Put in force again: {again}. Ended: {ended.sessions} sessions, {ended.links} set-up links. "
            f"Voided: {ended.permits} permits."
        )
