"""An open database is let go once its file is another one, or may no longer be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.signals import request_started
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.sqlite3.base import DatabaseWrapper

FILE = "kept.sqlite3"
pytestmark = pytest.mark.django_db


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BaseDatabaseWrapper]:
    """A database beside the tests' own, open as a server has it."""
    usual = connections.settings["default"]
    sqlite = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / FILE), "OPTIONS": {}}
    connection = DatabaseWrapper({**usual, **sqlite}, "kept")
    monkeypatch.setattr(connections, "all", lambda **_: [connection])
    connection.inc_thread_sharing()
    connection.connect()
    yield connection
    connection.close()


def a_request_comes() -> None:
    request_started.send(sender=None)


def test_it_stays_open_from_one_request_to_the_next(kept: BaseDatabaseWrapper) -> None:
    kept.connection.execute("CREATE TABLE notes (text)")
    a_request_comes()
    assert kept.connection is not None


def test_it_is_let_go_when_its_file_was_made_read_only(kept: BaseDatabaseWrapper) -> None:
    Path(kept.settings_dict["NAME"]).chmod(0o400)
    a_request_comes()
    assert kept.connection is None


def test_it_is_let_go_when_another_file_took_its_place(kept: BaseDatabaseWrapper, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    (tmp_path / "other").rename(tmp_path / FILE)
    a_request_comes()
    assert kept.connection is None
