from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError

from review.audit.verify import Kind, Outcome, Report, verify

EVERY = 100_000  # entries between two lines of progress
EXIT = {Outcome.OK: 0, Outcome.FAULT: 1, Outcome.CANNOT_JUDGE: 2}


class Command(BaseCommand):
    help = (
        "Walk the whole audit log. Exits 0 when it is what it was, 1 at a fault, 2 when it cannot be judged."
    )

    _told = 0  # how often progress was told

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = verify(progress=self._tell)
        except DatabaseError:
            self.stderr.write("Cannot judge: the database cannot be read, or it was never migrated.")
            sys.exit(EXIT[Outcome.CANNOT_JUDGE])
        for line in in_words(report):
            self.stdout.write(line)
        sys.exit(EXIT[report.outcome])

    def _tell(self, walked: int, of: int) -> None:
        """Say on a long log how far the walk is, apart from what it finds."""
        if walked // EVERY > self._told:
            self._told = walked // EVERY
            self.stderr.write(f"{walked} of {of} entries walked")


def in_words(report: Report) -> list[str]:
    """The report as lines for people, the verdict first."""
    verdict = {
        Outcome.OK: f"Ok: {report.size} entries, every one walked.",
        Outcome.FAULT: f"Fault: {report.fault_count} found in {report.size} entries.",
        Outcome.CANNOT_JUDGE: "Cannot judge.",
    }
    return [
        verdict[report.outcome],
        f"First bad entry: {'none' if report.first_bad is None else report.first_bad}",
        *_listed("Edited", report, Kind.EDITED),
        *_listed("Missing", report, Kind.MISSING),
        *_listed("Checkpoints", report, Kind.CHECKPOINT),
        *_listed("States", report, Kind.STATE),
        f"States replayed: {report.states_agreeing} of {report.states} agree",
        f"Witness file: vouches for {report.checkpoint} entries",
        *report.doubts,
    ]


def _listed(title: str, report: Report, kind: Kind) -> list[str]:
    faults = report.of_kind(kind)
    return [f"{title}: {'none' if not faults else ''}".rstrip(), *(f"  {fault.sentence}" for fault in faults)]
