"""What somebody may do who owns the database: drop its guards, and then anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from review.audit import guards


@contextmanager
def guards_down() -> Iterator[None]:
    """Be somebody who may drop triggers, for the block."""
    guards.remove(connection)
    yield
    guards.install(connection)
