"""The doctor names what is weak, and exits with 1 for what is broken."""

from __future__ import annotations

import shutil
import sqlite3
from datetime import timedelta
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

from huqan_site import examination, health, storage_examination
from huqan_site.examination import examine
from huqan_site.findings import Weight
from memory.models import Erasure
from review.access.roles import Role
from review.access.services.agents import create_agent
from review.access.services.memberships import grant_membership
from review.access.services.people import create_person_with_account, disable_person
from review.access.services.workspaces import create_workspace
from review.audit import guards
from tests.support.review_acts import at

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


@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_an_sqlite_that_does_not_wait_for_the_disk_is_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "power cut" not in said(Weight.WEAK) and "journal" not in said(Weight.WEAK)
    answers = {"PRAGMA synchronous": 1, "PRAGMA journal_mode": "delete"}
    monkeypatch.setattr(storage_examination, "_answer", answers.__getitem__)
    assert "power cut" in said(Weight.WEAK) and "the mode delete" in said(Weight.WEAK)


@pytest.mark.skipif("connection.vendor != 'postgresql'")
def test_a_postgresql_that_does_not_wait_for_the_disk_is_weak() -> None:
    assert "synchronous_commit=off" in said(Weight.WEAK)  # as the tests' own server is started
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = on")
    assert "synchronous_commit=off" not in said(Weight.WEAK)
    assert "fsync=off" in said(Weight.WEAK)


def test_a_postgresql_whose_files_may_still_hold_what_was_erased_is_weak() -> None:
    workspace, _, _ = team()
    assert "was erased" not in said(Weight.WEAK)
    Erasure.objects.create(
        id=uuid4(),
        workspace_id=workspace,
        targets={},
        counts={},
        erased_at=timezone.now() + timedelta(days=1),
    )
    due = connection.vendor == "postgresql"  # SQLite's files are written anew by the erasure itself
    assert ("VACUUM (FULL, ANALYZE)" in said(Weight.WEAK)) is due


def test_a_data_folder_on_a_network_is_weak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mounts"
    monkeypatch.setattr(storage_examination, "MOUNTS", table)
    for kind, is_weak in (("ext4", False), ("nfs4", True), ("fuse.sshfs", True)):
        table.write_text(f"root / ext4 rw 0 0\nother /nowhere nfs rw 0 0\ndisk / {kind} rw 0 0\n")
        assert ("of the network" in said(Weight.WEAK)) is is_weak, kind


def test_a_disk_that_is_nearly_full_is_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    for free, is_weak in ((10**12, False), (10**7, True)):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        assert ("10 MB left" in said(Weight.WEAK)) is is_weak


def test_a_log_that_comes_from_the_future_is_weak() -> None:
    assert "in the future" not in said(Weight.WEAK)
    with at(timezone.now() - timedelta(days=1)):
        assert "in the future" in said(Weight.WEAK)


def test_a_key_that_others_can_read_is_broken(tmp_path: Path, settings: Any) -> None:
    settings.HUQAN_KEYS_DIR = tmp_path
    tmp_path.chmod(0o700)
    (tmp_path / "audit.key").touch(0o600)
    assert "audit.key" not in said(Weight.BROKEN)
    (tmp_path / "audit.key").chmod(0o640)
    assert "audit.key" in said(Weight.BROKEN)


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
