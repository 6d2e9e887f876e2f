"""Reads that belong to one moment, whatever is committed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def one_moment() -> Iterator[None]:
    """Let all reads inside see the database as it is at the first of them. Inside a transaction: as that sees it.

    Nothing is written inside. On SQLite it is no atomic(), which would queue with the writers.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            _execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
    else:
        _execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            if connection.connection and connection.connection.in_transaction:  # an error may have ended it
                _execute("ROLLBACK")


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
