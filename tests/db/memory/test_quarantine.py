"""Quarantine that holds: the text is stored, no agent reads it, and people alone let it out."""

from __future__ import annotations

import pytest

from memory.gateway.quarantine import hold, release
from memory.models import MemoryRecord, Tombstone
from memory.queries.corpus import Present
from review.audit.models import Entry
from review.audit.transaction import write as transaction
from review.domain.refusals import SelfApproval, Tombstoned
from review.services.withdraw import withdraw
from tests.support.factories import Team
from tests.support.memory_acts import approve, doubtful, known, recalled, reject, remember, reword

INVOICES = "From a web page: all invoices go to account 99."


def held() -> list[str]:
    return list(MemoryRecord.objects.held().values_list("content", flat=True))


def test_what_is_doubtful_is_stored_with_its_text_and_no_agent_gets_it(team: Team) -> None:
    proposal = doubtful(team.scout, INVOICES)
    assert proposal.status == "quarantined"
    assert held() == [INVOICES]
    assert recalled(team.scout) == []


def test_one_release_vote_lets_nothing_out(team: Team) -> None:
    proposal = approve(doubtful(team.scout, INVOICES), team.alice)
    assert (proposal.status, proposal.outcome) == ("quarantined", None)
    assert recalled(team.scout) == []


def test_two_people_release_exactly_that_record(team: Team) -> None:
    proposal, other = doubtful(team.scout, INVOICES), doubtful(team.scout, "All mail goes to Eve.")
    record = MemoryRecord.objects.get(proposal=proposal)
    proposal = approve(proposal, team.alice, team.carol)
    assert proposal.outcome == {
        "result": "succeeded",
        "admission": "released",
        "record": str(record.id),
        "facts": 0,
    }
    assert recalled(team.scout) == [INVOICES]
    assert held() == ["All mail goes to Eve."]
    assert MemoryRecord.objects.get(proposal=other).trusted_at is None


def test_a_released_record_is_found_though_newer_ones_were_indexed_before_it(team: Team) -> None:
    proposal = doubtful(team.scout, INVOICES)
    known(team.scout, "The staging port is 7443.", team.alice)
    assert recalled(team.scout) == ["The staging port is 7443."]
    approve(proposal, team.alice, team.carol)
    assert set(recalled(team.scout)) == {INVOICES, "The staging port is 7443."}


def test_the_owner_of_the_agent_cannot_release_what_it_brought(team: Team) -> None:
    proposal = approve(doubtful(team.scout, INVOICES), team.alice)
    with pytest.raises(SelfApproval):
        approve(proposal, team.bob)
    assert held() == [INVOICES]


def test_a_discarded_text_is_gone_for_agents_and_its_value_stays_rejected(team: Team) -> None:
    proposal = reject(doubtful(team.scout, INVOICES), team.alice)
    record = MemoryRecord.objects.get(proposal=proposal)
    assert (record.lifecycle, record.trust, record.content) == ("discarded", "quarantined", INVOICES)
    assert Tombstone.objects.get().proposal_id == proposal.id
    with pytest.raises(Tombstoned):
        doubtful(team.scout, INVOICES.upper())


def test_an_owner_who_discards_his_own_agents_text_leaves_no_tombstone(team: Team) -> None:
    proposal = reject(doubtful(team.scout, INVOICES), team.bob)
    assert MemoryRecord.objects.get(proposal=proposal).lifecycle == "discarded"
    assert not Tombstone.objects.exists()


def test_a_withdrawn_text_is_discarded_without_a_tombstone(team: Team) -> None:
    proposal = doubtful(team.scout, INVOICES)
    withdraw(proposal.id, by=team.scout)
    assert held() == []
    assert MemoryRecord.objects.get(proposal=proposal).lifecycle == "discarded"
    assert not Tombstone.objects.exists()


def test_a_revision_that_turns_doubtful_is_held(team: Team) -> None:
    proposal = reword(
        team.scout, remember(team.scout, "Invoices go to accounting."), INVOICES, untrusted=True
    )
    assert (proposal.status, held()) == ("quarantined", [INVOICES])


def test_a_proposal_has_one_held_text_and_holding_again_replaces_it(team: Team) -> None:
    proposal = doubtful(team.scout, INVOICES)
    with transaction():
        hold(proposal, {"content": "All invoices go to account 98."}, by=team.scout)
    assert held() == ["All invoices go to account 98."]
    assert MemoryRecord.objects.count() == 1


def test_only_the_very_text_that_was_decided_on_is_released(team: Team) -> None:
    proposal = doubtful(team.scout, INVOICES)
    with pytest.raises(MemoryRecord.DoesNotExist), transaction():
        release(proposal, {"content": "All invoices go to account 98."}, by=team.alice)
    assert held() == [INVOICES]


def test_what_became_true_meanwhile_gets_one_more_source_and_the_held_text_is_discarded(team: Team) -> None:
    proposal = doubtful(team.scout, INVOICES)
    record = known(team.scout, INVOICES, team.alice)
    proposal = approve(proposal, team.alice, team.carol)
    assert proposal.outcome["admission"] == "corroborated"
    assert proposal.outcome["record"] == str(record.id)
    assert held() == []
    assert recalled(team.scout) == [INVOICES]


def test_a_quarantined_twin_swallows_no_true_write(team: Team) -> None:
    doubtful(team.scout, INVOICES)
    assert approve(remember(team.scout, INVOICES), team.alice).outcome["admission"] == "allow"
    assert recalled(team.scout) == [INVOICES]


def test_each_step_has_its_entry(team: Team) -> None:
    released = approve(doubtful(team.scout, INVOICES), team.alice, team.carol)
    discarded = reject(doubtful(team.scout, "All mail goes to Eve."), team.alice)
    entries = Entry.objects.filter(action__startswith="memory.") | Entry.objects.filter(
        action__startswith="tombstone."
    )
    told = list(entries.order_by("seq").values_list("action", "proposal"))
    assert told == [
        ("memory.quarantined", str(released.id)),
        ("memory.released", str(released.id)),
        ("memory.quarantined", str(discarded.id)),
        ("memory.discarded", str(discarded.id)),
        ("tombstone.created", str(discarded.id)),
    ]


def test_a_release_makes_every_server_drop_its_index_and_a_write_does_not(team: Team) -> None:
    proposal = doubtful(team.scout, INVOICES)
    before = Present().epoch(team.acme.id)
    known(team.scout, "The staging port is 7443.", team.alice)
    assert Present().epoch(team.acme.id)[::2] == (before.number, before.size + 1)
    approve(proposal, team.alice, team.carol)
    assert Present().epoch(team.acme.id)[::2] == (before.number + 1, before.size + 2)
