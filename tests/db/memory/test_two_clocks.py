"""What an agent gets for a time of the world and one of the system, whatever happened and in whatever order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.domain.validity import Interval
from memory.gateway import retire
from memory.gateway.restore import restore
from memory.gateway.supersede import supersede
from memory.gateway.validity import correct
from memory.gateway.write import write
from memory.models import MemoryRecord, RecordConflict
from memory.preview import of_superseding
from memory.queries.recall import Question, item, recall, record_for_agent
from memory.queries.verdicts import Moment
from memory.search import Mode
from review.access.actors import AgentActor
from review.audit import transaction as audited
from review.domain.refusals import Invalid, NotFound
from review.models import Proposal
from tests.support.factories import Team
from tests.support.memory_acts import TICKET, approve, known, remember
from tests.support.review_acts import call

OLD, NEW = "The staging port is 7443.", "The staging port is 7444."
ABOUT = {"subject": "staging port", "predicate": "is"}
MONTHS = [None, *(datetime(2026, month, 1, tzinfo=UTC) for month in range(1, 5))]
WORLD = [datetime(2026, month, day, tzinfo=UTC) for month in range(1, 5) for day in (1, 15)]
few = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])


def got(scope: UUID, **moment: Any) -> dict[str, tuple[str, ...]]:
    """What is recalled in a workspace, each with the reasons of its verdict."""
    found = recall(scope, Question("", Mode.RECENCY, limit=100), Moment(timezone.now(), **moment))
    return {hit.judged.record.content: hit.judged.verdict.reasons for hit in found.hits}


def replacing(agent: AgentActor, record: MemoryRecord, **said: Any) -> Proposal:
    arguments = {"record": str(record.id), "content": NEW, "provenance": TICKET, **ABOUT, **said}
    return call(agent, "memory.supersede", arguments)


# A replacement that says from when it holds.


@pytest.fixture
def old(team: Team) -> MemoryRecord:
    return known(team.scout, OLD, team.alice, **ABOUT, valid_from="2026-01-01T00:00:00Z")


def test_what_is_replaced_from_a_time_on_answers_for_the_time_before(team: Team, old: MemoryRecord) -> None:
    before = timezone.now()
    approve(replacing(team.scout, old, valid_from="2026-03-01T00:00:00Z"), team.alice)
    february, march, scope = datetime(2026, 2, 28, 23, tzinfo=UTC), MONTHS[3], team.acme.id
    assert got(scope) == {NEW: ("current",)}
    assert got(scope, as_of=march) == {NEW: ("current",)}
    assert got(scope, as_of=february) == {OLD: ("superseded",), NEW: ("not_valid_at",)}
    assert got(scope, as_of=february, known_at=before) == {OLD: ("current",)}
    said = item(record_for_agent(scope, old.id, Moment(timezone.now(), as_of=february)))
    assert (said["verdict"]["decision"], said["valid_to"]) == ("degrade", "2026-03-01T00:00:00Z")
    for moment in ({}, {"as_of": march}, {"as_of": datetime(2025, 12, 1, tzinfo=UTC)}):
        with pytest.raises(NotFound):
            record_for_agent(scope, old.id, Moment(timezone.now(), **moment))
    assert not RecordConflict.objects.exists()


def test_what_is_replaced_without_a_time_answers_for_none(team: Team, old: MemoryRecord) -> None:
    approve(replacing(team.scout, old), team.alice)
    assert got(team.acme.id, as_of=datetime(2026, 2, 1, tzinfo=UTC)) == {NEW: ("current",)}
    old.refresh_from_db()
    assert old.valid_to is None


def test_a_replacement_from_before_it_began_replaces_the_whole_of_it(team: Team, old: MemoryRecord) -> None:
    approve(replacing(team.scout, old, valid_from="2026-01-01T00:00:00Z"), team.alice)
    for moment in WORLD:
        assert OLD not in got(team.acme.id, as_of=moment)


def test_whoever_decides_is_told_for_which_time_the_old_one_still_answers(old: MemoryRecord) -> None:
    assert "1 Mar 2026" in of_superseding(old, MONTHS[3])[0].after
    assert "Mar" not in of_superseding(old, None)[0].after
    assert "2025" not in of_superseding(old, datetime(2025, 1, 1, tzinfo=UTC))[0].after


@pytest.mark.parametrize(
    ("times", "pointer"),
    [
        ({"valid_from": "2026-03-01T00:00:00Z", "valid_to": "2026-03-01T00:00:00Z"}, "valid_to"),
        ({"valid_from": "2026-03-01T00:00:00+03:00", "valid_to": "2026-02-28T20:59:59Z"}, "valid_to"),
        ({"valid_from": "2026-03-01"}, "valid_from"),
    ],
)
def test_an_interval_without_a_moment_is_refused_with_its_place(
    team: Team, old: MemoryRecord, times: dict[str, str], pointer: str
) -> None:
    for proposing in (
        lambda: remember(team.scout, NEW, **times),
        lambda: replacing(team.scout, old, **times),
    ):
        with pytest.raises(Invalid) as refusal:
            proposing()
        assert [error.pointer for error in refusal.value.errors] == [f"/arguments/{pointer}"]
    assert remember(team.scout, NEW, valid_from="2026-03-01T00:00:00Z").status == "pending"


# Whatever happened.


@dataclass
class Told:
    """What the model knows of one record: `stands` and `holds` with since when, the newest last."""

    row: MemoryRecord
    stands: list[tuple[datetime, str]] = field(default_factory=list)
    holds: list[tuple[datetime, Interval]] = field(default_factory=list)
    followed_from: datetime | None = None
    gone: bool = False

    def at(self, known_at: datetime) -> tuple[str, Interval] | None:
        """How it stood and when it was said to hold, for whoever looked at `known_at`."""
        stood = [what for since, what in self.stands if since <= known_at]
        held = [what for since, what in self.holds if since <= known_at]
        return (stood[-1], held[-1]) if stood else None


def expected(world: list[Told], known_at: datetime, as_of: datetime) -> dict[str, set[str]]:
    """What the model says that is recalled: the content, and every reason to doubt it."""
    there = [(one, *seen) for one in world if not one.gone and (seen := one.at(known_at))]
    answers: dict[str, set[str]] = {}
    for one, stood, holds in there:
        outlived = (
            stood == "superseded"
            and one.followed_from is not None
            and as_of < one.followed_from
            and holds.contains(as_of)
        )
        if stood != "active" and not outlived:
            continue
        rivals = [other for other in there if other[0] is not one and other[1] == "active"]
        reasons = {
            "superseded": outlived,
            "not_valid_at": not holds.contains(as_of),
            "disputed": any(holds.overlaps(other) for _, _, other in rivals),
        }
        answers[one.row.content] = {reason for reason, applies in reasons.items() if applies} or {"current"}
    return answers


class History:
    """The gateway and the model of it, told the same. All records are about one thing, and no two say the same."""

    def __init__(self, base: Proposal, team: Team) -> None:
        self.base, self.by, self.world, self.marks = base, team.alice, list[Told](), list[datetime]()

    def happen(self, what: str, which: int, start: datetime | None, end: datetime | None) -> None:
        start, end = (end, start) if start and end and end < start else (start, end)
        end = None if start == end else end
        with audited.write():
            getattr(self, what)(which, Interval(start, end))
        self.marks.append(timezone.now())

    def write(self, which: int, holds: Interval) -> None:
        self._made(write(self.base, self._said(holds), by=self.by).record, holds)

    def supersede(self, which: int, holds: Interval) -> None:
        if old := self._one("active", which):
            said = {**self._said(holds), "record": str(old.row.id)}
            new = supersede(self.base, said, by=self.by, released=False).record
            now = self._reread(old, "superseded")
            held, old.followed_from = old.holds[-1][1], holds.start
            if holds.start and held.contains(holds.start) and held.start != holds.start:
                old.holds.append((now, Interval(held.start, holds.start)))
            self._made(new, holds)

    def archive(self, which: int, holds: Interval) -> None:
        if one := self._one("active", which):
            retire.archive(self.base, one.row.id, by=self.by)
            self._reread(one, "archived")

    def restore(self, which: int, holds: Interval) -> None:
        if one := self._one("archived", which):
            restore(self.base, one.row.id, by=self.by)
            one.stands.append((timezone.now(), "active"))

    def retract(self, which: int, holds: Interval) -> None:
        if one := self._one("active", which):
            retire.retract(self.base, one.row.id, by=self.by)
            self._reread(one, "retracted")

    def correct(self, which: int, holds: Interval) -> None:
        if one := self._one("active", which):
            correct(MemoryRecord.objects.get(id=one.row.id), holds)
            one.holds.append((timezone.now(), holds))

    def hold(self, which: int, holds: Interval) -> None:
        """What is in quarantine now was never known, whatever is asked."""
        if (one := self._one("active", which)) and not any(other.gone for other in self.world):
            MemoryRecord.objects.filter(id=one.row.id).update(trust="quarantined")
            one.gone = True

    def erase(self, which: int, holds: Interval) -> None:
        """What is erased is gone from every past, too."""
        if one := self._one("active", which):
            MemoryRecord.objects.filter(id=one.row.id).update(lifecycle="erased", retired_at=timezone.now())
            one.gone = True

    def _said(self, holds: Interval) -> dict[str, Any]:
        times = {"valid_from": holds.start, "valid_to": holds.end}
        said = {name: time.isoformat() for name, time in times.items() if time}
        return {"content": f"It is {len(self.world)}.", "provenance": TICKET, **ABOUT, **said}

    def _made(self, row: MemoryRecord, holds: Interval) -> None:
        self.world.append(Told(row, [(row.recorded_at, "active")], [(row.recorded_at, holds)]))

    def _reread(self, one: Told, stands: str) -> datetime:
        one.row.refresh_from_db()
        assert one.row.retired_at is not None
        one.stands.append((one.row.retired_at, stands))
        return one.row.retired_at

    def _one(self, stands: str, which: int) -> Told | None:
        found = [one for one in self.world if not one.gone and one.stands[-1][1] == stands]
        return found[which % len(found)] if found else None


EVENTS = ["write", "write", "supersede", "archive", "restore", "retract", "correct", "hold", "erase"]


@contextmanager
def undone() -> Iterator[None]:
    """Take back what is written inside, so that the next example begins alike."""
    before = (
        transaction.savepoint()
    )  # no atomic(): the log's transactions stand on nothing but the test's own
    yield
    transaction.savepoint_rollback(before)


@pytest.fixture
def base(team: Team) -> Proposal:
    """What every record of the model is written for."""
    return remember(team.scout, "What everything here was proposed with.")


@few
@given(
    st.lists(
        st.tuples(
            st.sampled_from(EVENTS), st.integers(0, 5), st.sampled_from(MONTHS), st.sampled_from(MONTHS)
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(WORLD),
)
@pytest.mark.unwatched("it corrects what held without a decision to do so")
def test_an_agent_gets_what_the_model_says(
    team: Team, base: Proposal, events: list[Any], as_of: datetime
) -> None:
    with undone():
        history = History(base, team)
        for event in events:
            history.happen(*event)
        for known_at in history.marks:
            answer = {
                text: set(reasons)
                for text, reasons in got(team.acme.id, as_of=as_of, known_at=known_at).items()
            }
            assert answer == expected(history.world, known_at, as_of)
        now = {text: set(reasons) for text, reasons in got(team.acme.id, as_of=as_of).items()}
        assert now == expected(history.world, history.marks[-1], as_of)
        assert {row.id for row in RecordConflict.objects.open()} == {
            row.id for row in RecordConflict.objects.select_related("older", "newer") if row.is_open
        }


# What people see of it.


def test_a_person_asks_for_another_time_as_an_agent_would(team: Team, old: MemoryRecord) -> None:
    before = timezone.now()
    approve(replacing(team.scout, old, valid_from="2026-03-01T00:00:00Z"), team.alice)
    client = Client()
    client.force_login(team.alice.user)

    def shown(**times: str) -> str:
        return client.get("/memory/", times).content.decode()

    assert "held then; another one took its place later" in shown(as_of="2026-02-01T00:00")
    assert "held then" not in shown(as_of="2026-03-01T00:00")
    past = shown(known_at=before.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    assert OLD in past and NEW not in past
    assert "This time is not on the calendar" in shown(as_of="2026-02-30T00:00")
