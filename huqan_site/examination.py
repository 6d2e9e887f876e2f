"""What `manage.py doctor` looks at: everything that weakens the console without stopping it, and what must not be."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from huqan_site import health
from huqan_site.findings import Finding, broken, weak
from huqan_site.storage_examination import examine_storage
from review.access import queries
from review.access.models import Workspace
from review.access.roles import Role
from review.audit import guards

ENOUGH = 2


def examine() -> list[Finding]:
    """Return all findings, the broken first. A database that cannot be asked is the only one then."""
    try:
        found = [*_schema(), *_files()]
        if not health.missing_migrations():
            found += [*examine_storage(timezone.now()), *_people(timezone.now())]
    except DatabaseError:
        return [broken("The database does not answer. Check HUQAN_DATABASE_URL and its server.")]
    return sorted(found, key=lambda finding: finding.weight)


def _schema() -> Iterator[Finding]:
    if missing := health.missing_migrations():
        names = ", ".join(missing)
        yield broken(f"The database lacks migrations: {names}. Run manage.py migrate.")
    elif not health.log_has_begun():
        yield broken("The audit log has not begun. Run manage.py migrate.")
    if lost := guards.missing(connection):
        names = ", ".join(lost)
        yield broken(f"Guards of append-only tables are missing: {names}. Run migrate, then verify_audit.")


def _files() -> Iterator[Finding]:
    witness = Path(settings.HUQAN_WITNESS_FILE)
    if settings.PRODUCTION and (Path(settings.HUQAN_DATA_DIR) / "demo.json").exists():
        yield broken("The data folder holds the demo's people. Production needs a folder of its own.")
    if _share_a_disk(witness.parent, Path(settings.DATABASES["default"]["NAME"]).parent):
        yield weak(
            "The witness file is on the database's disk: who can change one can change both. "
            "Set HUQAN_WITNESS_FILE to a place on another machine's disk."
        )


def _share_a_disk(witness: Path, database: Path) -> bool:
    """Only an embedded database has a disk that can be compared."""
    if connection.vendor != "sqlite" or not (witness.exists() and database.exists()):
        return False
    return witness.stat().st_dev == database.stat().st_dev


def _people(now: datetime) -> Iterator[Finding]:
    for workspace in queries.all_workspaces():
        yield from _deciders(workspace, now)
        yield from _unanswered(workspace, now)


def _deciders(workspace: Workspace, now: datetime) -> Iterator[Finding]:
    members = queries.members(workspace.id, now)
    for role, needed_for in ((Role.REVIEWER, "decide on proposals"), (Role.MANAGER, "change its policy")):
        count = sum(role in member.roles for member in members)
        if count < ENOUGH:
            yield weak(
                f"{workspace}: active with the role {role}: {count}. It takes two people to {needed_for} "
                "independently. A manager grants roles on /people/."
            )


def _unanswered(workspace: Workspace, now: datetime) -> Iterator[Finding]:
    agents = list(queries.agents_of([workspace.id]))
    answered = set(queries.answered(now).filter(agent__in=agents).values_list("agent_id", flat=True))
    for agent in agents:
        if agent.id not in answered:
            yield weak(
                f"{workspace}: nobody active answers for the agent {agent}, so it is stopped. "
                "A manager can hand it over."
            )
