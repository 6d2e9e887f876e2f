"""Verification looks at memory too: no record without its entry, none changed, none gone."""

from __future__ import annotations

from uuid import uuid4

import pytest

from memory.models import MemoryRecord, Tombstone
from memory.queries import replay
from tests.support.factories import Team
from tests.support.memory_acts import approve, doubtful, known, reject, remember
from tests.support.tampering import guards_down

PORT = "The staging port is 7443."


def faults() -> list[str]:
    return [sentence for sentence in [*replay.records(), *replay.tombstones()] if sentence]


def test_a_memory_that_nobody_touched_agrees_with_the_log(team: Team) -> None:
    known(team.scout, PORT, team.alice, confidence=1)
    approve(remember(team.scout, PORT), team.carol)
    approve(doubtful(team.scout, "Released."), team.alice, team.carol)
    reject(doubtful(team.scout, "Discarded."), team.alice)
    doubtful(team.scout, "Held.")
    assert faults() == []
    assert len([*replay.records(), *replay.tombstones()]) == 5


@pytest.mark.parametrize(
    "change",
    [
        {"content": "The staging port is 7444."},
        {"trust": "quarantined"},
        {"provenance": {"kind": "user", "ref": "ticket-2"}},
        {"value_key": "0" * 64},
        {"confidence": 0.1},
    ],
)
def test_a_record_that_was_changed_behind_the_gateways_back_is_named(
    team: Team, change: dict[str, object]
) -> None:
    record = known(team.scout, PORT, team.alice, confidence=0.9)
    MemoryRecord.objects.filter(id=record.id).update(**change)
    (sentence,) = faults()
    assert str(record.id) in sentence


def test_a_text_that_was_let_out_of_quarantine_by_hand_is_named(team: Team) -> None:
    record = MemoryRecord.objects.get(proposal=doubtful(team.scout, PORT))
    MemoryRecord.objects.filter(id=record.id).update(trust="trusted", trusted_at=record.recorded_at)
    assert [str(record.id) in sentence for sentence in faults()] == [True]


def test_a_record_and_a_tombstone_that_vanished_are_named(team: Team) -> None:
    record = known(team.scout, PORT, team.alice)
    reject(doubtful(team.scout, "Discarded."), team.alice)
    tombstone = Tombstone.objects.get()
    MemoryRecord.objects.filter(id=record.id).delete()
    with guards_down():
        Tombstone.objects.all().delete()
    assert faults() == [
        f"Record {record.id} is gone; the log knows it.",
        f"Tombstone {tombstone.id} is gone; the log knows it.",
    ]


def test_a_record_without_any_entry_is_named(team: Team) -> None:
    columns = MemoryRecord.objects.filter(id=known(team.scout, PORT, team.alice).id).values().get()
    forged = MemoryRecord.objects.create(**{**columns, "id": uuid4(), "value_key": "0" * 64})
    assert faults() == [f"Record {forged.id} has no entry."]
