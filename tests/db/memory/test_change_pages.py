"""Changes of a memory that people begin on its page, and what their proposals show."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import MemoryRecord
from review.domain.refusals import StaleBinding
from review.models import Proposal
from tests.support.factories import Team
from tests.support.memory_acts import approve, asked, known, reject, remember, retracting
from tests.support.pages import browser

PORT = "The staging port is 7443."


def words(answer: Any) -> str:
    """What a reader sees: no tags, single spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", answer.content.decode())).split())


@pytest.fixture
def record(team: Team) -> MemoryRecord:
    return known(team.scout, PORT, team.alice)


def test_a_reviewer_retracts_from_the_page_of_a_memory(team: Team, record: MemoryRecord) -> None:
    address = f"/memory/{record.id}/retract/"
    assert address in browser(team.alice).get(f"/memory/{record.id}/").content.decode()
    shown = words(browser(team.alice).get(address))
    for said in (PORT, "1 agent can recall it", "No agent can recall it", "Rejected, also in other letters"):
        assert said in shown
    answer = browser(team.alice).post(address, {"reason": "It moved to 7444."})
    made = Proposal.objects.get(tool="memory.retract")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/proposals/{made.id}/")
    asked = words(browser(team.carol).get(f"/proposals/{made.id}/"))
    for said in ("alice asks to retract the memory", PORT, "It moved to 7444.", "Retracted, for good"):
        assert said in asked


def test_without_a_reason_nothing_is_proposed_and_what_was_typed_is_kept(
    team: Team, record: MemoryRecord
) -> None:
    answer = browser(team.alice).post(f"/memory/{record.id}/retract/", {"reason": " "})
    assert answer.status_code == 422
    assert 'data-problem="reason_required"' in answer.content.decode()
    assert not Proposal.objects.filter(tool="memory.retract").exists()


def test_who_is_no_reviewer_is_offered_nothing_and_refused(team: Team, record: MemoryRecord) -> None:
    assert "retract/" not in browser(team.dana).get(f"/memory/{record.id}/").content.decode()
    assert browser(team.dana).post(f"/memory/{record.id}/retract/", {"reason": "x"}).status_code == 403
    for answer in (
        browser(team.mallory).get(f"/memory/{record.id}/retract/"),
        browser(team.mallory).post(f"/memory/{record.id}/retract/", {"reason": "x"}),
    ):
        assert answer.status_code == 404


def test_an_executed_memory_write_offers_the_way_back(team: Team, record: MemoryRecord) -> None:
    written, link = f"/proposals/{record.proposal_id}/", f"/memory/{record.id}/retract/"
    assert link in browser(team.alice).get(written).content.decode()
    assert link not in browser(team.dana).get(written).content.decode()
    approve(retracting(team.scout, record), team.alice)
    assert link not in browser(team.alice).get(written).content.decode()


def test_a_memory_that_waits_offers_no_way_back_yet(team: Team) -> None:
    waiting = remember(team.scout, PORT)
    assert "retract/" not in browser(team.alice).get(f"/proposals/{waiting.id}/").content.decode()


def test_what_is_retracted_is_not_offered_again(team: Team, record: MemoryRecord) -> None:
    approve(retracting(team.scout, record), team.alice)
    page = words(browser(team.alice).get(f"/memory/{record.id}/retract/"))
    assert "It is retracted, trusted." in page
    assert 'name="reason"' not in browser(team.alice).get(f"/memory/{record.id}/retract/").content.decode()
    assert "it was retracted" in words(browser(team.alice).get(f"/memory/{record.id}/"))


def test_a_stale_proposal_says_what_happened_in_between(team: Team, record: MemoryRecord) -> None:
    first, second = retracting(team.scout, record), retracting(team.scout, record, "It is wrong.")
    before = words(browser(team.carol).get(f"/proposals/{second.id}/"))
    assert "Meanwhile" not in before
    approve(first, team.alice)
    after = words(browser(team.carol).get(f"/proposals/{second.id}/"))
    assert "Meanwhile: it was retracted at" in after
    assert "by alice" in after


def test_the_number_of_queries_of_the_queue_does_not_grow_with_changes_of_memories(
    team: Team, record: MemoryRecord
) -> None:
    alice = browser(team.alice)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert alice.get("/").status_code == 200
        return len(asked)

    retracting(team.scout, record)
    queries()
    few = queries()
    for number in range(4):
        retracting(team.scout, known(team.scout, f"Door {number} opens to the north.", team.alice))
    assert queries() == few


# Two proposals on one record.


def three_sides(page: str) -> str:
    """The rows between, as a reader meets them."""
    start = page.index("What happened in between")
    return re.split("What changed|What would run", page[start:])[0]


def test_the_second_of_two_shows_three_sides_and_is_refused_as_stale(
    team: Team, record: MemoryRecord
) -> None:
    first = asked(team.alice, "memory.supersede", record, content="The staging port is 7444.")
    second = asked(team.carol, "memory.supersede", record, content="The staging port is 7445.")
    address = f"/proposals/{second.id}/"
    assert "What happened in between" not in words(browser(team.alice).get(address))
    approve(first, team.carol)
    sides = three_sides(words(browser(team.alice).get(address)))
    for said in ("Active, trusted Superseded, trusted", PORT, "is 7444.", "is 7445.", "Nothing is merged"):
        assert said in sides
    with pytest.raises(StaleBinding):
        approve(second, team.alice)
    assert reject(second, team.alice).status == "rejected"
    assert "What happened in between" not in words(browser(team.alice).get(address))


def test_another_source_is_one_of_the_three_sides(team: Team, record: MemoryRecord) -> None:
    waiting = retracting(team.scout, record)
    approve(remember(team.scout, PORT), team.alice)
    sides = three_sides(words(browser(team.carol).get(f"/proposals/{waiting.id}/")))
    assert "Who says so 1 source 2 sources 2 sources" in sides
    assert "Active, trusted Active, trusted Retracted, for good" in sides


def test_what_went_into_quarantine_meanwhile_shows_that(team: Team, record: MemoryRecord) -> None:
    waiting = retracting(team.scout, record)
    asked(team.alice, "memory.release", record, "I doubt it.")
    page = words(browser(team.carol).get(f"/proposals/{waiting.id}/"))
    assert "Active, trusted Active, in quarantine Retracted, for good" in three_sides(page)
    assert "Meanwhile: it was put into quarantine" in page
