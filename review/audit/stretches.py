"""Going through a table of any length, a stretch at a time, with nothing left open in between.

A server-side cursor that is not read to its end is closed by whoever collects it, which on PostgreSQL can be in the
middle of another statement of the same connection: the two then wait for each other for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
LENGTH = 1_000  # rows in memory at a time


def stretches(rows: QuerySet[Row], key: str = "pk") -> Iterator[list[Row]]:
    """Yield `rows` in lists of at most 1,000, in the order of `key`, a column without doubles or nulls."""
    ordered = rows.order_by(key)
    rest = ordered
    while stretch := list(rest[:LENGTH]):
        yield stretch
        rest = ordered.filter(**{f"{key}__gt": getattr(stretch[-1], key)})


def every(rows: QuerySet[Row], key: str = "pk") -> Iterator[Row]:
    """Yield each of `rows`, in the order of `key`."""
    return chain.from_iterable(stretches(rows, key))
