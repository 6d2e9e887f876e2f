"""An older copy of the database is put back under a console that has decided more since."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
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
