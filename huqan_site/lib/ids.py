"""Identifiers: time-ordered UUIDs (version 7, RFC 9562), so that new rows sort last."""

from __future__ import annotations

from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """A fresh UUIDv7. Within one running server, later calls sort after earlier ones."""
    return uuid7()
