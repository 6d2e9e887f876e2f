"""A backup made under load is whole; put back, it comes up with nothing in force that was taken away since.

On both engines: what is refused or killed on the way leaves the database as it was.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from tests.faults.house import House, house_on
from tests.support import postgres
from tests.support.console import ROOT, Answer
from tests.support.visitor import Visitor

EDIT = "UPDATE audit_entry SET canonical = {} WHERE seq = 2"
SAID = "Zeliha Karaca lives at 14 Marker Lane."
FORGE = """
import hashlib, json, pathlib
from review.audit import attest
folder = pathlib.Path({folder!r})
stated = json.loads((folder / "manifest.json.note").read_text().rpartition("\\n\\n")[0])
stated["sha256"] = hashlib.sha256((folder / stated["database"]).read_bytes()).hexdigest()
(folder / "manifest.json.note").write_text(attest.attest(stated))
"""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    with house_on(request.param) as running:
        yield running


def test_a_backup_under_load_verifies_and_is_recorded(house: House, tmp_path: Path) -> None:
    answers: list[Answer] = []
    over = threading.Event()

    def write_on() -> None:
        number = 0
        while not over.is_set():
            number += 1
            answers.append(house.agent().remember(f"Port {number} of the staging host is open."))

    writer = threading.Thread(target=write_on)
    writer.start()
    try:
        house.manage("backup", str(tmp_path / "b"))
    finally:
        over.set()
        writer.join()
    assert answers and {answer.status for answer in answers} <= {201, 429}
    manifest = (tmp_path / "b" / "manifest.json.note").read_text()
    stated = json.loads(manifest.rpartition("\n\n")[0])
    assert stated["entries_at_least"] > 100
    assert not list((tmp_path / "b").glob("*.key"))
    assert house.rows("SELECT action FROM audit_entry WHERE action = 'backup.made'") == [("backup.made",)]
    nothing_is_left_over(house)


def test_a_copy_signs_nobody_in(house: House, tmp_path: Path) -> None:
    sessions = [key for (key,) in house.rows("SELECT session_key FROM django_session")]
    house.manage("backup", str(tmp_path / "b"))
    told = unpacked(house, copy_in(tmp_path / "b"))
    assert sessions and not [key for key in sessions if key.encode() in told]
    assert b"audit_head" in told


def test_a_folder_that_holds_something_is_left_alone(house: House, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = house.manage("backup", str(tmp_path), check=False)
    assert done.returncode == 1 and "holds something already" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    file = house.manage("backup", str(tmp_path / "mine"), check=False)
    assert file.returncode == 1 and "holds something already" in file.stderr


def test_what_is_not_a_backup_or_was_changed_is_not_put_back(house: House, tmp_path: Path) -> None:
    house.manage("backup", str(tmp_path / "b"))
    there = house.manage("restore", str(tmp_path / "b"), check=False)
    assert there.returncode == 1 and "--replace" in there.stderr
    served = house.manage("restore", str(tmp_path / "b"), "--replace", check=False)
    assert served.returncode == 1 and "Stop the console first" in served.stderr
    with copy_in(tmp_path / "b").open("r+b") as copy:
        copy.seek(-1, 2)
        copy.write(b"x")
    changed = house.manage("restore", str(tmp_path / "b"), "--replace", check=False)
    assert changed.returncode == 1 and "not the file that was backed up" in changed.stderr
    none = house.manage("restore", str(tmp_path / "nothing"), "--replace", check=False)
    assert none.returncode == 1 and "no backup" in none.stderr
    house.must_be_whole()


def test_a_log_that_was_edited_is_neither_backed_up_nor_put_back(house: House, tmp_path: Path) -> None:
    house.manage("backup", str(tmp_path / "b"))
    house.stop()
    house.past_the_guards(EDIT.format("canonical || ' '"))
    try:
        refused = house.manage("backup", str(tmp_path / "edited"), check=False)
        copy_by_hand(house, copy_in(tmp_path / "b"))
    finally:
        house.past_the_guards(EDIT.format("rtrim(canonical)"))
    assert refused.returncode == 1 and "First bad entry: 2" in refused.stderr
    assert list((tmp_path / "edited").iterdir()) == []
    house.manage("shell", "-c", FORGE.format(folder=str(tmp_path / "b")))
    before = as_it_is(house)

    refused = house.manage("restore", str(tmp_path / "b"), "--replace", check=False)

    assert refused.returncode == 1 and "First bad entry: 2" in refused.stderr, refused.stderr
    assert as_it_is(house) == before
    nothing_is_left_over(house)
    house.must_be_whole()
    house.start()


def test_a_restore_that_is_killed_leaves_the_database_as_it_was(house: House, tmp_path: Path) -> None:
    house.manage("backup", str(tmp_path / "b"))
    later = house.proposed()
    house.stop()
    before = as_it_is(house)
    restoring = subprocess.Popen(
        [sys.executable, "manage.py", "restore", str(tmp_path / "b"), "--replace"],
        cwd=ROOT,
        env=house.environ,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while not left_over(house):
        assert restoring.poll() is None and time.monotonic() < end
        time.sleep(0.02)
    os.killpg(restoring.pid, signal.SIGKILL)
    restoring.wait()

    assert as_it_is(house) == before
    house.must_be_whole()
    house.manage("restore", str(tmp_path / "b"), "--replace")
    assert str(later["id"]) not in proposals(house)
    nothing_is_left_over(house)
    house.start()


def test_a_restore_whose_last_step_fails_leaves_the_database_as_it_was(house: House, tmp_path: Path) -> None:
    adopted(house)
    house.manage("backup", str(tmp_path / "b"))
    house.stop()
    before = as_it_is(house)
    with somebody_who_reads(house):
        refused = house.manage("restore", str(tmp_path / "b"), "--replace", check=False)
    assert refused.returncode == 1 and "Nothing was restored" in refused.stderr
    assert as_it_is(house) == before
    nothing_is_left_over(house)
    house.start()


@contextlib.contextmanager
def somebody_who_reads(house: House) -> Iterator[None]:
    if house.cluster is None:
        with contextlib.closing(sqlite3.connect(house.sqlite, isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM audit_entry").fetchone()
            yield
    else:
        with psycopg.connect(postgres.database_url(house.cluster.folder, house.database)) as other:
            other.execute("SELECT count(*) FROM audit_entry")
            yield


def test_an_older_copy_comes_up_with_what_was_erased_and_revoked_and_nobody_signed_in(
    house: House, tmp_path: Path
) -> None:
    kept = house.agent().remember(SAID).json()["id"]
    alice, bob, carol = (Visitor(house, name).sign_in() for name in ("alice", "bob", "carol"))
    adopted(house)
    assert alice.decide(kept).status == 200
    record = house.agent().call("GET", f"/api/v1/proposals/{kept}").json()["outcome"]["record"]
    house.manage("backup", str(tmp_path / "b"))
    later = house.agent().remember("Said after the backup was made.").json()["id"]
    form = carol.form(f"/memory/{record}/erase/", "reason")
    assert carol.send(f"/memory/{record}/erase/", {**form, "reason": "Article 17."}).status == 200
    (erasing,) = erasures(house)
    assert alice.decide(erasing).status == bob.decide(erasing).status == 200
    assert house.holding("14 Marker Lane") == []
    assert b'"still_in": []' in alice.open(f"/proposals/{erasing}/certificate/").body

    house.stop()
    done = house.manage("restore", str(tmp_path / "b"), "--replace")

    assert "Put in force again: 2." in done.stdout, done.stdout
    assert kept in proposals(house) and later not in proposals(house)
    assert house.holding("14 Marker Lane") == []
    told = {row[0] for row in house.rows("SELECT action FROM audit_entry ORDER BY seq DESC LIMIT 9")}
    assert house.rows("SELECT count(*) FROM django_session") == [(0,)]
    assert {"restore.done", "memory.erased", "tombstone.created"} <= told
    house.start()
    assert b'name="password"' in alice.open("/").body
    assert b"Erased on" in alice.sign_in().open(f"/memory/{record}/").body
    assert house.agent().call("GET", f"/api/v1/memory/records/{record}").status == 404


def adopted(house: House) -> None:
    """Where a test before this one put an older copy back, its log is taken for good."""
    if house.manage("adopt_log", "--reason", "The tests put a copy back.", check=False).returncode:
        return
    for name in ("dana", "erin"):
        manager = Visitor(house, name).sign_in()
        manager.send("/audit/adopt/", manager.form("/audit/", "adoption"))


def copy_in(folder: Path) -> Path:
    (copy,) = (*folder.glob("*.sqlite3"), *folder.glob("*.pgdump"))
    return copy


def copy_by_hand(house: House, copy: Path) -> None:
    copy.unlink()
    if house.cluster is None:
        house.rows(f"VACUUM INTO '{copy}'")
        return
    url = postgres.database_url(house.cluster.folder, house.database)
    subprocess.run(["pg_dump", "-Fc", f"--dbname={url}", f"--file={copy}"], check=True)


def unpacked(house: House, copy: Path) -> bytes:
    """All that a copy tells."""
    if house.cluster is None:
        return copy.read_bytes()
    return subprocess.run(["pg_restore", "--file=-", str(copy)], check=True, capture_output=True).stdout


def as_it_is(house: House) -> list[list[tuple[object, ...]]]:
    tables = ("audit_head", "audit_checkpoint", "django_session", "review_proposal")
    return [house.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables]


def left_over(house: House) -> list[str]:
    databases = house.rows("SELECT datname FROM pg_database") if house.cluster else []
    names = [*(name for (name,) in databases), *(path.name for path in house.folder.iterdir())]
    return [name for name in names if name.endswith(("_restoring", ".restoring"))]


def nothing_is_left_over(house: House) -> None:
    assert left_over(house) == []


def proposals(house: House, condition: str = "TRUE") -> list[str]:
    return [str(UUID(str(row[0]))) for row in house.rows(f"SELECT id FROM review_proposal WHERE {condition}")]


def erasures(house: House) -> list[str]:
    return proposals(house, "tool = 'memory.erase'")
