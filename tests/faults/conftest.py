"""A real console on each engine, shared by every test here: each leaves it as able as it found it.

When all are through, the log must verify, against its witness file too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.house import House, house_on

HERE = Path(__file__).parent
WAIT = {"HUQAN_WRITE_WAIT_SECONDS": "1.5"}  # else each of these tests would wait ten


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of one engine to one worker, which has the console of that engine."""
    for item in items:
        if HERE in item.path.parents:
            engine = "postgresql" if "postgresql" in item.name else "sqlite"
            item.add_marker(pytest.mark.xdist_group(f"faults on {engine}"))
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    """A console with demo data, its people signed in, on SQLite and on a PostgreSQL of its own."""
    with house_on(request.param, **WAIT) as house:
        yield from _whole_afterwards(house)


def _whole_afterwards(house: House) -> Iterator[House]:
    """Whatever happened in it, its log is whole."""
    yield house
    house.must_be_whole()
