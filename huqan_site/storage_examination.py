"""Whether what is stored here stays: the engine as it is set, the roles, the disk, the file system, the clock."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection

from huqan_site.findings import Finding, broken, weak
from review.audit.models import Head

SOUND_WAL = (3, 51, 3)  # earlier SQLite can corrupt a WAL database when a writer meets a checkpoint
FULL = 2  # what `PRAGMA synchronous` answers when each commit waits for the disk
ROOM = 500_000_000  # bytes; the log only ever grows
AHEAD = timedelta(minutes=1)  # what two clocks may differ
OF_NETWORKS = {"9p", "afs", "ceph", "cifs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
MOUNTS = Path("/proc/mounts")
SAID_IN = (
    "memory_memoryrecord",
    "review_revision",
    "review_proposal",
    "review_decision",
    "review_comment",
    "audit_private_text",
)
_SYNCED = ("fsync", "full_page_writes", "synchronous_commit")


def examine_storage(now: datetime) -> Iterator[Finding]:
    """Yield what endangers what is stored."""
    yield from _sqlite() if connection.vendor == "sqlite" else _postgresql()
    yield from _keys()
    yield from _folder()
    yield from _clock(now)


def _sqlite() -> Iterator[Finding]:
    if sqlite3.sqlite_version_info < SOUND_WAL:
        yield weak(
            f"SQLite {sqlite3.sqlite_version} has a bug in its write-ahead log that 3.51.3 mends. "
            "Take backups, or use PostgreSQL."
        )
    if (mode := _answer("PRAGMA journal_mode")) != "wal":
        yield weak(
            f"SQLite keeps a journal of the mode {mode}, so readers and writers stop each other. "
            "Put HUQAN_DATA_DIR on a local disk, where write-ahead logging works."
        )
    if int(_answer("PRAGMA synchronous")) < FULL:
        yield weak(
            "SQLite does not wait for the disk: a power cut can lose a decision. "
            "Take PRAGMA synchronous out of what opens the database."
        )


def _postgresql() -> Iterator[Finding]:
    yield from _roles()
    yield from _erased()
    for name in _SYNCED:
        if _answer(f"SHOW {name}") == "off":
            yield weak(
                f"PostgreSQL runs with {name}=off: a crash can lose a decision. "
                f"Set {name}=on in its configuration."
            )


def _erased() -> Iterator[Finding]:
    if _answer(_IS_UNSWEPT):
        yield weak(
            "Something was erased since the tables were last written anew, so old versions of its rows may still be "
            f"in the files. Run VACUUM (FULL, ANALYZE) {', '.join(SAID_IN)}."
        )


def _roles() -> Iterator[Finding]:
    role = connection.settings_dict["USER"] or "that connects"
    if _answer("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"):
        yield weak(
            f"The database role {role} is a superuser, and can take every guard away. Serve by a role that only "
            "reads and adds: docs/operate.md says how, with HUQAN_DATABASE_OWNER_URL."
        )
    elif _answer(_IS_OWNER):
        yield weak(
            f"The database role {role} owns the tables, or is a member of the role that does, and can take every "
            "guard away. Own them by another one: docs/operate.md says how, with HUQAN_DATABASE_OWNER_URL."
        )
    elif _answer("SELECT has_schema_privilege(current_user, current_schema(), 'CREATE')"):
        yield weak(
            f"The database role {role} may create tables beside the console's. "
            "Run REVOKE CREATE ON SCHEMA public FROM PUBLIC as the schema's owner."
        )


_IS_UNSWEPT = f"""
    SELECT EXISTS (
        SELECT 1 FROM memory_erasure e, pg_stat_user_tables t
        WHERE t.schemaname = current_schema() AND t.relname IN {SAID_IN}
        AND (t.last_analyze IS NULL OR t.last_analyze < e.erased_at)
    )
"""
_IS_OWNER = """
    SELECT EXISTS (
        SELECT 1 FROM pg_class WHERE relname = 'audit_entry' AND relkind = 'r' AND pg_table_is_visible(oid)
        AND pg_has_role(current_user, relowner, 'MEMBER')
    )
"""


def _answer(question: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(question)
        (answer,) = cursor.fetchone()
    return answer  # type: ignore[no-any-return]  # text, a number or a truth, as the question has it


def _keys() -> Iterator[Finding]:
    folder = Path(settings.HUQAN_KEYS_DIR)
    if not folder.exists():
        return
    if folder.stat().st_mode & 0o077:
        yield broken(f"Others can reach the keys folder {folder}. Run chmod 700 on it.")
    if open_to_others := sorted(path.name for path in folder.iterdir() if path.stat().st_mode & 0o077):
        names = ", ".join(open_to_others)
        yield broken(f"Others can reach keys in {folder}: {names}. Run chmod 600 on them, and replace them.")


def _folder() -> Iterator[Finding]:
    folder = Path(settings.HUQAN_DATA_DIR)
    if (kind := file_system(folder, MOUNTS)) in OF_NETWORKS or kind.startswith("fuse.sshfs"):
        yield weak(
            f"The data folder is on a file system of the network ({kind}), where locks and waiting for the disk may "
            "not hold. Set HUQAN_DATA_DIR to a local disk."
        )
    free = shutil.disk_usage(folder).free
    if free < ROOM:
        yield weak(
            f"The disk of the data folder has {free // 1_000_000} MB left. Make room: without it nothing is recorded, "
            "and so nothing decided."
        )


def file_system(folder: Path, mounts: Path) -> str:
    """Return the kind of file system `folder` is on, as a table like /proc/mounts says; empty where there is none."""
    if not mounts.exists():
        return ""
    here, best = folder.resolve(), ("", "")
    for line in mounts.read_text().splitlines():
        _, place, kind, *_ = line.split(" ")
        place = place.replace("\\040", " ")
        if here.is_relative_to(place) and len(place) >= len(
            best[0]
        ):  # of two on one place the later is on top
            best = (place, kind)
    return best[1]


def _clock(now: datetime) -> Iterator[Finding]:
    head = Head.objects.filter(size__gt=0).first()
    if head and datetime.fromisoformat(head.time) > now + AHEAD:
        yield weak(
            f"The log's last entry is of {head.time}, which is in the future here. Set this machine's clock: "
            "until then every new entry bears that time."
        )
