"""`manage.py worker`: does in time what nobody came by to do. Everything is right without it, only later."""

from __future__ import annotations

import logging
import os
import signal
import threading
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.core.signals import request_started
from django.db import DatabaseError
from django.utils.module_loading import import_string

from review.access.services.agents import stop_unanswered
from review.access.services.resets import send_resets
from review.audit.log import sign_overdue
from review.audit.refusals import Unavailable
from review.services.expire import expire_overdue
from review.services.fall_silent import note_silent
from review.services.rebind import rebind_outdated
from review.services.send_checkpoints import send_checkpoints
from review.services.tell import tell_people
from review.webhooks.outbox import deliver_due, forget_old
from review.webhooks.wishes import forget_told

EVERY = 5.0  # seconds between two rounds
logger = logging.getLogger(__name__)


class Step(NamedTuple):
    """One thing that a round does: `work` returns how often, `words` say of what."""

    words: str
    work: Callable[[], int]


STEPS = (
    Step("expired", expire_overdue),
    Step("without a report", note_silent),
    Step("bound anew", rebind_outdated),
    Step("checkpoints signed", sign_overdue),
    Step("checkpoints sent", send_checkpoints),
    Step("agents stopped that nobody answers for", stop_unanswered),
    Step("notices to people written", tell_people),
    Step("webhook messages and notices sent or tried", deliver_due),
    Step("old messages deleted", forget_old),
    Step("notes of who was told deleted", forget_told),
    Step("links mailed for a forgotten password", send_resets),
    *(Step(words, import_string(path)) for words, path in settings.HUQAN_CHORES.items()),
)


class Command(BaseCommand):
    help = (
        "Expire what has run out of time, note who never reported, bind anew what a changed rule applies to, "
        "send mail and what webhooks are told, until told to stop."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="do one round and stop")
        parser.add_argument("--parent", type=int, help="stop, too, when the program with this id is gone")

    def handle(self, *args: Any, once: bool = False, parent: int | None = None, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        if not once and parent is None:
            self._write("Working until it is stopped.")
        while not stop.is_set() and parent in (None, os.getppid()):
            failed = self._round(stop)
            if once:
                if failed:
                    raise CommandError(f"Failed: {', '.join(failed)}. The reason stands in the log.")
                return
            stop.wait(EVERY)
            # As before a request: a database that is another one by now is opened anew.
            request_started.send(sender=Command)

    def _round(self, stop: threading.Event) -> list[str]:
        """Take every step, and return those that failed: one that does keeps no other from being taken."""
        failed = []
        for step in STEPS:
            if stop.is_set():
                break
            try:
                self._say(step, step.work())
            except (DatabaseError, Unavailable):
                logger.warning("The database takes no writes now; put off: %s", step.words)
                failed.append(step.words)
            except Exception:
                logger.exception("A round of the worker failed at: %s", step.words)
                failed.append(step.words)
        return failed

    def _say(self, step: Step, times: int) -> None:
        if times:
            self._write(f"{times} {step.words}")

    def _write(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
