"""Two memories that contradict each other are in conflict until people who are independent of both resolve it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from memory.changes import MemorySupersede
from memory.effects import MemoryWrite
from memory.gateway.ask import ask_to_resolve
from memory.models import FormerValidity, MemoryRecord, RecordConflict, Tombstone
from memory.queries import replay
from memory.queries.recall import Question, recall
from memory.queries.verdicts import Moment
from memory.resolution import MemoryResolve
from memory.search import Mode
from review.access.actors import AgentActor, PersonActor
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
    Unsatisfiable,
)
from review.models import Proposal
from tests.support import factories
from tests.support.factories import POLICY, Team
from tests.support.memory_acts import (
    WEB,
    approve,
    arguments_of,
    asked,
    doubtful,
    known,
    recalled,
    remember,
    retracting,
)
from tests.support.review_acts import call
from tests.support.tampering import guards_down

OLD, NEW = "The staging port is 7443.", "The staging port is 7444."
ABOUT = {"subject": "staging port", "predicate": "is"}
MAY, JUNE = "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"


def resolving(person: PersonActor, conflict: RecordConflict, answer: str, **times: Any) -> Proposal:
    terms = {"answer": answer, **times}
    return ask_to_resolve(conflict.id, by=person, reason="The ticket says so.", terms=terms)


def verdicts(agent: AgentActor, **moment: Any) -> dict[str, tuple[str, ...]]:
    """What `agent` recalls, each with the reasons of its verdict."""
    question = Question("", Mode.RECENCY, limit=100)
    found = recall(agent.agent.workspace_id, question, Moment(timezone.now(), **moment))
    return {hit.judged.record.content: hit.judged.verdict.reasons for hit in found.hits}


def told(action: str) -> int:
    return Entry.objects.filter(action=action).count()


@pytest.fixture
def old(team: Team) -> MemoryRecord:
    return known(team.scout, OLD, team.alice, **ABOUT)


@pytest.fixture
def conflict(team: Team, old: MemoryRecord) -> RecordConflict:
    known(team.scout, NEW, team.alice, **ABOUT)
    return RecordConflict.objects.get()


# Before the decision, and what approving makes of it.


def test_whoever_decides_sees_what_stands_against_it_who_said_it_and_where(
    team: Team, old: MemoryRecord
) -> None:
    waiting = remember(team.scout, NEW, **ABOUT)
    signals = waiting.revisions.get().gate["signals"]
    assert [signal["code"] for signal in signals] == ["conflict", "policy_review"]
    row = MemoryWrite().preview(waiting, arguments_of(waiting))[-1]
    assert (row.what_id, row.what_url, row.quote) == (str(old.id), f"/memory/{old.id}/", OLD)
    assert "scout" in row.now
    assert not RecordConflict.objects.exists()


def test_once_approved_it_is_open_recorded_and_agents_get_both_marked(
    team: Team, old: MemoryRecord, conflict: RecordConflict
) -> None:
    assert (conflict.older_id, conflict.newer.content, conflict.is_open) == (old.id, NEW, True)
    assert verdicts(team.scout) == {OLD: ("disputed",), NEW: ("disputed",)}
    entry = Entry.objects.get(action="conflict.opened")
    assert (entry.object_type, entry.object_id) == ("conflict", str(conflict.id))


@pytest.mark.parametrize(
    "said",
    [
        {"subject": "production port", "predicate": "is"},
        {"subject": "staging port"},
        {**ABOUT, "valid_to": MAY},
    ],
)
def test_what_speaks_of_something_else_or_of_another_time_is_in_no_conflict(
    team: Team, said: dict[str, Any]
) -> None:
    known(team.scout, OLD, team.alice, **ABOUT, valid_from=MAY)
    known(team.scout, NEW, team.alice, **said)
    assert not RecordConflict.objects.exists()
    assert all("disputed" not in reasons for reasons in verdicts(team.scout).values())


def test_a_foreign_memory_and_one_that_is_held_are_in_no_conflict(team: Team, old: MemoryRecord) -> None:
    known(team.prowler, NEW, team.nina, **ABOUT)
    held = doubtful(team.scout, NEW, **ABOUT)
    assert not RecordConflict.objects.exists()
    approve(held, team.alice, team.carol)
    assert RecordConflict.objects.get().is_open


def test_one_that_is_archived_takes_its_conflict_with_it_and_brings_it_back(
    team: Team, conflict: RecordConflict
) -> None:
    approve(asked(team.carol, "memory.archive", conflict.older), team.alice)
    assert not RecordConflict.objects.open().exists()
    assert verdicts(team.scout) == {NEW: ("current",)}
    approve(asked(team.carol, "memory.restore", conflict.older), team.alice)
    assert RecordConflict.objects.open().get() == conflict
    assert told("conflict.opened") == 1


# Resolving it.


@pytest.mark.parametrize(
    ("answer", "left", "refused"),
    [
        ("keep_old", [OLD], [NEW]),
        ("keep_new", [NEW], [OLD]),
        ("remove_both", [], [OLD, NEW]),
    ],
)
def test_what_is_removed_is_rejected_for_good_and_what_stays_is_in_dispute_no_more(
    team: Team, conflict: RecordConflict, answer: str, left: list[str], refused: list[str]
) -> None:
    waiting = resolving(team.carol, conflict, answer)
    assert (waiting.status, waiting.kind) == ("pending", "memory_retire")
    assert len(MemoryResolve().preview(waiting, arguments_of(waiting))) == 2
    assert len(recalled(team.scout)) == 2
    done = approve(waiting, team.alice)
    conflict.refresh_from_db()
    assert done.outcome == {"result": "succeeded", "conflict": str(conflict.id), "answer": answer}
    assert (conflict.answer, conflict.resolution_id, conflict.is_open) == (answer, done.id, False)
    assert verdicts(team.scout) == dict.fromkeys(left, ("current",))
    assert (told("conflict.resolved"), Tombstone.objects.count()) == (1, len(refused))
    for text in refused:
        with pytest.raises(Tombstoned):
            remember(team.scout, text.upper())
    assert [fault for fault in (*replay.records(), *replay.conflicts()) if fault] == []


def test_a_conflict_that_was_resolved_behind_the_gateways_back_is_named(
    team: Team, conflict: RecordConflict
) -> None:
    with guards_down():
        RecordConflict.objects.update(
            answer="keep_old", resolution=conflict.proposal, resolved_at=timezone.now()
        )
    assert [str(conflict.id) in fault for fault in replay.conflicts() if fault] == [True]
    with guards_down():
        RecordConflict.objects.all().delete()
    assert [str(conflict.id) in fault for fault in replay.conflicts() if fault] == [True]


def test_both_are_kept_each_for_its_time_and_what_was_known_before_stays_known(
    team: Team, conflict: RecordConflict
) -> None:
    before = timezone.now()
    times = {"old": {"valid_to": JUNE}, "new": {"valid_from": JUNE}}
    approve(resolving(team.carol, conflict, "keep_both", **times), team.alice)
    june = datetime(2026, 6, 1, tzinfo=UTC)
    assert verdicts(team.scout) == {OLD: ("not_valid_at",), NEW: ("current",)}
    in_may = datetime(2026, 5, 31, 23, 59, tzinfo=UTC)
    assert verdicts(team.scout, as_of=in_may) == {OLD: ("current",), NEW: ("not_valid_at",)}
    assert verdicts(team.scout, as_of=june) == {OLD: ("not_valid_at",), NEW: ("current",)}
    assert verdicts(team.scout, known_at=before) == {OLD: ("disputed",), NEW: ("disputed",)}
    assert FormerValidity.objects.count() == 2
    assert not Tombstone.objects.exists()
    conflict.refresh_from_db()
    assert not conflict.is_open


@pytest.mark.parametrize(
    ("terms", "pointer"),
    [
        ({"answer": "keep_both"}, "/arguments/new"),
        ({"answer": "keep_both", "old": {"valid_to": JUNE}, "new": {"valid_from": MAY}}, "/arguments/new"),
        (
            {"answer": "keep_both", "old": {"valid_from": JUNE, "valid_to": MAY}},
            "/arguments/old/valid_to",
        ),
        ({"answer": "keep_both", "old": {"valid_to": "in June"}}, "/arguments/old/valid_to"),
        ({"answer": "keep_old", "old": {"valid_to": JUNE}}, "/arguments/answer"),
        ({"answer": "toss_a_coin"}, "/arguments/answer"),
    ],
)
def test_an_answer_that_settles_nothing_is_refused_with_its_place(
    team: Team, conflict: RecordConflict, terms: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        ask_to_resolve(conflict.id, by=team.carol, reason="So.", terms=terms)
    assert refusal.value.errors[0].pointer == pointer
    assert conflict.is_open


def test_a_side_that_is_kept_for_another_time_meets_who_speaks_of_that_time(team: Team) -> None:
    known(team.scout, "It is 7000.", team.alice, **ABOUT, valid_to=MAY)
    known(team.scout, OLD, team.alice, **ABOUT, valid_from=MAY)
    known(team.scout, NEW, team.alice, **ABOUT, valid_from=MAY)
    times = {"old": {"valid_to": JUNE}, "new": {"valid_from": JUNE}}
    approve(resolving(team.carol, RecordConflict.objects.get(), "keep_both", **times), team.alice)
    assert RecordConflict.objects.open().get().older.content == "It is 7000."
    assert set(verdicts(team.scout, as_of=datetime(2026, 4, 1, tzinfo=UTC)).values()) == {
        ("disputed",),
        ("not_valid_at",),
    }


def test_who_resolves_it_is_independent_of_both_sides_and_of_who_asked(
    team: Team, conflict: RecordConflict
) -> None:
    waiting = resolving(team.carol, conflict, "keep_new")
    for person, why in ((team.carol, "You proposed this."), (team.bob, "not independent of what brought it")):
        with pytest.raises(SelfApproval, match=why):
            approve(waiting, person)
    assert approve(waiting, team.alice).status == "executed"


def test_whoever_comes_to_own_a_sides_agent_is_independent_no_more(
    team: Team, conflict: RecordConflict
) -> None:
    from review.access.models import Ownership

    waiting = resolving(team.carol, conflict, "keep_new")
    Ownership.objects.create(agent=team.scout.agent, person=team.alice.person, since=timezone.now())
    with pytest.raises(SelfApproval, match="not independent of what brought it"):
        approve(waiting, team.alice)


def test_it_is_no_softer_a_door_than_retracting(team: Team, conflict: RecordConflict) -> None:
    strict = {"tool": "memory.retract", "risk": "high", "approvals": 2}
    soft = {"tool": "memory.resolve", "risk": "low", "route": "allow"}
    factories.set_policy(team.acme, {**POLICY, "rules": [soft, strict, *POLICY["rules"]]})
    with pytest.raises(Unsatisfiable):
        resolving(team.carol, conflict, "keep_new")
    factories.person("frank", team.acme, ["reviewer"])
    waiting = resolving(team.carol, conflict, "keep_new")
    assert (waiting.risk, approve(waiting, team.alice).status) == ("high", "pending")


def test_an_agent_an_outsider_and_who_only_manages_start_no_resolution(
    team: Team, conflict: RecordConflict
) -> None:
    arguments = {"conflict": str(conflict.id), "answer": "keep_new", "reason": "Because."}
    for tool in ("memory.resolve", "Memory.Resolve"):
        with pytest.raises(Blocked):
            call(team.scout, tool, arguments)
    with pytest.raises(NotFound):
        resolving(team.mallory, conflict, "keep_new")
    with pytest.raises(NotEligible):
        resolving(team.dana, conflict, "keep_new")
    with pytest.raises(ReasonRequired):
        ask_to_resolve(conflict.id, by=team.carol, reason=" ", terms={"answer": "keep_new"})
    with pytest.raises(NotFound):
        ask_to_resolve(uuid4(), by=team.carol, reason="So.", terms={"answer": "keep_new"})
    assert not Proposal.objects.filter(tool="memory.resolve").exists()


def test_of_two_answers_to_one_conflict_the_second_is_stale(team: Team, conflict: RecordConflict) -> None:
    first, second = (resolving(team.carol, conflict, answer) for answer in ("keep_old", "keep_new"))
    approve(first, team.alice)
    with pytest.raises(StaleBinding):
        approve(second, team.alice)
    with pytest.raises(Inactive):
        resolving(team.carol, conflict, "remove_both")
    assert recalled(team.scout) == [OLD]


def test_a_side_that_goes_meanwhile_leaves_nothing_to_resolve(team: Team, conflict: RecordConflict) -> None:
    waiting = resolving(team.carol, conflict, "keep_new")
    approve(retracting(team.scout, conflict.newer), team.alice)
    done = approve(waiting, team.alice)
    assert (done.status, done.reason.split(":")[0]) == ("rejected", "inactive")
    assert recalled(team.scout) == [OLD]


def test_what_replaces_one_side_meets_the_other(team: Team, conflict: RecordConflict) -> None:
    said = {"content": "It is 7445.", "provenance": WEB, **ABOUT}
    waiting = call(team.scout, "memory.supersede", {"record": str(conflict.older_id), **said})
    assert "7444" in MemorySupersede().preview(waiting, arguments_of(waiting))[-1].quote
    approve(waiting, team.alice, team.carol)
    again = RecordConflict.objects.open().get()
    assert {again.older_id, again.newer.content} == {conflict.newer_id, "It is 7445."}


def test_one_that_is_set_aside_takes_its_conflict_with_it_and_brings_it_back(
    team: Team, conflict: RecordConflict
) -> None:
    held = asked(team.carol, "memory.release", conflict.older)
    assert (held.status, RecordConflict.objects.open().exists()) == ("quarantined", False)
    assert verdicts(team.scout) == {NEW: ("current",)}
    approve(held, team.alice, factories.person("frank", team.acme, ["reviewer"]))
    assert RecordConflict.objects.open().get() == conflict
    assert told("conflict.opened") == 1
