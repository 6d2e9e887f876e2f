"""An approved write is one record, or one more source for the one that says the same."""

from __future__ import annotations

import pytest

from memory.gateway.write import write
from memory.models import MemoryRecord, RecordEvidence
from review.audit.models import Entry
from tests.support.factories import Team
from tests.support.memory_acts import approve, arguments_of, known, recalled, reject, remember


def test_nothing_is_remembered_before_somebody_approves(team: Team) -> None:
    remember(team.scout, "The staging port is 7443.")
    assert not MemoryRecord.objects.exists()
    assert recalled(team.scout) == []


def test_what_alice_approves_is_remembered_with_its_source_and_its_proposal(team: Team) -> None:
    proposal = approve(remember(team.scout, "The staging port is 7443.", confidence=0.9), team.alice)
    record = MemoryRecord.objects.get()
    assert proposal.outcome == {
        "result": "succeeded",
        "admission": "allow",
        "record": str(record.id),
        "facts": 0,
    }
    assert (record.trust, record.lifecycle, record.proposal_id) == ("trusted", "active", proposal.id)
    assert (record.provenance, record.confidence) == ({"kind": "user", "ref": "ticket-1"}, 0.9)
    assert recalled(team.scout) == ["The staging port is 7443."]


def test_what_alice_rejects_is_not_remembered(team: Team) -> None:
    reject(remember(team.scout, "The office cat is named Miso."), team.alice)
    assert not MemoryRecord.objects.exists()


def test_the_text_is_kept_exactly_as_it_was_approved(team: Team) -> None:
    content = "  Line one\n\tline two  "
    assert known(team.scout, content, team.alice).content == content


@pytest.mark.parametrize(
    "again", ["The staging port is 7443.", "the  STAGING port is 7443", "«The staging port is 7443»"]
)
def test_the_same_said_again_adds_a_source_and_no_second_record(team: Team, again: str) -> None:
    first = known(team.scout, "The staging port is 7443.", team.alice)
    proposal = approve(remember(team.scout, again, provenance={"kind": "ticket", "ref": "2"}), team.carol)
    assert proposal.outcome == {
        "result": "succeeded", "admission": "corroborated", "record": str(first.id), "facts": 0,
    }  # fmt: skip
    assert MemoryRecord.objects.count() == 1
    assert RecordEvidence.objects.get().provenance == {"kind": "ticket", "ref": "2"}


@pytest.mark.parametrize("other", ["The staging port is 7444.", "The staging port is not 7443."])
def test_what_only_looks_alike_is_a_record_of_its_own(team: Team, other: str) -> None:
    known(team.scout, "The staging port is 7443.", team.alice)
    assert approve(remember(team.scout, other), team.alice).outcome["admission"] == "allow"
    assert MemoryRecord.objects.count() == 2


def test_the_same_value_in_another_workspace_is_another_record(team: Team) -> None:
    known(team.scout, "The staging port is 7443.", team.alice)
    proposal = approve(remember(team.prowler, "The staging port is 7443."), team.nina)
    assert proposal.outcome["admission"] == "allow"
    assert MemoryRecord.objects.count() == 2


def test_a_record_and_its_entry_stand_in_the_same_log(team: Team) -> None:
    record = known(team.scout, "The staging port is 7443.", team.alice)
    entry = Entry.objects.get(action="memory.written")
    told = (entry.object_id, entry.proposal, entry.person)
    assert told == tuple(map(str, (record.id, record.proposal_id, team.alice.person.id)))
    assert "7443" not in entry.canonical


def test_more_evidence_has_an_entry_of_its_own(team: Team) -> None:
    record = known(team.scout, "The staging port is 7443.", team.alice)
    proposal = approve(remember(team.scout, "The staging port is 7443."), team.carol)
    entry = Entry.objects.get(action="memory.corroborated")
    assert (entry.object_id, entry.proposal) == (str(record.id), str(proposal.id))


def test_memory_is_not_written_outside_a_recorded_transaction(team: Team) -> None:
    proposal = remember(team.scout, "The staging port is 7443.")
    with pytest.raises(RuntimeError):
        write(proposal, arguments_of(proposal), by=team.alice)
    assert not MemoryRecord.objects.exists()
