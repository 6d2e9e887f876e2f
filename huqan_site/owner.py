"""Being the role that owns the tables, for as long as the schema changes and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.utils import ConnectionHandler


@contextmanager
def owner() -> Iterator[None]:
    """Connect as HUQAN_DATABASE_OWNER_URL says for the block; where it says nothing, one role does everything."""
    if settings.HUQAN_DATABASE_OWNER is None:
        yield
        return
    serving = connections[DEFAULT_DB_ALIAS]
    owning = ConnectionHandler({DEFAULT_DB_ALIAS: settings.HUQAN_DATABASE_OWNER})[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = owning
    try:
        yield
    finally:
        owning.close()
        connections[DEFAULT_DB_ALIAS] = serving
