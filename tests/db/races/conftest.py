"""What every race stands on: commits that are real, and a small cast that lasts for all its rounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.conf import LazySettings
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

if TYPE_CHECKING:
    from tests.db.races.stage import Stage


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Two hundred rounds take their time, also where each is quick."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def stage(no_waiting_for_the_disk: None, settings: LazySettings) -> Iterator[Stage]:
    """The cast and two threads to race in; after the test the log must be whole."""
    from tests.db.races.stage import Stage

    settings.HUQAN_MAX_OPEN_PROPOSALS = 1_000_000
    with Stage() as stage:
        yield stage
        stage.must_be_sound()


@pytest.fixture
def no_waiting_for_the_disk(transactional_db: None) -> Iterator[None]:
    """Let SQLite answer before the disk has it: a race is not about power cuts, and has thousands of commits."""
    connection.close()
    connection_created.connect(_do_not_wait)
    yield
    connection_created.disconnect(_do_not_wait)
    connection.close()


def _do_not_wait(connection: BaseDatabaseWrapper, **_: object) -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous=OFF")
