"""An older copy of the database is put back under a console that has decided more since."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.console import Console
from tests.support.visitor import Visitor, problem_of

DATABASE = "huqan.sqlite3"
REFUND = {"order": "20817"}


@pytest.fixture
def restored() -> Iterator[Console]:
    """A console on a copy that was taken before a decision was made and witnessed."""
    with Console() as console:
        console.stop()
        kept = console.folder / "kept"
        kept.mkdir()
        _copy(console.folder, kept)
        console.start()
        proposal = console.agent().propose("payments.refund", REFUND).json()["id"]
        alice = Visitor(console, "alice").sign_in()
        assert alice.cast(proposal, alice.ballot(proposal)).status == 200
        console.stop()
        for path in console.folder.glob(f"{DATABASE}*"):
            path.unlink()
        _copy(kept, console.folder)
        console.start()
        yield console


def _copy(source: Path, to: Path) -> None:
    for path in source.glob(f"{DATABASE}*"):
        shutil.copy(path, to)


def test_nobody_decides_until_two_managers_adopt_what_was_put_back(restored: Console) -> None:
    refused = restored.manage("verify_audit", check=False)
    assert refused.returncode == 1, refused.stdout
    alice = Visitor(restored, "alice").sign_in()
    proposal = restored.agent().propose("payments.refund", REFUND).json()["id"]
    page = alice.open(f"/proposals/{proposal}/")
    assert b"Deciding is stopped" in page.body
    undecided = alice.cast(proposal, alice.ballot(proposal))
    assert (undecided.status, problem_of(undecided)) == (503, "unavailable")

    restored.manage("adopt_log", "--reason", "The copy of Sunday was put back.")
    for name in ("dana", "erin"):
        manager = Visitor(restored, name).sign_in()
        assert b"The copy of Sunday was put back." in manager.open("/audit/").body
        manager.send("/audit/adopt/", manager.form("/audit/", "adoption"))

    assert b"Deciding is stopped" not in alice.open("/").body
    assert alice.cast(proposal, alice.ballot(proposal)).status == 200
    verified = restored.manage("verify_audit", check=False)
    assert verified.returncode == 0, verified.stdout


def test_what_is_put_back_under_a_running_console_is_found_at_once_and_nobody_writes_into_the_old_file() -> (
    None
):
    with Console() as console:
        alice = Visitor(console, "alice").sign_in()
        kept = console.folder / "kept.sqlite3"
        with closing(sqlite3.connect(console.folder / DATABASE)) as running:
            running.execute(f"VACUUM INTO '{kept}'")
        first, second = (console.agent().propose("payments.refund", {"order": n}).json()["id"] for n in "12")
        assert alice.decide(first).status == 200
        for path in console.folder.glob(f"{DATABASE}-*"):
            path.unlink()
        os.replace(kept, console.folder / DATABASE)

        third = console.agent().propose("payments.refund", {"order": "3"})
        refused = alice.decide(third.json()["id"])
        assert (refused.status, problem_of(refused)) == (503, "unavailable")
        assert alice.open(f"/proposals/{second}/").status == 404
        end = time.monotonic() + 30  # by itself it would let go after 60
        while in_the_old_file(console):
            assert time.monotonic() < end
            time.sleep(0.5)


def in_the_old_file(console: Console) -> list[str]:
    """The worker, as long as it has a file open that is not there any more."""
    assert console.server is not None
    programs = Path(f"/proc/{console.server.pid}/task/{console.server.pid}/children").read_text().split()
    workers = [program for program in programs if b"worker" in Path(f"/proc/{program}/cmdline").read_bytes()]
    assert workers
    files = (link for worker in workers for link in Path(f"/proc/{worker}/fd").iterdir())
    return [name for link in files if (name := os.readlink(link)).endswith(f"{DATABASE} (deleted)")]
