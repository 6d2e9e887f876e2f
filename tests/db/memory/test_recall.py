"""What an agent gets of its workspace's memory, and what it never gets."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from memory.effects import MemoryWrite
from memory.models import MemoryRecord
from memory.queries.recall import Question, item, recall, record_for_agent
from memory.queries.verdicts import Moment
from memory.search import Mode
from review.access.actors import AgentActor
from review.domain.gate import Outcome
from review.domain.refusals import Inactive, NotFound
from review.effects import Submission
from tests.support.factories import POLICY, Team, set_policy
from tests.support.memory_acts import approve, doubtful, known, recalled, reject, remember

PORT = "The staging port is 7443."
Hidden = Callable[[Team], MemoryRecord]


def _quarantined(team: Team) -> MemoryRecord:
    return MemoryRecord.objects.get(proposal=doubtful(team.scout, PORT))


def _discarded(team: Team) -> MemoryRecord:
    return MemoryRecord.objects.get(proposal=reject(doubtful(team.scout, PORT), team.alice))


def _foreign(team: Team) -> MemoryRecord:
    return known(team.prowler, PORT, team.nina)


def _retired(lifecycle: str) -> Hidden:
    def made(team: Team) -> MemoryRecord:
        now = timezone.now()
        return _row(team, trust="trusted", lifecycle=lifecycle, trusted_at=now, retired_at=now)

    return made


def _put_into_quarantine_later(team: Team) -> MemoryRecord:
    """It was trusted once: a date in the past is no way round its quarantine."""
    record = known(team.scout, PORT, team.alice)
    MemoryRecord.objects.filter(id=record.id).update(trust="quarantined")
    return record


def _row(team: Team, **columns: Any) -> MemoryRecord:
    """A record of scout's in a state that no use case of today leads to."""
    record = known(team.scout, PORT, team.alice)
    MemoryRecord.objects.filter(id=record.id).update(**columns)
    return record


HIDDEN: dict[str, Hidden] = {
    "quarantined": _quarantined,
    "quarantined later": _put_into_quarantine_later,
    "discarded": _discarded,
    "foreign": _foreign,
    "superseded": _retired("superseded"),
    "archived": _retired("archived"),
    "retracted": _retired("retracted"),
    "erased": _retired("erased"),
}


def by_query(mode: Mode, query: str) -> Callable[[AgentActor, UUID, Moment], list[UUID]]:
    def read(agent: AgentActor, id_: UUID, moment: Moment) -> list[UUID]:
        found = recall(agent.agent.workspace_id, Question(query, mode, limit=100), moment)
        return [hit.judged.record.id for hit in found.hits]

    return read


def by_id(agent: AgentActor, id_: UUID, moment: Moment) -> list[UUID]:
    try:
        return [record_for_agent(agent.agent.workspace_id, id_, moment).record.id]
    except NotFound:
        return []


READS = {
    "bm25": by_query(Mode.BM25, "staging port"),
    "substring": by_query(Mode.SUBSTRING, "port is 7443"),
    "recency": by_query(Mode.RECENCY, "staging"),
    "recency of everything": by_query(Mode.RECENCY, ""),
    "by id": by_id,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_what_is_hidden_is_in_no_read(team: Team, hidden: Hidden, read: Any) -> None:
    record = hidden(team)
    now = timezone.now()
    for known_at in (None, now + timedelta(hours=1)):
        assert read(team.scout, record.id, Moment(now, known_at=known_at)) == []


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_what_is_trusted_and_active_is_in_every_read(team: Team, read: Any) -> None:
    record = known(team.scout, PORT, team.alice)
    now = timezone.now()
    for known_at in (None, now, now + timedelta(hours=1)):
        assert read(team.scout, record.id, Moment(now, known_at=known_at)) == [record.id]


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("hidden", ["quarantined", "quarantined later", "discarded", "foreign", "erased"])
def test_a_date_in_the_past_is_no_way_round(team: Team, hidden: str, read: Any) -> None:
    """Erased and quarantined later were recallable at that date, the others were not."""
    before = timezone.now()
    record = HIDDEN[hidden](team)
    for known_at in (before, record.recorded_at, record.trusted_at or before):
        assert read(team.scout, record.id, Moment(timezone.now(), known_at=known_at)) == []


def test_a_miss_says_the_same_whatever_is_hidden(team: Team) -> None:
    ids = [made(team).id for name, made in HIDDEN.items() if name in ("quarantined", "foreign")] + [uuid4()]
    said = set()
    for id_ in ids:
        with pytest.raises(NotFound) as refusal:
            record_for_agent(team.acme.id, id_, Moment(timezone.now()))
        said.add((refusal.value.detail, str(refusal.value.extra), str(refusal.value.errors)))
    assert len(said) == 1


# What was known when.


def test_asked_for_the_past_an_agent_gets_what_was_known_then(team: Team) -> None:
    before = timezone.now()
    record = known(team.scout, PORT, team.alice)
    between = timezone.now()
    MemoryRecord.objects.filter(id=record.id).update(lifecycle="retracted", retired_at=timezone.now())
    assert recalled(team.scout, known_at=before) == []
    assert recalled(team.scout, known_at=between) == [PORT]
    assert recalled(team.scout) == []


def test_a_released_text_was_not_known_while_it_was_held(team: Team) -> None:
    proposal = doubtful(team.scout, PORT)
    held = timezone.now()
    approve(proposal, team.alice, team.carol)
    assert recalled(team.scout, known_at=held) == []
    assert recalled(team.scout) == [PORT]


# Verdicts.


def verdict_of(team: Team, record: MemoryRecord, **moment: Any) -> tuple[str, list[str]]:
    shown = item(record_for_agent(team.acme.id, record.id, Moment(timezone.now(), **moment)))
    return shown["verdict"]["decision"], shown["verdict"]["reasons"]


def test_a_sourced_record_is_admitted_as_current(team: Team) -> None:
    assert verdict_of(team, known(team.scout, PORT, team.alice)) == ("admit", ["current"])


def test_a_record_without_a_source_is_given_marked(team: Team) -> None:
    record = known(team.scout, PORT, team.alice)
    MemoryRecord.objects.filter(id=record.id).update(provenance=None)
    assert verdict_of(team, record) == ("degrade", ["no_provenance"])


def test_a_doubtful_confidence_is_given_marked(team: Team) -> None:
    assert verdict_of(team, known(team.scout, PORT, team.alice, confidence=0.3)) == (
        "degrade",
        ["low_confidence"],
    )


def test_a_record_is_judged_for_the_time_that_is_asked_about(team: Team) -> None:
    record = known(
        team.scout, PORT, team.alice, valid_from="2020-01-01T00:00:00Z", valid_to="2021-01-01T00:00:00Z"
    )
    then = timezone.now().replace(year=2020, month=6)
    assert verdict_of(team, record) == ("degrade", ["not_valid_at"])
    assert verdict_of(team, record, as_of=then) == ("admit", ["current"])


def test_two_records_that_contradict_each_other_are_both_disputed(team: Team) -> None:
    about = {"subject": "staging port", "predicate": "is"}
    one = known(team.scout, "It is 7443.", team.alice, **about)
    assert verdict_of(team, one) == ("admit", ["current"])
    other = known(team.scout, "It is 7444.", team.alice, **about)
    assert verdict_of(team, one) == verdict_of(team, other) == ("degrade", ["disputed"])


def test_records_about_other_times_or_other_things_are_not_disputed(team: Team) -> None:
    about = {"subject": "staging port", "predicate": "is"}
    one = known(team.scout, "It was 7443.", team.alice, **about, valid_to="2021-01-01T00:00:00Z")
    known(team.scout, "It is 7444.", team.alice, **about, valid_from="2021-01-01T00:00:00Z")
    known(team.scout, "It is 7445.", team.alice, subject="production port", predicate="is")
    assert verdict_of(team, one, as_of=timezone.now().replace(year=2020)) == ("admit", ["current"])


def test_what_rests_on_something_withdrawn_is_withheld(team: Team) -> None:
    base = known(team.scout, PORT, team.alice)
    source = {"kind": "user", "derived_from": [str(base.id)]}
    known(team.scout, "Staging is open to the world.", team.alice, provenance=source)
    assert len(recalled(team.scout)) == 2
    MemoryRecord.objects.filter(id=base.id).update(lifecycle="retracted", retired_at=timezone.now())
    assert recalled(team.scout, "staging", Mode.SUBSTRING) == []


def test_withheld_hits_cost_no_place_among_the_first(team: Team) -> None:
    base = known(team.scout, "A base.", team.alice)
    source = {"kind": "user", "derived_from": [str(base.id)]}
    known(team.scout, "Older and good.", team.alice)
    for n in range(3):
        known(team.scout, f"Derived {n}.", team.alice, provenance=source)
    MemoryRecord.objects.filter(id=base.id).update(lifecycle="retracted", retired_at=timezone.now())
    found = recall(team.acme.id, Question("", Mode.RECENCY, limit=2), Moment(timezone.now()))
    assert "Older and good." in [hit.judged.record.content for hit in found.hits]
    assert len(found.hits) <= 2


def test_a_record_approved_under_another_rule_is_given_marked(team: Team) -> None:
    record = known(team.scout, PORT, team.alice)
    stricter = [{"tool": "memory.write", "risk": "low", "approvals": 2}, *POLICY["rules"][1:]]
    set_policy(team.acme, {**POLICY, "rules": stricter})
    assert verdict_of(team, record) == ("degrade", ["stale_policy"])


# Sources.


def why_not(agent: AgentActor, derived_from: list[str]) -> set[tuple[str, str]]:
    """The codes and sentences with which a record derived from these is refused."""
    arguments = {"content": "Derived.", "provenance": {"kind": "user", "derived_from": derived_from}}
    submission = Submission(agent.agent.workspace, agent.agent, arguments, "low", timezone.now())
    signals = MemoryWrite().signals(submission)
    return {(signal.code, signal.detail) for signal in signals if signal.outcome is Outcome.REJECT}


def test_a_record_is_derived_only_from_what_is_active(team: Team) -> None:
    base = known(team.scout, PORT, team.alice)
    assert why_not(team.scout, [str(base.id)]) == set()
    MemoryRecord.objects.filter(id=base.id).update(lifecycle="archived", retired_at=timezone.now())
    assert {code for code, _ in why_not(team.scout, [str(base.id)])} == {"inactive"}
    with pytest.raises(Inactive) as refusal:
        remember(team.scout, "Derived.", provenance={"kind": "user", "derived_from": [str(base.id)]})
    assert refusal.value.extra == {"record": str(base.id)}


def test_a_source_in_quarantine_or_elsewhere_is_as_unknown_as_one_that_is_not_there(team: Team) -> None:
    held = MemoryRecord.objects.get(proposal=doubtful(team.scout, PORT))
    foreign = known(team.prowler, "Only globex knows.", team.nina)
    said = set()
    for id_ in (str(held.id), str(foreign.id), str(uuid4())):
        (why,) = why_not(team.scout, [id_])
        said.add((why[0], why[1].replace(id_, "")))
    assert len(said) == 1
    with pytest.raises(NotFound):
        remember(team.scout, "Derived.", provenance={"kind": "user", "derived_from": [str(held.id)]})
