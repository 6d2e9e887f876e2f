"""The doctor names what is weak, and exits with 1 for what is broken."""

from __future__ import annotations

import sqlite3
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection

from huqan_site import examination, health
from huqan_site.examination import Weight, examine
from review.access.roles import Role
from review.access.services.agents import create_agent
from review.access.services.memberships import grant_membership
from review.access.services.people import create_person_with_account, disable_person
from review.access.services.workspaces import create_workspace
from review.audit import guards

pytestmark = pytest.mark.django_db


def said(weight: Weight) -> str:
    return " ".join(finding.sentence for finding in examine() if finding.weight is weight)


def team(*names: str) -> Any:
    """acme, managed by dana, with `names` as its reviewers; return ids by name."""
    from review.access.actors import SystemActor

    by = SystemActor()
    opened = create_workspace("acme", "dana", by=by)
    people = {"dana": opened.manager.person_id}
    for name in names:
        people[name] = create_person_with_account(name, name, by=by).user.person_id
        grant_membership(people[name], opened.workspace.id, Role.REVIEWER, by=by)
    return opened.workspace.id, people, by


def test_a_workspace_in_which_two_cannot_decide_is_weak() -> None:
    workspace, _, by = team("alice")
    assert "role reviewer: 1" in said(Weight.WEAK)
    bob = create_person_with_account("bob", "bob", by=by).user.person_id
    grant_membership(bob, workspace, Role.REVIEWER, by=by)
    assert "reviewer" not in said(Weight.WEAK)
    assert "role manager: 1" in said(Weight.WEAK)


def test_an_agent_nobody_active_answers_for_is_named() -> None:
    workspace, people, by = team("alice", "bob")
    create_agent(workspace, "scout", owner=people["bob"], by=by)
    assert "scout" not in said(Weight.WEAK)
    disable_person(people["bob"], by=by)
    assert "agent scout" in said(Weight.WEAK)


def test_a_missing_guard_is_broken() -> None:
    assert "Guards" not in said(Weight.BROKEN)
    guards.remove(connection)
    found = said(Weight.BROKEN)
    guards.install(connection)
    assert "audit_entry" in found


def test_a_missing_migration_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_known_migrations", lambda: frozenset({("review", "9999_next")}))
    assert "review.9999_next" in said(Weight.BROKEN)


def test_a_keys_folder_that_others_reach_is_broken(tmp_path: Path, settings: Any) -> None:
    settings.HUQAN_KEYS_DIR = tmp_path
    tmp_path.chmod(0o700)
    assert "keys folder" not in said(Weight.BROKEN)
    tmp_path.chmod(0o755)
    assert "keys folder" in said(Weight.BROKEN)


def test_demo_people_in_production_are_broken(tmp_path: Path, settings: Any) -> None:
    settings.HUQAN_DATA_DIR, settings.PRODUCTION = tmp_path, True
    assert "demo" not in said(Weight.BROKEN)
    (tmp_path / "demo.json").touch()
    assert "demo" in said(Weight.BROKEN)


@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_a_witness_on_the_databases_own_disk_is_weak(tmp_path: Path, settings: Any, monkeypatch: Any) -> None:
    assert "witness file" in said(Weight.WEAK)
    monkeypatch.setattr(examination, "_share_a_disk", lambda *_: False)
    assert "witness file" not in said(Weight.WEAK)


@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_an_sqlite_with_the_write_ahead_bug_is_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 51, 2))
    assert "write-ahead" in said(Weight.WEAK)
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 51, 3))
    assert "write-ahead" not in said(Weight.WEAK)


def test_a_database_that_does_not_answer_is_the_one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent() -> None:
        raise OperationalError("secret text of the driver")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", silent)
        [finding] = examine()
    assert finding.weight is Weight.BROKEN
    assert "secret" not in finding.sentence


def test_the_exit_code_is_one_when_something_is_broken(tmp_path: Path, settings: Any) -> None:
    printed = StringIO()
    call_command("doctor", stdout=printed)
    settings.HUQAN_KEYS_DIR = tmp_path
    tmp_path.chmod(0o755)
    with pytest.raises(SystemExit) as left:
        call_command("doctor", stdout=printed)
    assert left.value.code == 1
    assert "broken: Others can reach" in printed.getvalue()
