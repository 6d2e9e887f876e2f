"""What every test of this folder stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.factories import Team


@pytest.fixture
def team(db: None) -> Team:
    from tests.support import factories  # models can be imported only once Django is set up

    return factories.team()
