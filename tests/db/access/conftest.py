"""What every test of this folder stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.db.access.house import House


@pytest.fixture
def house(db: None) -> House:
    from tests.db.access.house import build  # models can be imported only once Django is set up

    return build()
