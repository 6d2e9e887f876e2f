"""`manage.py doctor`: what is weak here, and what is broken."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from huqan_site.examination import examine
from huqan_site.findings import Weight


class Command(BaseCommand):
    """Print one line for each finding. Exit code 0: nothing is broken (something may be weak); 1: something is."""

    help = "Say what weakens this console. Exits 1 if something is broken."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        findings = examine()
        for finding in findings:
            self.stdout.write(f"{finding.weight}: {finding.sentence}")
        if not findings:
            self.stdout.write("Nothing weak was found.")
        if any(finding.weight is Weight.BROKEN for finding in findings):
            sys.exit(1)
