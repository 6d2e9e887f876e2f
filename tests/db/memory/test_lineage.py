"""What rests on something withdrawn falls silent, however far away it is, and speaks again with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.models import MemoryRecord
from memory.preview import of_retraction, of_setting_aside
from memory.queries.lineage import DEPTH, silenced_by
from memory.queries.recall import Question, recall, record_for_agent
from memory.queries.verdicts import Moment
from memory.search import Mode
from review.domain.refusals import Inactive, NotFound
from review.models import Proposal
from tests.support.factories import Team, bearer, person
from tests.support.memory_acts import approve, asked, known, recalled, reject, remember, retracting
from tests.support.pages import browser

Derive = Callable[..., MemoryRecord]


@pytest.fixture
def derive(team: Team) -> Derive:
    """A trusted record that names these as its sources."""

    def made(content: str, *sources: MemoryRecord) -> MemoryRecord:
        source: dict[str, Any] = {"kind": "user", "ref": "ticket-1"}
        if sources:
            source["derived_from"] = [str(one.id) for one in sources]
        return known(team.scout, content, team.alice, provenance=source)

    return made


def name_sources(record: MemoryRecord, *ids: Any) -> None:
    """Write down that `record` is derived from `ids`, past every rule."""
    source = {"kind": "user", "derived_from": [str(id_) for id_ in ids]}
    MemoryRecord.objects.filter(id=record.id).update(provenance=source)


def retract(team: Team, record: MemoryRecord) -> Proposal:
    return approve(retracting(team.scout, record), team.alice)


def set_aside(team: Team, record: MemoryRecord) -> Proposal:
    return asked(team.alice, "memory.release", record)


def erase(team: Team, record: MemoryRecord) -> Proposal:
    frank = person("frank", team.acme, ["reviewer"])
    return approve(asked(team.alice, "memory.erase", record), team.carol, frank)


def discard(team: Team, record: MemoryRecord) -> Proposal:
    return reject(set_aside(team, record), team.carol)


@pytest.mark.parametrize("withdraw", [retract, set_aside, erase, discard])
def test_what_rests_on_it_through_others_falls_silent(
    team: Team, derive: Derive, withdraw: Callable[[Team, MemoryRecord], Proposal]
) -> None:
    base = derive("The plan names port 7443.")
    middle = derive("Staging listens there.", base)
    last = derive("Open it in the firewall.", middle)
    beside = derive("The office is in Ankara.")
    assert len(recalled(team.scout)) == 4
    withdraw(team, base)
    assert recalled(team.scout) == [beside.content]
    assert recalled(team.scout, "firewall", Mode.BM25) == []
    assert recalled(team.scout, "firewall", Mode.SUBSTRING) == []
    for silent in (middle, last):
        with pytest.raises(NotFound):
            record_for_agent(team.acme.id, silent.id, Moment(timezone.now()))


def test_no_call_of_the_api_gives_it(team: Team, derive: Derive) -> None:
    base = derive("The plan names port 7443.")
    last = derive("Open it in the firewall.", derive("Staging listens there.", base))
    agent, secret = Client(), "firewall"

    def said() -> list[str]:
        asked = {"query": secret}
        answers = [
            agent.post("/api/v1/memory/query", asked, "application/json", **bearer(team.scout)),  # type: ignore[arg-type]
            agent.post("/api/v1/memory/context", asked, "application/json", **bearer(team.scout)),  # type: ignore[arg-type]
            agent.get(f"/api/v1/memory/records/{last.id}", **bearer(team.scout)),  # type: ignore[arg-type]
        ]
        return [answer.content.decode() for answer in answers]

    assert all(secret in answer for answer in said())
    retract(team, base)
    assert not any(secret in answer for answer in said())


def test_releasing_it_lets_what_rests_on_it_speak_again(team: Team, derive: Derive) -> None:
    base = derive("The plan names port 7443.")
    last = derive("Open it in the firewall.", derive("Staging listens there.", base))
    made = set_aside(team, base)
    assert recalled(team.scout) == []
    approve(made, team.carol, person("frank", team.acme, ["reviewer"]))
    assert last.content in recalled(team.scout)


@pytest.mark.parametrize("change", ["memory.archive", "memory.supersede"])
def test_what_is_only_retired_silences_nothing(team: Team, derive: Derive, change: str) -> None:
    base = derive("The plan names port 7443.")
    last = derive("Open it in the firewall.", base)
    terms = {"content": "The plan names port 7444."} if change == "memory.supersede" else {}
    approve(asked(team.alice, change, base, **terms), team.carol)
    assert last.content in recalled(team.scout)


def test_records_that_name_each_other_are_followed_once(team: Team, derive: Derive) -> None:
    base, one, other = derive("Base."), derive("One."), derive("Other.")
    name_sources(one, other.id, base.id)
    name_sources(other, one.id)
    name_sources(base, base.id)
    assert len(recalled(team.scout)) == 3
    assert {row.id for row in silenced_by(team.acme.id, [base.id])} == {one.id, other.id}
    retract(team, base)
    assert recalled(team.scout) == []


def test_what_is_further_away_than_anybody_follows_counts_as_withdrawn(team: Team, derive: Derive) -> None:
    chain = [derive("Step 0.")]
    for number in range(1, DEPTH + 1):
        chain.append(derive(f"Step {number}.", chain[-1]))
    assert len(recalled(team.scout)) == DEPTH + 1
    beyond = derive("One step more.")
    name_sources(beyond, chain[-1].id)
    assert beyond.content not in recalled(team.scout)
    assert chain[-1].content in recalled(team.scout)


def test_what_names_a_source_that_is_not_here_is_withheld(team: Team, derive: Derive) -> None:
    foreign = known(team.prowler, "Only globex knows.", team.nina)
    for number, unknown in enumerate((uuid4(), foreign.id)):
        record = derive(f"Rests on nothing, {number}.")
        assert record.content in recalled(team.scout)
        name_sources(record, unknown)
        assert record.content not in recalled(team.scout)


def test_nothing_new_is_derived_from_what_fell_silent(team: Team, derive: Derive) -> None:
    base = derive("The plan names port 7443.")
    middle = derive("Staging listens there.", base)
    remember(team.scout, "New.", provenance={"kind": "user", "derived_from": [str(middle.id)]})
    retract(team, base)
    with pytest.raises(Inactive):
        remember(team.scout, "Newer.", provenance={"kind": "user", "derived_from": [str(middle.id)]})


def test_the_preview_counts_and_names_what_would_fall_silent(team: Team, derive: Derive) -> None:
    base, shaky = derive("The plan names port 7443."), derive("Shaky.")
    middle = derive("Staging listens there.", base)
    derive("Open it in the firewall.", middle)
    derive("Silent already.", middle, shaky)
    retract(team, shaky)
    for rows in (of_retraction(base), of_setting_aside(base)):
        (number,) = (row for row in rows if "rest on it" in row.what)
        assert number.what == "2 records rest on it"
        quotes = [row.quote for row in rows if "source was withdrawn" in row.after and row.quote]
        assert quotes == [middle.content, "Open it in the firewall."]
    assert not [row for row in of_retraction(derive("Alone.")) if "rest" in row.what]


def test_the_number_of_queries_depends_on_depth_and_not_on_how_many_rest_on_it(
    team: Team, derive: Derive
) -> None:
    base = derive("Base.")

    def grow(*numbers: int) -> None:
        for number in numbers:
            derive(f"Leaf {number}.", derive(f"Branch {number}.", base))

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            recall(team.acme.id, Question("", Mode.RECENCY, limit=100), Moment(timezone.now()))
        return len(asked)

    grow(1, 2)
    queries()
    few = queries()
    grow(3, 4, 5, 6)
    queries()
    assert queries() == few


# People see it, and why.


def test_people_still_see_it_and_which_source_was_withdrawn(team: Team, derive: Derive) -> None:
    base = derive("The plan names port 7443.")
    last = derive("Open it in the firewall.", derive("Staging listens there.", base))
    link = f'href="/memory/{base.id}/"'
    assert link not in browser(team.carol).get(f"/memory/{last.id}/").content.decode()
    retract(team, base)
    page = browser(team.carol).get(f"/memory/{last.id}/").content.decode()
    for said in (last.content, "its source was withdrawn", link, "Withdrawn source"):
        assert said in page
    found = browser(team.carol).get("/memory/", {"q": "firewall"}).content.decode()
    assert last.content in found
    assert "its source was withdrawn" in found
