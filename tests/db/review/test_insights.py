"""Does reviewing work? What a manager reads on /insights/, and what she never sees there."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.audit.transaction import write
from review.models import Look
from review.queries import insights as queries
from review.services.expire import meet
from tests.support import factories
from tests.support.pages import browser
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db


def figures(person: PersonActor, **asked: str) -> dict[tuple[str, str, str], str]:
    """What the file of figures says: (table, row, column) to value."""
    answer = browser(person).get("/insights/insights.csv", asked)
    assert answer.status_code == 200
    text = b"".join(answer).decode()
    table = [*csv.reader(io.StringIO(text))]
    assert table[0] == ["table", "row", "column", "value"]
    return {(one, row, column): value for one, row, column, value in table[1:]}


def page(person: PersonActor, **asked: str) -> str:
    answer = browser(person).get("/insights/", asked)
    assert answer.status_code == 200
    return str(answer.content.decode())


def total(found: dict[tuple[str, str, str], str], table: str, column: str = "Number") -> int:
    return int(found[table, "All", column])


def test_what_waits_is_counted_by_age_and_risk(cast: factories.Team) -> None:
    with at(timezone.now() - timedelta(hours=2)):
        mail(cast.scout)
    call(cast.scout)
    found = figures(cast.dana)
    open_now = {key[1:]: value for key, value in found.items() if key[0] == "Open now, by age and risk"}
    assert open_now["1 to 4 h", "High"] == "1"
    assert open_now["Under 1 h", "Medium"] == "1"
    assert open_now["All", "All"] == "2"


def test_what_ran_out_of_time_no_longer_waits(cast: factories.Team) -> None:
    mail(cast.scout)
    assert total(figures(cast.dana), "Open now, by age and risk", "All") == 1
    with at(timezone.now() + timedelta(days=2)):
        assert total(figures(cast.dana), "Open now, by age and risk", "All") == 0


def test_the_time_to_decision_runs_from_the_revision_to_the_verdict(cast: factories.Team) -> None:
    sent = timezone.now()
    with time_machine.travel(sent, tick=False) as clock:
        refund = call(cast.scout)
        clock.shift(timedelta(minutes=30))
        vote(cast.alice, refund)
        found = figures(cast.dana)
        assert "Half of 1 verdicts came within 30 min of the revision" in page(cast.dana)
    row = f"{sent.astimezone(UTC):%-d %b}"
    medians = [
        value
        for (table, _, column), value in found.items()
        if (table, column) == ("Time to decision", "Median")
    ]
    assert [value for value in medians if value != "–"] == ["1800.0"], row


def test_outcomes_are_those_of_the_period(cast: factories.Team) -> None:
    for verdict in ("approve", "reject", "request_changes"):
        vote(cast.alice, call(cast.scout, arguments={"order": verdict}), verdict)
    found = figures(cast.dana)
    names = ("Approved", "Rejected", "Changes", "Expired")
    assert [total(found, "Decisions by outcome", name) for name in names] == [1, 1, 1, 0]
    found = figures(cast.dana, **{"from": "2020-01-01", "to": "2020-02-01"})
    assert [total(found, "Decisions by outcome", name) for name in names] == [0, 0, 0, 0]


def test_an_expiry_is_told_with_its_tool(cast: factories.Team) -> None:
    proposal = mail(cast.scout)
    with at(timezone.now() + timedelta(days=2)):
        with write():
            meet(proposal, timezone.now())
        found = figures(cast.dana)
        assert "1 expired: nobody decided in time" in page(cast.dana)
    assert found["Expired, by tool", "mail.send", "Number"] == "1"
    assert total(found, "Decisions by outcome", "Expired") == 1


def test_refusals_are_counted_by_their_code(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    for _ in range(2):
        with pytest.raises(Refusal):
            vote(cast.bob, proposal)
    with pytest.raises(Refusal):
        call(cast.scout, "shell.run")
    found = figures(cast.dana)
    assert found["Refusals by code", "self_approval", "Number"] == "2"
    assert total(found, "Refusals by code") == 3
    assert "self_approval is the most frequent: 2 of 3." in page(cast.dana)


@pytest.fixture
def busy(cast: factories.Team) -> factories.Team:
    """Of refunds one was approved, one rejected and one expired; a mail waits, its owner tried; a shell was refused."""
    with at(timezone.now() - timedelta(days=10)):
        late = call(cast.scout, arguments={"order": "late"})
    with write():
        meet(late, timezone.now())
    for verdict in ("approve", "reject"):
        vote(cast.alice, call(cast.scout, arguments={"order": verdict}), verdict)
    with pytest.raises(Refusal):
        vote(cast.bob, mail(cast.scout))
    with pytest.raises(Refusal):
        call(cast.scout, "shell.run")
    return cast


@pytest.mark.parametrize(
    ("tool", "open_now", "decided", "expired", "refused", "submitted"),
    [
        ("", 1, 2, 1, 2, 5),
        ("payments.refund", 0, 2, 1, 0, 3),
        ("mail.send", 1, 0, 0, 1, 1),
        ("shell.run", 0, 0, 0, 1, 1),
        ("mail.s", 0, 0, 0, 0, 0),
    ],
)
def test_every_figure_can_be_of_one_tool(
    busy: factories.Team, tool: str, open_now: int, decided: int, expired: int, refused: int, submitted: int
) -> None:
    found = figures(busy.dana, tool=tool)
    assert total(found, "Open now, by age and risk", "All") == open_now
    assert total(found, "Decisions by outcome", "All") == decided + expired
    assert (
        sum(int(n) for (of, _, what), n in found.items() if (of, what) == ("Time to decision", "Verdicts"))
        == decided
    )
    assert int(found.get(("Per reviewer", "alice", "Verdicts"), 0)) == decided
    assert total(found, "Expired, by tool") == expired
    assert total(found, "Refusals by code") == refused
    assert int(found["Agents by refusal rate", "scout", "Submissions"]) == submitted


def test_the_page_says_of_which_tool_it_is_and_its_file_is_of_the_same(busy: factories.Team) -> None:
    assert "only shell.run, " not in page(busy.dana)
    shown = page(busy.dana, tool="shell.run", **{"from": "2020-01-01"})
    assert "acme, only shell.run, 1 Jan 2020 to" in shown
    assert '<option value="shell.run" selected>' in shown
    assert '<option value="mail.send"' in shown
    assert "/insights/insights.csv?from=2020-01-01&amp;tool=shell.run" in shown
    assert "1 expired" not in shown


def test_a_reviewer_with_few_verdicts_is_not_compared_and_nobody_is_ranked(
    cast: factories.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        vote(cast.carol, call(cast.scout, arguments={"order": str(number)}))
    vote(cast.alice, call(cast.scout, arguments={"order": "alice"}), "reject")
    found = figures(cast.dana)
    assert [row for table, row, column in found if (table, column) == ("Per reviewer", "Verdicts")] == [
        "alice",
        "carol",
    ]
    assert found["Per reviewer", "carol", "Median time to decision"] == "too few"
    monkeypatch.setattr("review.domain.insights.TOO_FEW", 3)
    found = figures(cast.dana)
    assert float(found["Per reviewer", "carol", "Median time to decision"]) < 60
    assert found["Per reviewer", "carol", "Not approved"] == "0.0"
    assert found["Per reviewer", "alice", "Not approved"] == "too few"


def test_an_approval_right_after_opening_is_counted_as_very_fast(cast: factories.Team) -> None:
    for number, read in enumerate((3, 300)):
        proposal, seen = call(cast.scout, arguments={"order": str(number)}), timezone.now()
        Look.objects.create(proposal=proposal, person=cast.alice.person, revision=1, at=seen)
        with at(seen + timedelta(seconds=read)):
            vote(cast.alice, proposal)
    vote(cast.alice, call(cast.scout))
    found = figures(cast.dana)
    assert found["Per reviewer", "alice", "Approved within 10 s of opening"] == "1 of 2"


def test_two_accounts_of_one_person_are_one_reviewer(cast: factories.Team) -> None:
    vote(cast.alice, call(cast.scout, arguments={"order": "1"}))
    vote(cast.carol, call(cast.scout, arguments={"order": "2"}))
    cast.carol.person.same_as = cast.alice.person
    cast.carol.person.save()
    found = figures(cast.dana)
    assert found["Per reviewer", "alice", "Verdicts"] == "2"
    assert ("Per reviewer", "carol", "Verdicts") not in found


def test_an_agents_refusals_at_the_gate_and_by_people_make_its_rate(
    cast: factories.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("review.domain.insights.TOO_FEW", 4)
    for number in range(3):
        proposal = call(cast.scout, arguments={"order": str(number)})
    vote(cast.alice, proposal, "reject")
    with pytest.raises(Refusal):
        call(cast.scout, "shell.run")
    table = "Agents by refusal rate"
    found = figures(cast.dana)
    row = [found[table, "scout", name] for name in ("Submissions", "Refused at once", "Rejected by people")]
    assert row == ["4", "1", "1"]
    assert found[table, "scout", "Not let through"] == "0.5"


def test_a_manager_sees_nothing_of_another_workspace(cast: factories.Team) -> None:
    vote(cast.nina, call(cast.prowler))
    call(cast.prowler, arguments={"order": "2"})
    for found in (figures(cast.dana), figures(cast.dana, workspace="globex")):
        assert total(found, "Decisions by outcome", "All") == 0
        assert total(found, "Open now, by age and risk", "All") == 0
        assert not [key for key in found if {"nina", "prowler"} & {*key}]
    assert total(figures(cast.mallory), "Decisions by outcome", "All") == 1


def test_a_reviewer_is_not_shown_the_page(cast: factories.Team) -> None:
    for address in ("/insights/", "/insights/insights.csv"):
        assert browser(cast.alice).get(address).status_code == 403
        assert browser(cast.dana).get(address).status_code == 200


@pytest.mark.parametrize(
    "asked",
    [
        {"from": "yesterday"},
        {"to": "9999-12-31"},
        {"from": "2026-02-30"},
        {"from": "2026-11-30", "to": "2026-11-01"},
        {"workspace": "globex"},
        {"workspace": "\0"},
    ],
)
def test_an_address_that_asks_for_what_is_not_there_says_so(
    cast: factories.Team, asked: dict[str, str]
) -> None:
    said = "The address asks for what is not here" in page(cast.dana, **asked)
    assert said is (asked != {"workspace": "\0"})


@pytest.mark.parametrize("asked", [{}, {"from": "2026-10-26", "to": "2026-11-30"}, {"workspace": "acme"}])
def test_an_address_that_asks_for_what_is_there_does_not(cast: factories.Team, asked: dict[str, str]) -> None:
    assert "The address asks for what is not here" not in page(cast.dana, **asked)


def test_the_page_costs_the_same_however_much_was_decided(cast: factories.Team) -> None:
    client, costs = browser(cast.dana), []
    for number in range(2):
        for order in range(3):
            vote(cast.alice, call(cast.scout, arguments={"order": f"{number}.{order}"}))
        with CaptureQueriesContext(connection) as asked:
            client.get("/insights/")
        costs.append(len(asked))
    assert costs[0] == costs[1] < 40


def test_a_period_with_more_than_is_looked_at_says_so(
    cast: factories.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    for order in ("1", "2"):
        vote(cast.alice, call(cast.scout, arguments={"order": order}))
    assert "A part of the period is counted" not in page(cast.dana)
    monkeypatch.setattr(queries, "LOOKED_AT", 2)
    assert "of each kind the newest 2." in page(cast.dana)


def test_a_chart_has_its_table_below_and_no_style_of_its_own(cast: factories.Team) -> None:
    vote(cast.alice, call(cast.scout))
    shown = page(cast.dana)
    assert "style=" not in shown.partition("<main")[2]
    for section in shown.split('<section class="panel chart-panel')[1:]:
        picture, _, rest = section.partition("</svg>")
        assert "<table" in rest or "<table" in picture


def test_a_name_that_is_a_formula_is_not_run_by_a_spreadsheet(cast: factories.Team) -> None:
    cast.scout.agent.name = "=1+1"
    cast.scout.agent.save()
    rows: list[Any] = [row for _, row, _ in figures(cast.dana)]
    assert "'=1+1" in rows
    assert "=1+1" not in rows


def test_the_period_is_whole_days_in_utc(cast: factories.Team) -> None:
    last = datetime(2046, 11, 30, 23, 59, 59, tzinfo=UTC)
    with at(last):
        vote(cast.alice, call(cast.scout))
        found = figures(cast.dana, **{"from": "2046-11-30", "to": "2046-11-30"})
    assert total(found, "Decisions by outcome", "All") == 1
    with at(last):
        found = figures(cast.dana, **{"from": "2046-11-01", "to": "2046-11-29"})
    assert total(found, "Decisions by outcome", "All") == 0
