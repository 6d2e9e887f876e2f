"""What every race stands on: commits that are real, and a small cast that lasts for all its rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.conf import LazySettings

if TYPE_CHECKING:
    from tests.db.races.stage import Stage


@pytest.fixture
def stage(transactional_db: None, settings: LazySettings) -> Iterator[Stage]:
    """The cast and two threads to race in; after the test the log must be whole."""
    from tests.db.races.stage import Stage

    settings.HUQAN_MAX_OPEN_PROPOSALS = 1_000_000
    with Stage() as stage:
        yield stage
        stage.must_be_sound()
