"""`manage.py migrate`, as the role that owns the tables."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate

from huqan_site.owner import owner


class Command(migrate.Command):
    """Django's own; guards and grants follow it by `review.audit.schema`."""

    def handle(self, *args: Any, **options: Any) -> None:
        with owner():
            super().handle(*args, **options)
