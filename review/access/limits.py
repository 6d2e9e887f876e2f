"""How many requests a token may make in a minute: counted in the database, for every server alike."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection

from review.access.models import AgentToken, RequestCount
from review.access.refusals import RateLimited
from review.audit.refusals import Unavailable
from review.audit.transaction import aside

WAIT = 1.0  # seconds; who reads is not kept waiting by writers that hang
_COUNT_ONE = """
    INSERT INTO access_requestcount (token_id, minute, count) VALUES (%s, %s, 1)
    ON CONFLICT (token_id, minute) DO UPDATE SET count = access_requestcount.count + 1
    RETURNING count
"""


def count_request(token: AgentToken, *, now: datetime) -> None:
    """Count one request of `token`.

    A database that takes no writes stops the counting, not the reading: what wants to write is
    refused there anyway.

    Raises: RateLimited, with the whole seconds until the minute is over.
    """
    minute, second = divmod(int(now.timestamp()), 60)
    try:
        with aside(WAIT):
            made = _one_more(token.id, minute)
    except (DatabaseError, Unavailable, OSError):
        return
    if made > settings.HUQAN_RATE_PER_MINUTE:
        raise RateLimited(retry_after=60 - second)


def _one_more(token: UUID, minute: int) -> int:
    key = AgentToken._meta.pk.get_db_prep_value(token, connection)
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_ONE, [key, minute])
        [(made,)] = cursor.fetchall()
    if made == 1:  # the first of this minute sweeps away what earlier minutes left
        RequestCount.objects.filter(token_id=token, minute__lt=minute).delete()
    return int(made)
