"""The demo is made once, by the real services, and never in production."""

from __future__ import annotations

import json
import shutil
import stat
import tempfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import TestCase, override_settings
from django.utils import timezone

from huqan_site.demo.keepsake import FILE, new_password
from memory.models import Lifecycle, MemoryRecord, Trust
from review.access import queries, tokens
from review.access.models import User
from review.audit.models import Entry
from review.models import Proposal, Status


def seed(*options: str) -> str:
    printed = StringIO()
    call_command("seed_demo", *options, stdout=printed)
    return printed.getvalue()


def account(name: str) -> User:
    user = queries.account(name)
    assert user is not None
    return user


class TheDemo(TestCase):
    """Told once for all these tests, in a folder of its own; keys and log stay where they are."""

    folder: Path
    demo: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp())
        cls.enterClassContext(override_settings(HUQAN_DATA_DIR=cls.folder))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        super().setUpClass()

    @classmethod
    def setUpTestData(cls) -> None:
        cls.demo = json.loads(seed("--json"))

    def test_it_has_proposals_in_every_state_and_memories(self) -> None:
        states = set(Proposal.objects.values_list("status", flat=True))
        assert states == set(Status) - {Status.EXPIRED}  # one runs out five seconds later
        assert Proposal.objects.filter(status=Status.QUARANTINED).count() == 2
        assert MemoryRecord.objects.filter(trust=Trust.TRUSTED, lifecycle=Lifecycle.ACTIVE).count() >= 3

    def test_a_second_run_changes_nothing_and_prints_the_same(self) -> None:
        def size() -> list[int]:
            return [Entry.objects.count(), Proposal.objects.count(), User.objects.count()]

        before = size()
        assert json.loads(seed("--json")) == self.demo
        assert size() == before

    def test_everybody_of_the_contract_is_there_with_his_roles(self) -> None:
        roles = {name: (who["workspace"], who["roles"]) for name, who in self.demo["people"].items()}
        assert roles == {
            "alice": ("acme", ["reviewer"]),
            "carol": ("acme", ["reviewer"]),
            "bob": ("acme", ["reviewer"]),
            "dana": ("acme", ["manager"]),
            "erin": ("acme", ["manager"]),
            "mallory": ("globex", ["reviewer", "manager"]),
            "oscar": ("globex", ["reviewer"]),
            "nina": ("globex", ["reviewer"]),
            "root": (None, []),
        }
        for name, (workspace, named) in roles.items():
            held = queries.memberships_of(account(name).person_id, timezone.now())
            assert {(m.workspace.name, m.role) for m in held} == {(workspace, role) for role in named}
        assert [user.username for user in User.objects.filter(is_superuser=True)] == ["root"]

    def test_the_passwords_and_tokens_it_prints_open_what_it_says(self) -> None:
        assert set(self.demo["agents"]) == {"scout", "ranger", "prowler", "mailer"}
        for name, told in self.demo["agents"].items():
            actor = tokens.authenticate([f"Bearer {told['token']}"], now=timezone.now())
            assert (actor.agent.name, actor.agent.workspace.name) == (name, told["workspace"])
            assert actor.token.scopes == told["scopes"]
            assert queries.owners(actor.agent.id, timezone.now()) == {account(told["owner"]).person_id}
        for name, who in self.demo["people"].items():
            assert account(name).check_password(who["password"])

    def test_the_roles_count_for_what_is_proposed_since_no_minter_granted_them(self) -> None:
        for name in ("alice", "bob", "carol", "oscar", "nina"):
            for membership in queries.memberships_of(account(name).person_id, timezone.now()):
                assert membership.granted_by is None

    def test_passwords_are_random_and_nobody_else_can_read_them(self) -> None:
        passwords = [who["password"] for who in self.demo["people"].values()]
        assert len(set(passwords)) == len(passwords)
        assert len(new_password()) >= 20
        assert stat.S_IMODE((self.folder / FILE).stat().st_mode) == 0o600
        log = "".join(Entry.objects.values_list("canonical", flat=True))
        assert not [password for password in passwords if password in log]

    def test_without_json_no_secret_is_printed(self) -> None:
        printed = seed()
        assert "alice" in printed
        kept = json.loads((self.folder / FILE).read_text())
        for secret in (*kept["passwords"].values(), *kept["tokens"].values()):
            assert secret not in printed

    def test_a_lost_file_gives_new_passwords_and_tokens(self) -> None:
        kept = (self.folder / FILE).rename(self.folder / "kept")
        again = json.loads(seed("--json"))
        kept.rename(self.folder / FILE)
        assert again["people"]["alice"]["password"] != self.demo["people"]["alice"]["password"]
        assert account("alice").check_password(again["people"]["alice"]["password"])
        assert tokens.authenticate([f"Bearer {again['agents']['scout']['token']}"], now=timezone.now())

    def test_production_takes_no_demo(self) -> None:
        with override_settings(PRODUCTION=True), pytest.raises(CommandError, match="production"):
            seed()
        assert seed()
