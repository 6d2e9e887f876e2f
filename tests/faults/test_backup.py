"""A backup made under load is whole; put back, it comes up with nothing in force that was taken away since."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from tests.support.console import Answer, Console
from tests.support.visitor import Visitor

SAID = "Zeliha Karaca lives at 14 Marker Lane."


@pytest.fixture(scope="module")
def house() -> Iterator[Console]:
    with Console() as running:
        yield running


def test_a_backup_under_load_verifies_and_is_recorded(house: Console, tmp_path: Path) -> None:
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
    with closing(sqlite3.connect(tmp_path / "b" / "huqan.sqlite3")) as copy:
        (size,) = copy.execute("SELECT size FROM audit_head").fetchone()
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert size >= stated["entries_at_least"]
    assert not list((tmp_path / "b").glob("*.key"))
    with closing(sqlite3.connect(house.folder / "huqan.sqlite3")) as database:
        last = database.execute("SELECT action FROM audit_entry WHERE action = 'backup.made'").fetchall()
    assert last == [("backup.made",)]


def test_a_folder_that_holds_something_is_left_alone(house: Console, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = house.manage("backup", str(tmp_path), check=False)
    assert done.returncode == 1 and "holds something already" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_what_is_not_a_backup_or_was_changed_is_not_put_back(house: Console, tmp_path: Path) -> None:
    house.manage("backup", str(tmp_path / "b"))
    there = house.manage("restore", str(tmp_path / "b"), check=False)
    assert there.returncode == 1 and "--replace" in there.stderr
    with (tmp_path / "b" / "huqan.sqlite3").open("r+b") as copy:
        copy.seek(-1, 2)
        copy.write(b"x")
    changed = house.manage("restore", str(tmp_path / "b"), "--replace", check=False)
    assert changed.returncode == 1 and "not the file that was backed up" in changed.stderr
    none = house.manage("restore", str(tmp_path / "nothing"), "--replace", check=False)
    assert none.returncode == 1 and "no backup" in none.stderr


def test_an_older_copy_comes_up_with_what_was_erased_and_revoked_and_nobody_signed_in(
    house: Console, tmp_path: Path
) -> None:
    kept = house.agent().remember(SAID).json()["id"]
    alice, bob, carol = (Visitor(house, name).sign_in() for name in ("alice", "bob", "carol"))
    assert alice.decide(kept).status == 200
    record = house.agent().call("GET", f"/api/v1/proposals/{kept}").json()["outcome"]["record"]
    house.manage("backup", str(tmp_path / "b"))
    later = house.agent().remember("Said after the backup was made.").json()["id"]
    form = carol.form(f"/memory/{record}/erase/", "reason")
    assert carol.send(f"/memory/{record}/erase/", {**form, "reason": "Article 17."}).status == 200
    (erasing,) = erasures(house)
    assert alice.decide(erasing).status == bob.decide(erasing).status == 200
    assert held_in(house.folder) == []
    assert b'"still_in": []' in alice.open(f"/proposals/{erasing}/certificate/").body

    house.stop()
    done = house.manage("restore", str(tmp_path / "b"), "--replace")

    assert "Put in force again: 2." in done.stdout, done.stdout
    assert kept in proposals(house) and later not in proposals(house)
    assert held_in(tmp_path / "b") and held_in(house.folder) == []
    with closing(sqlite3.connect(house.folder / "huqan.sqlite3")) as database:
        told = {
            row[0] for row in database.execute("SELECT action FROM audit_entry ORDER BY seq DESC LIMIT 9")
        }
        assert database.execute("SELECT count(*) FROM django_session").fetchone() == (0,)
    assert {"restore.done", "memory.erased", "tombstone.created"} <= told
    house.start()
    assert b'name="password"' in alice.open("/").body
    assert b"Erased on" in alice.sign_in().open(f"/memory/{record}/").body
    assert house.agent().call("GET", f"/api/v1/memory/records/{record}").status == 404


def proposals(house: Console, condition: str = "1") -> list[str]:
    with closing(sqlite3.connect(house.folder / "huqan.sqlite3")) as database:
        rows = database.execute(f"SELECT id FROM review_proposal WHERE {condition}")
        return [str(UUID(row[0])) for row in rows]


def erasures(house: Console) -> list[str]:
    return proposals(house, "tool = 'memory.erase'")


def held_in(folder: Path) -> list[str]:
    """The files that hold the text."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in paths if b"14 Marker Lane" in path.read_bytes()]
