"""The database under these tests is private, real, and whole again after each of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError

from review.audit import guards, witness
from review.audit.models import Entry, Head


@pytest.mark.django_db
def test_the_database_is_one_that_this_run_made() -> None:
    if connection.vendor == "sqlite":
        assert Path(connection.settings_dict["NAME"]).is_relative_to(os.environ["HUQAN_DATA_DIR"])
        assert connection.cursor().execute("PRAGMA journal_mode").fetchone() == ("wal",)
    else:
        assert connection.settings_dict["HOST"] == os.environ["HUQAN_TEST_CLUSTER"]
        assert connection.settings_dict["NAME"].startswith("test_")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", ["first", "after a flush"])
def test_each_transactional_test_finds_a_new_log_under_guard(turn: str) -> None:
    assert guards.missing(connection) == []
    assert Head.objects.get().size == Entry.objects.count() == 1
    assert witness.catch_up() is witness.Standing.AGREES
    with pytest.raises(DatabaseError), transaction.atomic():
        Entry.objects.all()._raw_delete(connection.alias)
