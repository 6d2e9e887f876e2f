"""What the tests of the log share."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import LazySettings


@pytest.fixture
def witness_file(transactional_db: None, settings: LazySettings) -> Path:
    """The witness file of a log whose commits are real."""
    return Path(settings.HUQAN_WITNESS_FILE)
