"""What stands after every migrate: the guards of every append-only table, and the log's first entry."""

from __future__ import annotations

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from review.audit import guards, log


def settle(*, using: str, **_: Any) -> None:
    """Install every guard again, since a migration may have dropped some, and begin the log if need be."""
    connection = connections[using]
    if using == DEFAULT_DB_ALIAS and "audit_head" in connection.introspection.table_names():
        guards.install(connection)
        log.begin()
