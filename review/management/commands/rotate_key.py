"""`manage.py rotate_key permit`: a new key signs from now on."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from review.access.actors import SystemActor
from review.services.rotate_key import PURPOSES, rotate_key


class Command(BaseCommand):
    help = "Sign permits, or checkpoints of the log, with a new key. Earlier keys stay, to check what they signed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("purpose", choices=PURPOSES)

    def handle(self, *args: Any, purpose: str, **options: Any) -> None:
        self.stdout.write(f"{rotate_key(purpose, by=SystemActor())} signs from now on")
