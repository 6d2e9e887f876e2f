"""`manage.py check --database default` names every guard that does not stand."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from django.core.checks import ERROR, WARNING, CheckMessage, Tags, register
from django.db import connections

from review.audit import guards


@register(Tags.database)
def guards_stand(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """One message for each guard that is missing or altered."""
    return [
        CheckMessage(
            _level(),
            f"The guard {name} is missing or altered: rows of an append-only table could be rewritten.",
            hint="Run manage.py migrate, which installs every guard again, then verify_audit.",
            id="audit.E001",
        )
        for alias in databases or ()
        for name in guards.missing(connections[alias])
    ]


def _level() -> int:
    """An error; under migrate a warning, since an error would keep it from installing what is missing."""
    return WARNING if sys.argv[1:2] == ["migrate"] else ERROR
