"""`manage.py worker`: does in time what nobody came by to do. Everything is right without it, only later."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import close_old_connections

from review.services.expire import expire_overdue

EVERY = 5.0  # seconds between two rounds


class Command(BaseCommand):
    help = "Expire what has run out of time, until told to stop."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="do one round and stop")

    def handle(self, *args: Any, once: bool = False, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while True:
            met = expire_overdue()
            if met:
                self.stdout.write(f"{met} expired")
            if once or stop.wait(EVERY):
                return
            close_old_connections()
