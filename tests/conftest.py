"""Fixtures that every test may ask for.

Database tests (tests/db, tests/api) run on the engine that HUQAN_DATABASE_URL names: SQLite in a
file of this worker's own, or the private PostgreSQL that `./run test` starts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import browser, environment, postgres
from tests.support.console import Console

environment.make_private()

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django import DjangoDbBlocker

TESTS = Path(__file__).parent
ON_BOTH_ENGINES = (TESTS / "db", TESTS / "api")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs once more on PostgreSQL."""
    for item in items:
        if any(folder in item.path.parents for folder in ON_BOTH_ENGINES):
            item.add_marker(pytest.mark.both_engines)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Refuse any PostgreSQL but the private one, before a test database is made in it."""
    from django.db import connection

    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection._nodb_cursor() as cursor:
            cursor.execute("show data_directory")
            postgres.refuse_foreign(cursor.fetchone(), Path(os.environ[environment.CLUSTER]))


@pytest.fixture(scope="session", autouse=True)
def append_only_tables_can_be_emptied() -> Iterator[None]:
    """Let the flush after a `transactional_db` test pass the guards, and begin a new log after it.

    Of what Django does after a flush only the audit app's part is done: permissions and content types
    are nobody's here. The copies outside the database (witness file, withdrawn values) and the cache go too.
    """
    from django.conf import settings
    from django.core.cache import cache
    from django.core.management import call_command
    from django.db import DEFAULT_DB_ALIAS, connection
    from django.test import TransactionTestCase

    from review.audit import guards, schema

    def flush_without_guards(case: TransactionTestCase) -> None:
        guards.remove(connection)
        settings.HUQAN_WITNESS_FILE.unlink(missing_ok=True)
        settings.HUQAN_WITNESS_FILE.with_name("withdrawn.jsonl").unlink(missing_ok=True)
        call_command(
            "flush", verbosity=0, interactive=False, reset_sequences=False, inhibit_post_migrate=True
        )
        schema.settle(using=DEFAULT_DB_ALIAS)
        cache.clear()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", flush_without_guards)
        yield


@pytest.fixture(scope="session", autouse=True)
def the_cast_needs_no_entries() -> Iterator[None]:
    """The people and tokens of tests/support/factories.py are rows alone, so verification leaves them out here.

    tests/db/access/test_replay.py replays them, and so does every server that a test starts.
    """
    from review.audit import verify

    with pytest.MonkeyPatch.context() as patch:
        for name in ("roles", "tokens"):
            patch.delitem(verify._replays, name)
        yield


@pytest.fixture(autouse=True)
def nothing_is_written_unrecorded(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a database test in which the product wrote what no entry tells of.

    What a test or a factory writes by its own hand does not count. Marked as `unwatched`, with why, a test may do more.
    """
    not_watched = request.node.get_closest_marker("unwatched")
    assert not_watched is None or not_watched.args, "Say why this test is not watched."
    if not_watched or request.node.get_closest_marker("both_engines") is None:
        yield
        return
    from tests.support.watcher import watching

    with watching() as watcher:
        yield
    assert watcher.unrecorded == []


@pytest.fixture(scope="session")
def console() -> Iterator[Console]:
    """Run a console with demo data, one for all browser tests of this worker."""
    with Console() as running:
        yield running


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Launch the browser that `./run test` found."""
    return {
        **browser_type_launch_args,
        "executable_path": browser.find(),
        "args": browser.launch_arguments(),
    }


@pytest.fixture
def sign_in(page: Page, console: Console) -> Callable[[str], Page]:
    """Return a function that signs a demo person in, in this test's own browser context."""

    def signed_in(name: str) -> Page:
        page.goto(f"{console.url}/accounts/login/")
        page.locator("input[name=login]").fill(name)
        page.locator("input[name=password]").fill(console.password(name))
        page.locator("input[name=password]").press("Enter")
        page.wait_for_url(lambda url: "/accounts/login" not in url)
        return page

    return signed_in
