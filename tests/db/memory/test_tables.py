"""The database refuses, by name, what the domain refuses with a sentence."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from memory.models import FormerValidity, MemoryRecord, RecordConflict, Tombstone, ValueKey
from review.models import Proposal
from tests.support.factories import Team
from tests.support.memory_acts import remember


@pytest.fixture
def proposal(team: Team) -> Proposal:
    return remember(team.scout, "The staging port is 7443.")


def record(proposal: Proposal, **columns: Any) -> MemoryRecord:
    now = timezone.now()
    standing = {"trust": "trusted", "lifecycle": "active", "recorded_at": now, "trusted_at": now}
    value = {
        "content": "x",
        "lang": "en",
        "tokens": "x",
        "tokenizer": 1,
        "value_key": "0" * 64,
        "value_key_id": "k",
    }
    place = {"workspace": proposal.workspace, "proposal": proposal}
    return MemoryRecord.objects.create(**{**place, **standing, **value, **columns})


@pytest.mark.parametrize(
    ("columns", "constraint"),
    [
        ({"trust": "believed"}, "record_trust_is_known"),
        ({"lifecycle": "lost", "retired_at": timezone.now()}, "record_lifecycle_is_known"),
        ({"confidence": 1.5}, "record_confidence_is_a_probability"),
        (
            {"valid_from": timezone.now(), "valid_to": timezone.now() - timedelta(days=1)},
            "record_validity_is_an_interval",
        ),
        ({"trusted_at": None}, "trusted_record_says_since_when"),
        ({"lifecycle": "archived"}, "retired_record_says_since_when"),
        ({"retired_at": timezone.now()}, "retired_record_says_since_when"),
    ],
)
def test_a_record_that_makes_no_sense_is_refused(
    proposal: Proposal, columns: dict[str, Any], constraint: str
) -> None:
    assert record(proposal).pk
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        record(proposal, **{"value_key": "1" * 64, **columns})


def test_one_value_is_one_trusted_active_record(proposal: Proposal) -> None:
    record(proposal)
    record(proposal, lifecycle="archived", retired_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        record(proposal)


def test_one_proposal_holds_one_record(proposal: Proposal) -> None:
    held = {"trust": "quarantined", "trusted_at": None}
    record(proposal, **held)
    record(proposal, **held, lifecycle="discarded", retired_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        record(proposal, **held)


def test_one_value_has_one_standing_tombstone(team: Team, proposal: Proposal) -> None:
    value = {
        "value_key": "0" * 64,
        "value_key_id": "k",
        "person": team.alice.person,
        "created_at": timezone.now(),
    }
    Tombstone.objects.create(workspace=team.acme, **value, lifted_at=timezone.now())
    Tombstone.objects.create(workspace=team.acme, **value)
    with pytest.raises(IntegrityError), transaction.atomic():
        Tombstone.objects.create(workspace=team.acme, **value)


def test_without_a_key_nothing_has_a_value(proposal: Proposal) -> None:
    record(proposal)
    assert list(MemoryRecord.objects.with_value([])) == []
    assert MemoryRecord.objects.with_value([ValueKey("k", "0" * 64)]).count() == 1


def conflict(proposal: Proposal, older: MemoryRecord, newer: MemoryRecord, **columns: Any) -> RecordConflict:
    sides = {"workspace": proposal.workspace, "proposal": proposal, "older": older, "newer": newer}
    return RecordConflict.objects.create(**{**sides, "opened_at": timezone.now(), **columns})


def test_a_conflict_has_two_sides_is_open_once_and_says_how_it_was_resolved(proposal: Proposal) -> None:
    one, other = record(proposal), record(proposal, value_key="1" * 64)
    resolved = {"answer": "keep_old", "resolution": proposal, "resolved_at": timezone.now()}
    conflict(proposal, one, other, **resolved)
    conflict(proposal, one, other)
    for sides, columns, constraint in (
        ((one, other), {}, "one_unresolved_conflict_per_pair|takes no such row"),
        ((one, one), {}, "conflict_has_two_sides"),
        ((other, one), {"answer": "keep_old"}, "resolved_conflict_says_how"),
        ((other, one), {**resolved, "answer": "toss_a_coin"}, "resolved_conflict_says_how"),
    ):
        with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
            conflict(proposal, *sides, **columns)


def test_what_a_validity_was_is_an_interval_too(proposal: Proposal) -> None:
    now, said = timezone.now(), record(proposal)
    FormerValidity.objects.create(record=said, valid_to=now, until=now)
    with pytest.raises(IntegrityError, match="former_validity_is_an_interval"), transaction.atomic():
        FormerValidity.objects.create(record=said, valid_from=now, valid_to=now, until=now)
