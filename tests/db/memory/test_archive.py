"""What is archived no agent reads; restored it comes back as it was, and the time it was away stays known."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from memory.changes import MemoryArchive, MemoryRestore
from memory.gateway.restore import restore
from memory.models import Absence, MemoryRecord, Tombstone
from memory.queries import replay
from review.access.actors import AgentActor
from review.audit.models import Entry
from review.audit.transaction import write
from review.domain.refusals import Inactive, Invalid, NotFound, SelfApproval, StaleBinding, Tombstoned
from review.models import Proposal
from tests.support.factories import Team
from tests.support.memory_acts import (
    approve,
    arguments_of,
    asked,
    doubtful,
    known,
    recalled,
    reject,
    remember,
    retracting,
)
from tests.support.review_acts import at, call

PORT = "The staging port is 7443."
ABOUT = {"subject": "staging port", "predicate": "is"}
HOUR = timedelta(hours=1)


def archiving(agent: AgentActor, record: MemoryRecord) -> Proposal:
    return call(agent, "memory.archive", {"record": str(record.id)})


def restoring(agent: AgentActor, record: MemoryRecord) -> Proposal:
    return call(agent, "memory.restore", {"record": str(record.id)})


@pytest.fixture
def record(team: Team) -> MemoryRecord:
    return known(team.scout, PORT, team.alice, **ABOUT)


@pytest.fixture
def archived(team: Team, record: MemoryRecord) -> MemoryRecord:
    approve(archiving(team.scout, record), team.alice)
    record.refresh_from_db()
    return record


def test_once_archived_no_agent_reads_it_and_its_value_is_not_rejected(
    team: Team, record: MemoryRecord
) -> None:
    waiting = archiving(team.scout, record)
    assert (waiting.kind, recalled(team.scout)) == ("memory_retire", [PORT])
    assert approve(waiting, team.alice).outcome == {"result": "succeeded", "record": str(record.id)}
    record.refresh_from_db()
    assert (record.lifecycle, recalled(team.scout)) == ("archived", [])
    assert not Tombstone.objects.exists()
    assert remember(team.scout, PORT).status == "pending"


def test_restored_it_is_the_same_record_again(team: Team, archived: MemoryRecord) -> None:
    approve(restoring(team.scout, archived), team.alice)
    archived.refresh_from_db()
    assert (archived.lifecycle, archived.retired_at, recalled(team.scout)) == ("active", None, [PORT])
    assert recalled(team.scout, "staging port") == [PORT]
    assert [fault for fault in replay.records() if fault] == []
    told = Entry.objects.filter(object_id=str(archived.id)).order_by("seq").values_list("action", flat=True)
    assert list(told) == ["memory.written", "memory.archived", "memory.restored"]


def test_an_owner_cannot_approve_what_his_own_agent_asks(team: Team, record: MemoryRecord) -> None:
    with pytest.raises(SelfApproval):
        approve(archiving(team.scout, record), team.bob)


def test_whoever_asks_what_was_known_while_it_was_away_is_told_nothing_of_it(team: Team) -> None:
    start = timezone.now() - 9 * HOUR
    with at(start):
        record = known(team.scout, PORT, team.alice)
    with at(start + HOUR):
        approve(archiving(team.scout, record), team.alice)
    with at(start + 3 * HOUR):
        approve(restoring(team.scout, record), team.alice)
    seen = [recalled(team.scout, known_at=start + hours * HOUR) for hours in (0, 1, 2, 3, 4)]
    assert seen == [[PORT], [], [], [PORT], [PORT]]


def test_an_absence_is_written_once_and_ends_after_it_began(team: Team, archived: MemoryRecord) -> None:
    now = timezone.now()
    with pytest.raises(IntegrityError, match="absence_is_an_interval"), transaction.atomic():
        Absence.objects.create(record=archived, since=now, until=now - HOUR)
    approve(restoring(team.scout, archived), team.alice)
    with pytest.raises(IntegrityError), transaction.atomic():
        Absence.objects.update(until=now + HOUR)


def test_only_what_is_active_is_archived_and_only_what_is_archived_restored(
    team: Team, record: MemoryRecord
) -> None:
    with pytest.raises(Inactive):
        restoring(team.scout, record)
    approve(archiving(team.scout, record), team.alice)
    with pytest.raises(Inactive):
        archiving(team.scout, record)
    assert restoring(team.scout, record).status == "pending"


def test_a_retracted_memory_is_not_restored(team: Team, record: MemoryRecord) -> None:
    approve(retracting(team.scout, record), team.alice)
    with pytest.raises(Inactive):
        asked(team.alice, "memory.restore", record)


def test_a_foreign_held_or_invented_record_is_as_unknown(team: Team) -> None:
    foreign = known(team.prowler, PORT, team.nina)
    held = MemoryRecord.objects.get(proposal=doubtful(team.scout, PORT))
    for unknown in (foreign.id, held.id, uuid4()):
        for tool in ("memory.archive", "memory.restore"):
            with pytest.raises(NotFound):
                call(team.scout, tool, {"record": str(unknown)})


def test_what_was_rejected_for_good_meanwhile_does_not_come_back(team: Team, archived: MemoryRecord) -> None:
    waiting = restoring(team.scout, archived)
    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    assert approve(waiting, team.carol).status == "rejected"
    with pytest.raises(Tombstoned):
        asked(team.alice, "memory.restore", archived)
    with pytest.raises(Tombstoned), write():
        restore(waiting, archived.id, by=team.alice)
    assert recalled(team.scout) == []


def test_what_was_said_anew_meanwhile_is_not_there_twice(team: Team, archived: MemoryRecord) -> None:
    waiting = restoring(team.scout, archived)
    known(team.scout, PORT, team.alice)
    assert approve(waiting, team.carol).status == "rejected"
    with pytest.raises(Invalid) as refusal:
        asked(team.alice, "memory.restore", archived)
    assert [error.pointer for error in refusal.value.errors] == ["/arguments/record"]
    with pytest.raises(Invalid), write():
        restore(waiting, archived.id, by=team.alice)
    assert recalled(team.scout) == [PORT]


def test_what_contradicts_it_now_is_shown_and_does_not_hinder(team: Team, archived: MemoryRecord) -> None:
    rival = known(team.scout, "It is 7444.", team.alice, **ABOUT)
    waiting = restoring(team.scout, archived)
    rows = MemoryRestore().preview(waiting, arguments_of(waiting))
    assert [(row.now, row.after) for row in rows[:1]] == [("Archived, trusted", "Active, trusted")]
    assert rows[-1].what_id == str(rival.id)
    assert approve(waiting, team.carol).status == "executed"


def test_the_preview_says_that_nobody_recalls_it(team: Team, record: MemoryRecord) -> None:
    waiting = archiving(team.scout, record)
    rows = MemoryArchive().preview(waiting, arguments_of(waiting))
    assert rows[1][:3] == ("Recall", "1 agent can recall it", "No agent can recall it")


def test_archived_and_restored_meanwhile_it_is_not_what_it_was(team: Team, record: MemoryRecord) -> None:
    waiting = retracting(team.scout, record)
    approve(archiving(team.scout, record), team.alice)
    approve(restoring(team.scout, record), team.alice)
    with pytest.raises(StaleBinding):
        approve(waiting, team.carol)
    assert recalled(team.scout) == [PORT]


def test_reviewers_begin_both_from_the_page_of_the_memory(team: Team, record: MemoryRecord) -> None:
    client = Client()
    client.force_login(team.alice.user)
    for change, there in (("archive", "restore"), ("restore", "archive")):
        page = client.get(f"/memory/{record.id}/").content.decode()
        assert (f"/{change}/" in page, f"/{there}/" in page) == (True, False)
        address = f"/memory/{record.id}/{change}/"
        assert client.get(address).status_code == 200
        assert client.post(address, {"reason": "Spring cleaning."}).status_code == 302
        approve(Proposal.objects.get(tool=f"memory.{change}"), team.carol)
    assert recalled(team.scout) == [PORT]
