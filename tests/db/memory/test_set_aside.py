"""Putting a trusted record into quarantine: one step for any reviewer, and a quorum to get out."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.models import Lifecycle, MemoryRecord, Tombstone, Trust
from memory.queries import admission, replay
from memory.queries.recall import record_for_agent
from memory.queries.verdicts import Moment
from memory.search import Mode
from review.access.actors import PersonActor
from review.access.services.agents import transfer_agent
from review.audit.models import Entry
from review.domain.refusals import (
    AlreadyDecided,
    BadVerdict,
    Blocked,
    Inactive,
    NotEligible,
    NotFound,
    ReasonRequired,
    SelfApproval,
    StaleBinding,
    Tombstoned,
)
from review.models import Proposal
from review.services.propose import Draft, propose
from review.services.withdraw import withdraw_own
from tests.support.factories import Team, person
from tests.support.memory_acts import (
    answer,
    approve,
    asked,
    doubtful,
    known,
    recalled,
    reject,
    remember,
    retracting,
)
from tests.support.pages import browser

PORT = "The staging port is 7443."


@pytest.fixture
def record(team: Team) -> MemoryRecord:
    return known(team.scout, PORT, team.alice)


@pytest.fixture
def frank(team: Team) -> PersonActor:
    return person("frank", team.acme, ["reviewer"])


def put_aside(who: PersonActor, record: MemoryRecord, reason: str = "Nobody knows this port.") -> Proposal:
    return asked(who, "memory.release", record, reason)


def actions(record: MemoryRecord) -> list[str]:
    told = Entry.objects.filter(object_type="record", object_id=str(record.id)).order_by("seq")
    return list(told.values_list("action", flat=True))


def agrees() -> bool:
    """Whether every record and tombstone is as the log tells it."""
    return not [fault for fault in [*replay.records(), *replay.tombstones()] if fault]


def words(answer: Any) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", answer.content.decode())).split())


# Getting in.


def test_one_reviewer_puts_a_trusted_record_into_quarantine_and_no_agent_gets_it(
    team: Team, record: MemoryRecord
) -> None:
    assert recalled(team.scout) == [PORT]
    made = put_aside(team.alice, record)
    assert (made.status, made.kind, made.expires_at) == ("quarantined", "memory_release", None)
    for mode in Mode:
        assert recalled(team.scout, "staging port", mode) == []
    with pytest.raises(NotFound):
        record_for_agent(team.acme.id, record.id, Moment(timezone.now()))
    assert recalled(team.scout, known_at=timezone.now() - timedelta(seconds=1)) == []


def test_it_is_written_down_with_who_did_it_and_why(team: Team, record: MemoryRecord) -> None:
    made = put_aside(team.alice, record)
    assert actions(record) == ["memory.written", "memory.quarantined"]
    entry = Entry.objects.get(action="memory.quarantined")
    assert (entry.account, entry.proposal) == ("alice", str(made.id))
    assert made.revisions.get().rationale == "Nobody knows this port."
    assert agrees()


def test_a_reason_and_a_reviewers_role_are_needed(team: Team, record: MemoryRecord) -> None:
    with pytest.raises(ReasonRequired):
        put_aside(team.alice, record, " ")
    with pytest.raises(NotEligible):
        put_aside(team.dana, record)
    with pytest.raises(NotFound):
        put_aside(team.mallory, record)
    assert recalled(team.scout) == [PORT]


def test_the_brake_works_where_too_few_could_release_it(team: Team, record: MemoryRecord) -> None:
    """Alice is its author and bob owns the agent: only carol is left, and two are needed."""
    assert put_aside(team.alice, record).status == "quarantined"


def test_the_owner_of_the_writing_agent_can_pull_it_too(team: Team, record: MemoryRecord) -> None:
    assert put_aside(team.bob, record).status == "quarantined"


def test_the_same_form_sent_twice_makes_one_proposal(team: Team, record: MemoryRecord) -> None:
    assert put_aside(team.alice, record).id == put_aside(team.alice, record).id


def test_what_is_held_or_retired_cannot_be_put_there_again(team: Team, record: MemoryRecord) -> None:
    put_aside(team.alice, record)
    with pytest.raises(Inactive):
        put_aside(team.carol, record, "I doubt it too.")
    other = known(team.scout, "The door opens north.", team.alice)
    approve(retracting(team.scout, other), team.alice)
    with pytest.raises(Inactive):
        put_aside(team.carol, other)


# Getting out.


def test_two_independent_people_release_it_as_it_was(
    team: Team, record: MemoryRecord, frank: PersonActor
) -> None:
    made = put_aside(team.alice, record)
    assert approve(made, team.carol).status == "quarantined"
    assert recalled(team.scout) == []
    done = approve(made, frank)
    assert (done.status, done.outcome) == (
        "executed",
        {"result": "succeeded", "admission": "released", "record": str(record.id), "facts": 0},
    )
    assert recalled(team.scout) == [PORT]
    back = MemoryRecord.objects.get(id=record.id)
    assert (back.trusted_at, back.trust) == (record.trusted_at, Trust.TRUSTED)
    assert actions(record)[-1] == "memory.released"
    assert agrees()


def test_who_put_it_there_cannot_release_it(team: Team, record: MemoryRecord) -> None:
    with pytest.raises(SelfApproval):
        approve(put_aside(team.alice, record), team.alice)


def test_the_owner_of_the_agent_that_wrote_it_cannot_release_it(team: Team, record: MemoryRecord) -> None:
    made = put_aside(team.alice, record)
    with pytest.raises(SelfApproval, match="not independent of what brought it"):
        approve(made, team.bob)
    assert {str(row.person.name): row.reason for row in made.conflicts.all()} == {
        "alice": "principal",
        "bob": "origin",
    }


def test_who_owns_the_agent_since_then_cannot_release_it_either(
    team: Team, record: MemoryRecord, frank: PersonActor
) -> None:
    made = put_aside(team.alice, record)
    transfer_agent(team.scout.agent.id, to=frank.person.id, by=team.dana)
    with pytest.raises(SelfApproval):
        approve(made, frank)
    assert approve(made, team.carol).approvals_given == 1


def test_whoever_put_it_there_cannot_take_it_back(team: Team, record: MemoryRecord) -> None:
    made = put_aside(team.alice, record)
    with pytest.raises(NotEligible, match="one person does not let it out"):
        withdraw_own(made.id, by=team.alice)
    made.refresh_from_db()
    assert made.status == "quarantined"
    assert recalled(team.scout) == []


def test_it_is_not_sent_back_for_changes(team: Team, record: MemoryRecord) -> None:
    with pytest.raises(BadVerdict):
        answer(team.carol, put_aside(team.alice, record), "request_changes")


def test_discarding_it_rejects_its_value_for_good(team: Team, record: MemoryRecord) -> None:
    made = reject(put_aside(team.alice, record), team.carol)
    gone = MemoryRecord.objects.get(id=record.id)
    assert (made.status, gone.lifecycle, gone.content) == ("rejected", Lifecycle.DISCARDED, PORT)
    assert Tombstone.objects.get().proposal_id == made.id
    with pytest.raises(Tombstoned):
        remember(team.scout, PORT.upper())
    assert agrees()


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_who_is_not_independent_discards_it_without_a_tombstone(
    team: Team, record: MemoryRecord, who: str
) -> None:
    reject(put_aside(team.alice, record), getattr(team, who))
    assert MemoryRecord.objects.get(id=record.id).lifecycle == Lifecycle.DISCARDED
    assert not Tombstone.objects.exists()


def test_a_released_record_can_be_put_there_again(
    team: Team, record: MemoryRecord, frank: PersonActor
) -> None:
    approve(put_aside(team.alice, record), team.carol, frank)
    again = put_aside(team.carol, record, "Still not right.")
    assert recalled(team.scout) == []
    approve(again, team.alice, frank)
    assert recalled(team.scout) == [PORT]
    with pytest.raises(AlreadyDecided):
        approve(again, team.alice)


def test_while_it_was_held_stays_known(team: Team, record: MemoryRecord, frank: PersonActor) -> None:
    before = timezone.now()
    made = put_aside(team.alice, record)
    between = timezone.now()
    approve(made, team.carol, frank)
    assert recalled(team.scout, known_at=before) == [PORT]
    assert recalled(team.scout, known_at=between) == []
    assert recalled(team.scout, known_at=timezone.now()) == [PORT]


def test_what_came_in_held_can_be_put_there_later(team: Team, frank: PersonActor) -> None:
    came = approve(doubtful(team.scout, PORT), team.alice, team.carol)
    record = MemoryRecord.objects.get()
    made = put_aside(team.alice, record)
    assert recalled(team.scout) == []
    assert browser(team.carol).get(f"/quarantine/{came.id}/").status_code == 200
    approve(made, team.carol, frank)
    assert recalled(team.scout) == [PORT]


# No way round.


def test_its_value_said_again_is_held_too(team: Team, record: MemoryRecord) -> None:
    put_aside(team.alice, record)
    assert remember(team.scout, PORT.upper()).status == "quarantined"
    assert remember(team.scout, "The staging port is 7444.").status == "pending"


def test_what_waited_with_its_value_is_held_when_it_is_approved(team: Team, frank: PersonActor) -> None:
    first, second = remember(team.scout, PORT), remember(team.scout, PORT, subject="staging")
    approve(first, team.alice)
    put_aside(team.alice, MemoryRecord.objects.get())
    assert approve(second, team.carol).status == "quarantined"
    assert recalled(team.scout) == []


def test_where_a_trusted_record_says_the_same_meanwhile_it_gives_its_source_to_that(
    team: Team, record: MemoryRecord, frank: PersonActor
) -> None:
    made = put_aside(team.alice, record)
    approve(remember(team.scout, PORT), team.alice, team.carol)
    done = approve(made, team.carol, frank)
    assert done.outcome is not None
    assert done.outcome["admission"] == "corroborated"
    assert MemoryRecord.objects.get(id=record.id).lifecycle == Lifecycle.SUPERSEDED
    assert recalled(team.scout) == [PORT]
    assert agrees()


def test_an_archived_twin_is_not_restored_meanwhile(team: Team) -> None:
    archived = known(team.scout, PORT, team.alice)
    approve(asked(team.alice, "memory.archive", archived), team.carol)
    waiting = asked(team.alice, "memory.restore", archived)
    put_aside(team.alice, known(team.scout, PORT, team.alice))
    assert approve(waiting, team.carol).status == "rejected"
    assert recalled(team.scout) == []


def test_what_others_wanted_to_do_with_it_is_stale(team: Team, record: MemoryRecord) -> None:
    waiting = retracting(team.scout, record)
    put_aside(team.alice, record)
    with pytest.raises(StaleBinding):
        approve(waiting, team.carol)


def test_a_value_that_was_rejected_meanwhile_ends_its_release(
    team: Team, record: MemoryRecord, frank: PersonActor
) -> None:
    made = put_aside(team.alice, record)
    reject(doubtful(team.scout, PORT), team.carol)
    done = approve(made, team.carol, frank)
    assert done.status == "rejected"
    assert (done.reason or "").startswith("tombstoned")
    assert MemoryRecord.objects.get(id=record.id).lifecycle == Lifecycle.DISCARDED


def test_an_agent_cannot_put_anything_there(team: Team, record: MemoryRecord) -> None:
    with pytest.raises(Blocked):
        propose(Draft("memory.release", {"record": str(record.id), "reason": "x"}), by=team.scout)
    assert recalled(team.scout) == [PORT]


# Its pages.


def test_a_reviewer_does_it_from_the_page_of_the_record(team: Team, record: MemoryRecord) -> None:
    address = f"/memory/{record.id}/quarantine/"
    assert address in browser(team.alice).get(f"/memory/{record.id}/").content.decode()
    shown = words(browser(team.alice).get(address))
    for said in (PORT, "1 agent can recall it", "No agent can recall it", "What it does, at once"):
        assert said in shown
    answer = browser(team.alice).post(address, {"reason": "Nobody knows this port."})
    made = Proposal.objects.get(tool="memory.release")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/quarantine/{made.id}/")
    page = words(browser(team.carol).get(f"/quarantine/{made.id}/"))
    for said in (PORT, "A reviewer put it into quarantine", "Why alice put it into quarantine", "ticket-1"):
        assert said in page
    assert "Nobody knows this port." in page
    assert f"/quarantine/{made.id}/" in browser(team.carol).get(f"/memory/{record.id}/").content.decode()


def test_it_is_listed_with_what_is_held_and_afterwards_with_what_was_released(
    team: Team, record: MemoryRecord, frank: PersonActor
) -> None:
    made = put_aside(team.alice, record)
    link = f"/quarantine/{made.id}/"
    assert link in browser(team.carol).get("/quarantine/").content.decode()
    assert "1 of them waits for you" in words(browser(team.carol).get("/quarantine/"))
    assert "0 of them wait for you" in words(browser(team.bob).get("/quarantine/"))
    approve(made, team.carol, frank)
    assert link not in browser(team.carol).get("/quarantine/").content.decode()
    assert link in browser(team.carol).get("/quarantine/?view=released").content.decode()


def test_who_may_see_nothing_sees_nothing(team: Team, record: MemoryRecord) -> None:
    made = put_aside(team.alice, record)
    for address in (f"/quarantine/{made.id}/", f"/memory/{record.id}/quarantine/"):
        assert browser(team.mallory).get(address).status_code == 404
    assert browser(team.dana).post(f"/memory/{record.id}/quarantine/", {"reason": "x"}).status_code == 403


def test_the_number_of_queries_of_the_list_does_not_grow(team: Team, record: MemoryRecord) -> None:
    carol = browser(team.carol)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert carol.get("/quarantine/").status_code == 200
        return len(asked)

    put_aside(team.alice, record)
    queries()
    few = queries()
    for number in range(3):
        put_aside(team.alice, known(team.scout, f"Door {number} opens to the north.", team.alice))
    assert queries() == few


def test_whether_a_value_was_set_aside_is_looked_up_however_much_is_held(team: Team) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")  # the table is too small for an index
    asked = admission._set_aside.__wrapped__(team.acme.id, "a value", "a key")  # type: ignore[attr-defined]
    assert "records_set_aside_by_value" in asked.explain()
