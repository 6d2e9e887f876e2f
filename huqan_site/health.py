"""For whoever watches the server: is the program there, and can it do its work."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from review.audit import guards
from review.audit.models import Head


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 while the program answers at all."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, is migrated and guarded and the log has begun; else 503 and why."""
    parts = {name: _answer(check) for name, check in CHECKS.items()}
    ready = all(word == "ok" for word in parts.values())
    return JsonResponse({"status": "ok" if ready else "unavailable", **parts}, status=200 if ready else 503)


def database_answers() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return bool(cursor.fetchone())


def migrations_applied() -> bool:
    return not missing_migrations()


def guards_stand() -> bool:
    return not guards.missing(connection)


def log_has_begun() -> bool:
    return Head.objects.filter(size__gt=0).exists()


def missing_migrations() -> list[str]:
    """Return the migrations of this version that the database lacks, as `app.name`."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(".".join(migration) for migration in _known_migrations() if migration not in applied)


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).disk_migrations)


CHECKS: dict[str, Callable[[], bool]] = {
    "database": database_answers,
    "migrations": migrations_applied,
    "guards": guards_stand,
    "log": log_has_begun,
}


def _answer(check: Callable[[], bool]) -> str:
    try:
        return "ok" if check() else "missing"
    except DatabaseError:
        return "no answer"
