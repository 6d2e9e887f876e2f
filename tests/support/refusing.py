"""A database that refuses one kind of audit entry, and a picture of all it holds besides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.db import connection

TRIGGER = "test_refuses_an_entry"
_SQLITE = """
    CREATE TRIGGER {name} BEFORE INSERT ON audit_entry WHEN NEW.action = '{action}'
    BEGIN SELECT RAISE(ABORT, 'refused by the test'); END
"""
_POSTGRESQL = """
    CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$;
    CREATE TRIGGER {name} BEFORE INSERT ON audit_entry FOR EACH ROW
    WHEN (NEW.action = '{action}') EXECUTE FUNCTION {name}()
"""
_DROP = {
    "sqlite": "DROP TRIGGER {name}",
    "postgresql": "DROP TRIGGER {name} ON audit_entry; DROP FUNCTION {name}()",
}


@contextmanager
def no_entry_of(action: str) -> Iterator[None]:
    """For the block, let the database refuse every entry of `action`."""
    _run(_SQLITE if connection.vendor == "sqlite" else _POSTGRESQL, action)
    try:
        yield
    finally:
        _run(_DROP[connection.vendor], action)


def picture() -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table of ours, by table."""
    models = [
        model
        for name in ("access", "review", "webhooks", "memory", "audit")
        for model in apps.get_app_config(name).get_models()
    ]
    return {
        model._meta.db_table: list(model._default_manager.order_by("pk").values_list()) for model in models
    }


def _run(statements: str, action: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statements.format(name=TRIGGER, action=action))
