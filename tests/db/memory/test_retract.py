"""A retracted memory is gone for every agent, its value stays rejected, and others than who asked decide it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from memory.changes import MemoryRetract
from memory.models import MemoryRecord, Tombstone
from memory.queries import replay
from memory.queries.recall import record_for_agent
from memory.queries.verdicts import Moment
from review.access.models import Membership
from review.audit.models import Entry
from review.domain.refusals import (
    Blocked,
    Inactive,
    Invalid,
    NotEligible,
    NotFound,
    ReasonRequired,
    SelfApproval,
    StaleBinding,
    Tombstoned,
)
from review.models import Proposal
from review.services.revise import revise
from tests.support.factories import POLICY, Team, set_policy
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
from tests.support.review_acts import call

PORT = "The staging port is 7443."
RETRACT = "memory.retract"


@pytest.fixture
def record(team: Team) -> MemoryRecord:
    return known(team.scout, PORT, team.alice)


def test_once_approved_no_agent_reads_it_and_its_value_stays_rejected(
    team: Team, record: MemoryRecord
) -> None:
    assert recalled(team.scout) == [PORT]
    done = approve(retracting(team.scout, record), team.alice)
    record.refresh_from_db()
    tombstone = Tombstone.objects.get()
    assert (record.lifecycle, record.trust, record.content) == ("retracted", "trusted", PORT)
    assert done.outcome == {
        "result": "succeeded",
        "record": str(record.id),
        "tombstone": str(tombstone.id),
    }
    assert recalled(team.scout) == []
    with pytest.raises(NotFound):
        record_for_agent(team.acme.id, record.id, Moment(timezone.now()))
    with pytest.raises(Tombstoned):
        remember(team.scout, PORT.upper())


def test_it_waits_for_people_and_a_rejection_leaves_it_as_it_was(team: Team, record: MemoryRecord) -> None:
    waiting = retracting(team.scout, record)
    assert (waiting.status, waiting.kind, recalled(team.scout)) == ("pending", "memory_retire", [PORT])
    reject(waiting, team.alice, tombstone=True)
    assert recalled(team.scout) == [PORT]
    assert not Tombstone.objects.exists()


def test_each_step_has_its_entry_and_the_log_tells_the_states(team: Team, record: MemoryRecord) -> None:
    proposal = approve(retracting(team.scout, record), team.alice)
    entries = Entry.objects.filter(proposal=str(proposal.id)).order_by("seq")
    told = [
        action for action in entries.values_list("action", flat=True) if action.startswith(("mem", "tom"))
    ]
    assert told == ["memory.retracted", "tombstone.created"]
    assert [fault for fault in [*replay.records(), *replay.tombstones()] if fault] == []


def test_a_retraction_that_was_undone_behind_the_gateways_back_is_named(
    team: Team, record: MemoryRecord
) -> None:
    approve(retracting(team.scout, record), team.alice)
    MemoryRecord.objects.filter(id=record.id).update(lifecycle="active", retired_at=None)
    assert [str(record.id) in fault for fault in replay.records() if fault] == [True]


def test_an_owner_cannot_approve_what_his_own_agent_asks_to_retract(team: Team, record: MemoryRecord) -> None:
    with pytest.raises(SelfApproval):
        approve(retracting(team.scout, record), team.bob)
    assert recalled(team.scout) == [PORT]


@pytest.mark.parametrize("wrong", [{}, {"reason": " \n"}, {"reason": "x", "content": "y"}])
def test_its_arguments_are_a_closed_schema_with_a_reason(
    team: Team, record: MemoryRecord, wrong: dict[str, str]
) -> None:
    with pytest.raises(Invalid):
        retracting_with(team, {"record": str(record.id), **wrong})


def retracting_with(team: Team, arguments: dict[str, Any]) -> Proposal:
    return call(team.scout, RETRACT, arguments)


def test_a_record_of_nobody_of_another_workspace_or_in_quarantine_is_as_unknown(team: Team) -> None:
    foreign = known(team.prowler, PORT, team.nina)
    held = MemoryRecord.objects.get(proposal=doubtful(team.scout, PORT))
    for unknown in (str(uuid4()), str(foreign.id), str(held.id)):
        with pytest.raises(NotFound):
            retracting_with(team, {"record": unknown, "reason": "Because."})


def test_what_is_retracted_is_not_retracted_again(team: Team, record: MemoryRecord) -> None:
    approve(retracting(team.scout, record), team.alice)
    with pytest.raises(Inactive) as refusal:
        retracting(team.scout, record, "Once more.")
    assert str(record.id) in refusal.value.detail


def test_of_two_proposals_on_one_record_the_second_is_stale(team: Team, record: MemoryRecord) -> None:
    first, second = retracting(team.scout, record), retracting(team.scout, record, "It is wrong.")
    approve(first, team.alice)
    with pytest.raises(StaleBinding):
        approve(second, team.carol)
    assert reject(second, team.carol).status == "rejected"


def test_another_source_makes_a_proposal_stale_and_a_revision_fresh_again(
    team: Team, record: MemoryRecord
) -> None:
    waiting = retracting(team.scout, record)
    approve(remember(team.scout, PORT), team.alice)
    with pytest.raises(StaleBinding):
        approve(waiting, team.carol)
    waiting = revise(waiting.id, by=team.scout, replaces=1, arguments=arguments_of(waiting))
    assert approve(waiting, team.carol).status == "executed"


def test_what_the_policy_lets_through_by_itself_makes_no_tombstone(team: Team, record: MemoryRecord) -> None:
    rules = [{"tool": RETRACT, "route": "allow", "risk": "low"}, *POLICY["rules"]]
    set_policy(team.acme, {**POLICY, "rules": rules})
    assert retracting(team.scout, record).status == "executed"
    assert recalled(team.scout) == []
    assert not Tombstone.objects.exists()


def test_what_was_derived_from_it_falls_silent_and_the_preview_says_so(
    team: Team, record: MemoryRecord
) -> None:
    source = {"kind": "user", "ref": "t", "derived_from": [str(record.id)]}
    known(team.scout, "Open 7443 in the firewall.", team.alice, provenance=source)
    known(team.scout, "The office is in Ankara.", team.alice)
    waiting = retracting(team.scout, record)
    rows = MemoryRetract().preview(waiting, arguments_of(waiting))
    assert [row.what for row in rows] == ["Record", "Recall", "1 record rests on it", "Record", "Its value"]
    assert (rows[0].now, rows[0].quote) == ("Active, trusted", PORT)
    approve(waiting, team.alice)
    assert recalled(team.scout) == ["The office is in Ankara."]


# A person begins it.


def test_who_begins_it_is_its_author_and_another_reviewer_decides(team: Team, record: MemoryRecord) -> None:
    waiting = asked(team.alice, RETRACT, record)
    assert (waiting.status, waiting.agent_id, waiting.principal) == ("pending", None, team.alice.person.id)
    assert arguments_of(waiting) == {"record": str(record.id), "reason": "It moved."}
    with pytest.raises(SelfApproval):
        approve(waiting, team.alice)
    assert approve(waiting, team.carol).status == "executed"


def test_a_form_that_is_sent_twice_makes_one_proposal(team: Team, record: MemoryRecord) -> None:
    assert asked(team.alice, RETRACT, record).id == asked(team.alice, RETRACT, record).id
    assert asked(team.carol, RETRACT, record).id != asked(team.alice, RETRACT, record).id


def test_only_a_reviewer_of_the_workspace_begins_it_and_says_why(team: Team, record: MemoryRecord) -> None:
    with pytest.raises(ReasonRequired):
        asked(team.alice, RETRACT, record, " ")
    with pytest.raises(NotEligible):
        asked(team.dana, RETRACT, record)
    with pytest.raises(NotFound):
        asked(team.mallory, RETRACT, record)
    refused = Entry.objects.filter(action="proposal.refused", tool=RETRACT)
    assert refused.count() == 3
    assert not Proposal.objects.filter(tool=RETRACT).exists()


def test_who_has_lost_his_role_begins_nothing(team: Team, record: MemoryRecord) -> None:
    Membership.objects.filter(person=team.alice.person).update(until=timezone.now())
    with pytest.raises(NotFound):
        asked(team.alice, RETRACT, record)


def test_what_the_policy_blocks_nobody_begins_and_what_it_allows_others_still_decide(
    team: Team, record: MemoryRecord
) -> None:
    set_policy(team.acme, {**POLICY, "rules": [{"tool": RETRACT, "route": "block"}]})
    with pytest.raises(Blocked):
        asked(team.alice, RETRACT, record)
    set_policy(team.acme, {**POLICY, "rules": [{"tool": RETRACT, "route": "allow", "risk": "low"}]})
    assert asked(team.alice, RETRACT, record).status == "pending"
