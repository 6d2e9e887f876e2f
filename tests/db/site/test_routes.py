"""Who is answered what, at every address: the whole table is checked in, and read by people."""

from __future__ import annotations

import os

import pytest
from django.core.cache import cache

from tests.support.inventory import TABLE, Row, Town, checked_in, rows, table

OPEN_CALLS = ("api/v1/docs", "api/v1/openapi.json")


@pytest.fixture
def town(db: None) -> Town:
    cache.clear()
    return Town()


def names_something(town: Town, row: Row) -> bool:
    return town.address(row) != town.address(row, missing=True)


@pytest.mark.slow
def test_every_visitor_is_answered_at_every_address_as_the_table_says(town: Town) -> None:
    found = table(
        {
            row: {name: town.answer(row, caller) for name, caller in town.callers(row).items()}
            for row in rows()
        }
    )
    if os.environ.get("ROUTES") == "write":
        TABLE.write_text(found)
    assert found.splitlines() == TABLE.read_text().splitlines()


def test_a_token_opens_no_page() -> None:
    for row, cells in checked_in().items():
        assert row.is_api or cells["token"] == cells["nobody"], row


def test_a_session_calls_nothing_of_the_api() -> None:
    for row, cells in checked_in().items():
        assert not row.is_api or cells["session"].status == 401 or row.route in OPEN_CALLS, row


def test_what_is_another_workspaces_answers_like_what_does_not_exist(town: Town) -> None:
    named = [row for row in rows() if names_something(town, row)]
    assert len(named) > 10
    for row in named:
        caller = town.callers(row)["foreign" if row.is_api else "outsider"]
        assert town.answer(row, caller) == town.answer(row, caller, missing=True), row


def test_a_superuser_without_a_role_gets_at_nothing_of_a_workspace(town: Town) -> None:
    for row, cells in checked_in().items():
        if not row.is_api and names_something(town, row):
            assert cells["superuser"].status in (403, 404, 405), row
