"""What the role that serves may do where another one owns the tables: read, add, and change what may change.

Given anew after every migrate. A table that no model names and that is not listed here gets nothing; an
append-only one gets what its guard lets pass; rows may be taken from the tables that are called disposable.

    disposable("access_requestcount")  # beside the model
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.apps import apps
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from review.audit import guards

ONLY_READ = {"django_migrations", "django_content_type", "auth_permission"}
CACHE = "huqan_cache"
_disposable = {CACHE, "django_session", "mfa_authenticator"}


def disposable(table: str) -> None:
    """Let the app role delete rows of `table`: what they say is of no consequence any more."""
    _disposable.add(table)


def give(connection: BaseDatabaseWrapper, role: str) -> None:
    """Let `role` do with each table what it needs, and nothing else; where it owns them, nothing is done.

    Call it as the owner.
    """
    if connection.vendor != "postgresql" or not role:
        return
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute("SELECT current_user, quote_ident(%s), quote_ident(current_schema())", [role])
        owner, grantee, schema = cursor.fetchone()
        if owner != role:
            for statement in _statements(connection.introspection.table_names(cursor), grantee, schema):
                cursor.execute(statement)


def _statements(tables: Iterable[str], grantee: str, schema: str) -> Iterator[str]:
    """In one transaction: those who are connected never see the moment without rights."""
    yield f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {grantee}"
    yield f"GRANT USAGE ON SCHEMA {schema} TO {grantee}"
    for table in tables:
        if rights := _rights(table):
            yield f'GRANT {rights} ON "{table}" TO {grantee}'


def _rights(table: str) -> str:
    if table in ONLY_READ:
        return "SELECT"
    promise = next((promise for promise in guards.promises() if promise.table == table), None)
    if promise is not None:
        columns = ", ".join(f'"{column}"' for column in promise.updatable)
        return f"SELECT, INSERT, UPDATE ({columns})" if columns else "SELECT, INSERT"
    if table in _disposable:
        return "SELECT, INSERT, UPDATE, DELETE"
    return "SELECT, INSERT, UPDATE" if table in _of_models() else ""


def _of_models() -> set[str]:
    return {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
