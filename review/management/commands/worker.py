"""`manage.py worker`: does in time what nobody came by to do. Everything is right without it, only later."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import close_old_connections

from review.services.expire import expire_overdue
from review.services.rebind import rebind_outdated

EVERY = 5.0  # seconds between two rounds


class Command(BaseCommand):
    help = "Expire what has run out of time and bind anew what a changed rule applies to, until told to stop."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="do one round and stop")

    def handle(self, *args: Any, once: bool = False, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while True:
            self._round()
            if once or stop.wait(EVERY):
                return
            close_old_connections()

    def _round(self) -> None:
        for number, did in ((expire_overdue(), "expired"), (rebind_outdated(), "bound anew")):
            if number:
                self.stdout.write(f"{number} {did}")
