"""What every test of this folder stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from tests.support.factories import Team


@pytest.fixture
def cast(db: None) -> Team:
    from tests.support import factories  # models can be imported only once Django is set up

    return factories.team()


@pytest.fixture
def alice(cast: Team) -> Client:
    from tests.support.pages import browser

    return browser(cast.alice)
