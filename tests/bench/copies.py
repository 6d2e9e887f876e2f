"""Many rows like one that the console made: past the console, as only a bench may."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

_COPY = """
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
    INSERT INTO {table} ({names})
    SELECT {values} FROM numbers JOIN {table} model ON model.id = '{model}'
"""


def copied(
    database: sqlite3.Connection, table: str, model: str, count: int, changed: Mapping[str, str]
) -> None:
    """Put `count` copies of the row with the id `model` (32 hex digits) beside it.

    `changed` has an SQL expression in `n`, which is 1 to `count`, for each column that is not the model's.
    """
    columns = columns_of(database, table)
    ids = f"printf('%012x', 1700000000000 + n) || substr('{model}', 13, 12) || printf('%08x', n)"
    values = ", ".join({"id": ids, **changed}.get(column, f"model.{column}") for column in columns)
    database.execute(
        _COPY.format(table=table, count=count, names=", ".join(columns), values=values, model=model)
    )


def columns_of(database: sqlite3.Connection, table: str) -> list[str]:
    return [str(column[1]) for column in database.execute(f"PRAGMA table_info({table})")]
