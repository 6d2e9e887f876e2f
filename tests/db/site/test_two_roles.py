"""On PostgreSQL one role owns the tables and another serves: it reads and adds, and cannot unmake what stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection, transaction
from django.db.utils import ProgrammingError
from environs import Env

from huqan_site import environment
from huqan_site.examination import examine
from review.access.models import ResetRequest
from review.access.services.resets import ask_for_reset, send_resets
from review.audit import grants, guards
from review.services.issue_permit import redeem
from tests.support import factories
from tests.support.memory_acts import approve, asked, doubtful, known, reject, retracting
from tests.support.review_acts import call, mail, vote

APP = "huqan_app_in_tests"
only_postgresql = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no roles.")


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def app(db: None) -> Iterator[str]:
    """A role that owns nothing and was given its rights; from here on the test is that role."""
    sql(f"CREATE ROLE {APP}")
    grants.give(connection, APP)
    sql(f"SET ROLE {APP}")
    yield APP
    sql("RESET ROLE")


def refused(statement: str) -> bool:
    """Whether the database refuses `statement` for want of a right; it is undone in either case."""
    try:
        with transaction.atomic():
            sql(statement)
            transaction.set_rollback(True)
    except ProgrammingError as error:
        cause = error.__cause__
    else:
        return False
    assert isinstance(cause, psycopg.errors.InsufficientPrivilege), cause
    return True


FORBIDDEN = [
    "UPDATE audit_entry SET canonical = '{}'",
    "UPDATE audit_head SET log = 'another'",
    "UPDATE review_decision SET verdict = 'reject'",
    "UPDATE review_permit SET token = ''",
    "UPDATE memory_tombstone SET value_key = ''",
    "DELETE FROM audit_entry",
    "DELETE FROM review_decision",
    "DELETE FROM review_proposal",
    "DELETE FROM memory_memoryrecord",
    "TRUNCATE audit_entry",
    "TRUNCATE review_proposal CASCADE",
    "ALTER TABLE audit_entry DISABLE TRIGGER ALL",
    "ALTER TABLE audit_entry ADD COLUMN more text",
    "DROP TRIGGER huqan_audit_entry_update ON audit_entry",
    "DROP FUNCTION huqan_audit_entry_update()",
    "DROP TABLE audit_entry",
    "CREATE TRIGGER mine BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION huqan_audit_entry_update()",
    "SET session_replication_role = replica",
    "CREATE TABLE mine (id integer)",
    "DELETE FROM django_migrations",
    "COPY audit_entry FROM PROGRAM 'true'",
]


@only_postgresql
def test_the_role_that_serves_cannot_unmake_what_stands(app: str) -> None:
    for statement in FORBIDDEN:
        assert refused(statement), statement


@only_postgresql
def test_the_role_that_owns_could(db: None) -> None:
    guards.remove(connection)
    for statement in FORBIDDEN:
        if "TRIGGER" not in statement and "FUNCTION" not in statement:
            connection.check_constraints()
            assert not refused(statement), statement


@only_postgresql
def test_the_role_that_serves_carries_the_whole_path(app: str) -> None:
    cast = factories.team()
    vote(cast.alice, mail(cast.scout))
    approved = call(cast.scout)
    vote(cast.alice, approved)
    redeem(approved.id, by=cast.scout, arguments={"order": "20817"})
    reject(doubtful(cast.scout, "The vault opens at noon."), cast.alice, tombstone=True)


@only_postgresql
def test_the_role_that_serves_takes_back_what_was_known(app: str) -> None:
    cast = factories.team()
    wrong, personal = (
        known(cast.scout, said, cast.alice)
        for said in ("The vault opens at noon.", "Zeliha lives in Marker Lane.")
    )
    assert approve(retracting(cast.scout, wrong), cast.alice).status == "executed"
    erasing = asked(cast.carol, "memory.erase", personal, "Article 17.")
    assert approve(erasing, cast.alice, cast.bob).status == "executed"


@only_postgresql
def test_the_role_that_serves_answers_who_forgot_a_password(app: str) -> None:
    ask_for_reset("nobody is called that")
    assert ResetRequest.objects.exists()
    send_resets()
    assert not ResetRequest.objects.exists()


@only_postgresql
def test_a_table_that_nobody_listed_is_out_of_reach(db: None) -> None:
    sql("CREATE TABLE stranger (id integer)")
    sql(f"CREATE ROLE {APP}")
    sql(f"GRANT ALL ON stranger TO {APP}")
    grants.give(connection, APP)
    sql(f"SET ROLE {APP}")
    assert refused("SELECT * FROM stranger")
    assert not refused("SELECT * FROM review_proposal")
    sql("RESET ROLE")


@only_postgresql
def test_migrate_gives_the_rights_again(app: str, settings: LazySettings) -> None:
    sql("RESET ROLE")
    sql(f"REVOKE ALL ON review_proposal FROM {APP}")
    settings.DATABASES["default"]["USER"], owner = APP, settings.DATABASES["default"]["USER"]
    try:
        call_command("migrate", "audit", verbosity=0)
    finally:
        settings.DATABASES["default"]["USER"] = owner
    sql(f"SET ROLE {APP}")
    assert not refused("SELECT * FROM review_proposal")


def said() -> str:
    return " ".join(finding.sentence for finding in examine())


@only_postgresql
def test_the_doctor_says_where_one_role_does_everything(db: None) -> None:
    assert "superuser" in said()
    sql(f"CREATE ROLE {APP}")
    grants.give(connection, APP)
    sql(f"SET ROLE {APP}")
    apart = said()
    sql("RESET ROLE")
    assert "superuser" not in apart and "owns the tables" not in apart
    sql(f"GRANT {connection.settings_dict['USER']} TO {APP}")
    sql(f"SET ROLE {APP}")
    member = said()
    sql("RESET ROLE")
    assert "owns the tables" in member


def owning(serving: str, owner: str) -> dict[str, Any] | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HUQAN_DATABASE_URL", serving)
        patch.setenv("HUQAN_DATABASE_OWNER_URL", owner)
        env = Env()
        database = environment.database(env, Path("/nowhere"), wait=1)
        return environment.owning_database(env, database, wait=1)


def test_an_owner_of_the_same_database_is_taken() -> None:
    assert owning("postgresql://app@db.example/huqan", "postgresql://owner@db.example/huqan")
    assert owning("", "") is None


def test_how_to_connect_stands_in_the_url() -> None:
    place = owning("postgresql://app@db.example/huqan", "postgresql://o@db.example/huqan?sslmode=verify-full")
    assert place is not None and place["OPTIONS"]["sslmode"] == "verify-full"


@pytest.mark.parametrize(
    ("serving", "owner", "named"),
    [
        ("postgresql://app@db.example/huqan", "postgresql://owner@db.example/other", "same"),
        ("", "postgresql://owner@db.example/huqan", "same"),
        ("postgresql://one@db.example/huqan", "postgresql://one@db.example/huqan", "another role"),
        ("postgresql://db.example/huqan", "postgresql://owner@db.example/huqan", "another role"),
    ],
)
def test_an_owner_that_makes_no_sense_is_refused(serving: str, owner: str, named: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=named):
        owning(serving, owner)
