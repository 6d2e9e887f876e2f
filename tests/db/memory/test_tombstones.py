"""A rejected value stays rejected, by every door and in every spelling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import LazySettings, settings
from pytest_django import DjangoCaptureOnCommitCallbacks

from memory.gateway.tombstones import bury
from memory.gateway.write import write
from memory.models import MemoryRecord, Tombstone
from review.access.actors import SystemActor
from review.audit import withdrawn
from review.audit.refusals import Unavailable
from review.audit.transaction import write as transaction
from review.domain.refusals import Tombstoned
from tests.support.factories import Team
from tests.support.memory_acts import (
    approve,
    arguments_of,
    doubtful,
    known,
    recalled,
    reject,
    remember,
    reword,
)

PORT = "The staging port is 7443."
SPELLINGS = [
    "the STAGING port is 7443",
    "The sta\u200bging port is 7443.",
    "The st\u0430ging port is 7443.",
    "“The staging port is 7443!”",
]
NEIGHBOURS = ["The staging port is 7444.", "The staging port is not 7443.", "Staging listens on 7443."]


@pytest.fixture
def rejected(team: Team) -> Tombstone:
    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    return Tombstone.objects.get()


@pytest.mark.parametrize("spelling", [PORT, *SPELLINGS])
def test_a_rejected_value_is_refused_in_every_spelling_and_the_tombstone_is_named(
    team: Team, rejected: Tombstone, spelling: str
) -> None:
    with pytest.raises(Tombstoned) as refusal:
        remember(team.scout, spelling)
    assert str(rejected.id) in refusal.value.detail
    assert refusal.value.extra == {"tombstone": str(rejected.id)}
    assert not MemoryRecord.objects.exists()


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_a_neighbour_of_a_rejected_value_passes(team: Team, rejected: Tombstone, neighbour: str) -> None:
    assert remember(team.scout, neighbour).status == "pending"


def test_a_revision_cannot_bring_a_rejected_value_back(team: Team, rejected: Tombstone) -> None:
    proposal = remember(team.scout, "The staging port is open.")
    with pytest.raises(Tombstoned):
        reword(team.scout, proposal, PORT)


def test_what_was_rejected_while_people_were_deciding_is_not_written(team: Team) -> None:
    waiting, other = remember(team.scout, PORT), remember(team.scout, PORT.upper())
    reject(other, team.alice, tombstone=True)
    assert approve(waiting, team.carol).status == "rejected"
    assert recalled(team.scout) == []


def test_what_was_rejected_while_it_was_held_is_not_released(team: Team) -> None:
    waiting, other = doubtful(team.scout, PORT), doubtful(team.scout, PORT.upper())
    reject(other, team.alice)
    assert approve(waiting, team.alice, team.carol).status == "rejected"
    assert recalled(team.scout) == []
    assert not MemoryRecord.objects.held().exists()


def test_the_gateway_itself_refuses_a_rejected_value(team: Team) -> None:
    proposal = remember(team.scout, PORT)
    with transaction():
        assert bury(proposal, PORT, by=team.alice)
    with pytest.raises(Tombstoned), transaction():
        write(proposal, arguments_of(proposal), by=team.alice)


def test_a_plain_rejection_leaves_no_tombstone(team: Team) -> None:
    reject(remember(team.scout, PORT), team.alice)
    assert not Tombstone.objects.exists()


def test_an_owner_cannot_ban_a_value_that_his_own_agent_submits(team: Team) -> None:
    reject(remember(team.scout, PORT), team.bob, tombstone=True)
    assert not Tombstone.objects.exists()


def test_nobody_can_ban_what_is_trusted(team: Team) -> None:
    known(team.scout, PORT, team.alice)
    reject(doubtful(team.scout, PORT), team.carol)
    assert not Tombstone.objects.exists()
    assert recalled(team.scout) == [PORT]


def test_only_a_person_rejects_for_good(team: Team) -> None:
    proposal = remember(team.scout, PORT)
    with pytest.raises(TypeError), transaction():
        bury(proposal, PORT, by=SystemActor())


def test_one_value_has_one_tombstone(team: Team) -> None:
    first, second = remember(team.scout, PORT), remember(team.scout, PORT.upper())
    reject(first, team.alice, tombstone=True)
    reject(second, team.alice, tombstone=True)
    assert Tombstone.objects.count() == 1


def test_a_rejected_value_is_rejected_in_its_workspace_only(team: Team, rejected: Tombstone) -> None:
    assert remember(team.prowler, PORT).status == "pending"


def test_a_tombstone_does_not_say_what_it_stands_for(rejected: Tombstone) -> None:
    row = json.dumps(
        {field.attname: str(getattr(rejected, field.attname)) for field in Tombstone._meta.fields}
    )
    assert "7443" not in row


# The keys.


@pytest.fixture
def own_keys(tmp_path: Path, settings: LazySettings) -> Path:
    """A keys folder of this test's own."""
    settings.HUQAN_KEYS_DIR = tmp_path / "keys"
    return tmp_path / "keys"


def test_while_a_key_is_missing_nothing_is_written_and_reading_goes_on(own_keys: Path, team: Team) -> None:
    known(team.scout, "The office is in Ankara.", team.alice)
    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    for key in own_keys.glob("tombstone-*.key"):
        key.unlink()
    with pytest.raises(Unavailable):
        remember(team.scout, "Something else.")
    assert recalled(team.scout) == ["The office is in Ankara."]


def test_a_value_rejected_under_an_earlier_key_stays_rejected(own_keys: Path, team: Team) -> None:
    from huqan_site.lib.keyring import Keyring

    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    Keyring(own_keys).rotate("tombstone")
    with pytest.raises(Tombstoned):
        remember(team.scout, PORT)


def test_what_is_known_under_an_earlier_key_is_still_not_written_twice(own_keys: Path, team: Team) -> None:
    from huqan_site.lib.keyring import Keyring

    known(team.scout, PORT, team.alice)
    Keyring(own_keys).rotate("tombstone")
    assert approve(remember(team.scout, PORT), team.carol).outcome["admission"] == "corroborated"
    assert MemoryRecord.objects.count() == 1


# The list outside the database.


@pytest.fixture
def own_witness(tmp_path: Path, settings: LazySettings) -> Path:
    settings.HUQAN_WITNESS_FILE = tmp_path / "witness.txt"
    return tmp_path / "withdrawn.jsonl"


def test_a_tombstone_also_stands_outside_the_database_once_it_is_committed(
    own_witness: Path, team: Team, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        reject(remember(team.scout, PORT), team.alice, tombstone=True)
        assert not own_witness.exists()
    tombstone = Tombstone.objects.get()
    (line,) = withdrawn.lines()
    assert (line["what"], line["id"], line["value"]) == ("tombstone", str(tombstone.id), tombstone.value_key)
    assert "7443" not in own_witness.read_text()


def test_what_could_not_be_appended_is_appended_next_time_and_nothing_twice(
    own_witness: Path, rejected: Tombstone
) -> None:
    own_witness.mkdir()
    withdrawn.catch_up()
    own_witness.rmdir()
    withdrawn.catch_up()
    withdrawn.catch_up()
    assert [line["id"] for line in withdrawn.lines()] == [str(rejected.id)]


def test_a_line_that_a_crash_cut_short_spoils_no_other(own_witness: Path, rejected: Tombstone) -> None:
    own_witness.write_text('{"id": "cut')
    withdrawn.catch_up()
    assert [line["id"] for line in withdrawn.lines()] == [str(rejected.id)]
    assert settings.HUQAN_WITNESS_FILE.with_name("withdrawn.jsonl") == own_witness
