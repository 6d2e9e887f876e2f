"""Every table is watched while the demo's story is told: nothing is written that no entry tells of (I18).

tests/conftest.py watches every other database test too.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from review.access.models import Workspace
from review.audit.transaction import write
from review.services.transitions import move
from tests.support.factories import team
from tests.support.review_acts import call
from tests.support.watcher import ONLY_ON_SQLITE, UNRECORDED, watching

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.unwatched("the watcher itself is tested"),
]


def test_all_that_the_demos_people_do_is_recorded(settings: LazySettings, tmp_path: Path) -> None:
    settings.HUQAN_DATA_DIR = tmp_path  # where the demo keeps its passwords
    with watching() as watcher:
        call_command("seed_demo", "--json", stdout=io.StringIO())
    assert watcher.unrecorded == []
    assert Workspace.objects.exists()


def test_a_change_that_no_entry_tells_of_is_noticed() -> None:
    proposal = call(team().scout)
    with watching() as watcher, write():
        move(proposal, proposal.status, decided_at=timezone.now())
    [noticed] = watcher.unrecorded
    assert "writes review_proposal without an entry" in noticed


def test_nothing_is_watched_any_more_afterwards() -> None:
    with watching():
        pass
    assert not connection.execute_wrappers


def test_each_table_that_is_not_watched_exists() -> None:
    elsewhere = set() if connection.vendor == "sqlite" else ONLY_ON_SQLITE
    assert set(UNRECORDED) - elsewhere <= set(connection.introspection.table_names())
