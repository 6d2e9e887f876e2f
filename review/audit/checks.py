"""`manage.py check --database default` names every guard that does not stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from review.audit import guards


@register(Tags.database)
def guards_stand(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """One error for each guard that is missing or altered."""
    return [
        Error(
            f"The guard {name} is missing or altered: rows of the audit trail could be rewritten.",
            hint="Run manage.py migrate --skip-checks; it installs every guard again. Then run verify_audit.",
            id="audit.E001",
        )
        for alias in databases or ()
        for name in guards.missing(connections[alias])
    ]
