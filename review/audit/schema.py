"""What stands after every migrate: guards of append-only tables, the app role's rights, the log's first entry."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from review.audit import grants, guards, log


def settle(*, using: str, **_: Any) -> None:
    """Install every guard again, since a migration may have dropped some, give the role that serves its rights,
    and begin the log if need be.
    """
    connection = connections[using]
    if using == DEFAULT_DB_ALIAS and "audit_head" in connection.introspection.table_names():
        guards.install(connection)
        grants.give(connection, settings.DATABASES[using]["USER"])
        log.begin()
