"""Several decided at once: rejecting always, approving only what is alike and of low risk, each by itself."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from review.access.actors import PersonActor
from review.audit.models import Entry
from review.models import Decision, Proposal
from review.services.decide_together import decide_together
from tests.support.factories import Team
from tests.support.memory_acts import remember
from tests.support.pages import browser
from tests.support.review_acts import ballot, call, mail, vote

pytestmark = pytest.mark.django_db
PAGE = "/proposals/together/"


@pytest.fixture
def memories(cast: Team) -> list[Proposal]:
    """Three memories of scout that wait: one tool, low risk."""
    return [remember(cast.scout, f"The port of service {n} is {7000 + n}.") for n in range(3)]


def approve(who: PersonActor, proposals: list[Proposal]) -> list[str]:
    """What became of each: its status, or the code of the refusal."""
    results = decide_together({one.id: ballot(who, one) for one in proposals}, by=who)
    return [result.refusal.code if result.refusal else result.proposal.status for result in results]  # type: ignore[union-attr]


def form(who: PersonActor, proposals: list[Proposal], verdict: str) -> dict[str, Any]:
    """What the page would post with everything checked that it offers."""
    page = browser(who).get(PAGE, {"proposal": [str(one.id) for one in proposals], "verdict": verdict})
    text = page.content.decode()
    hidden = dict(re.findall(r'type="hidden" name="([\w-]+)" value="([^"]*)"', text))
    checked = re.findall(r'name="proposal" value="([^"]*)" checked', text)
    return {name: html.unescape(value) for name, value in hidden.items()} | {
        "proposal": checked,
        "verdict": verdict,
    }


def states(proposals: list[Proposal]) -> list[str]:
    return [Proposal.objects.get(pk=one.pk).status for one in proposals]


def test_a_reviewer_approves_three_memories_with_one_click(cast: Team, memories: list[Proposal]) -> None:
    answer = browser(cast.alice).post(PAGE, form(cast.alice, memories, "approve"))
    assert (answer.status_code, states(memories)) == (200, ["executed"] * 3)
    assert "3 decisions" in answer.content.decode()
    assert Decision.objects.count() == 3


def test_each_decision_says_what_the_page_showed_of_it(cast: Team, memories: list[Proposal]) -> None:
    browser(cast.alice).post(PAGE, form(cast.alice, memories, "approve"))
    assert len(set(Decision.objects.values_list("shown", flat=True))) == 3


def test_the_owner_of_the_agent_approves_none_of_them(cast: Team, memories: list[Proposal]) -> None:
    assert form(cast.bob, memories, "approve")["proposal"] == []
    assert approve(cast.bob, memories) == ["self_approval"] * 3
    assert approve(cast.alice, memories) == ["executed"] * 3


def test_medium_risk_is_not_approved_together_but_one_by_one(cast: Team) -> None:
    refunds = [call(cast.scout, arguments={"order": str(n)}) for n in range(2)]
    assert approve(cast.alice, refunds) == ["not_together"] * 2
    assert vote(cast.alice, refunds[0]).proposal.status == "approved"


def test_calls_of_two_tools_are_not_approved_together(cast: Team, memories: list[Proposal]) -> None:
    other = call(cast.scout, arguments={"order": "1"})
    assert set(approve(cast.alice, [*memories, other])) == {"not_together"}
    assert set(states(memories)) == {"pending"}


def test_more_than_twenty_are_not_approved_together(cast: Team) -> None:
    many = [remember(cast.scout, f"The port of service {n} is {7000 + n}.") for n in range(21)]
    assert set(approve(cast.alice, many)) == {"not_together"}
    assert set(approve(cast.alice, many[:20])) == {"executed"}


def test_high_risk_is_rejected_together_with_low(cast: Team, memories: list[Proposal]) -> None:
    sent = form(cast.alice, [*memories, mail(cast.scout)], "reject") | {"reason": "A runaway agent."}
    browser(cast.alice).post(PAGE, sent)
    assert set(Proposal.objects.values_list("status", flat=True)) == {"rejected"}


def test_without_a_reason_nothing_is_rejected_and_the_page_asks_again(
    cast: Team, memories: list[Proposal]
) -> None:
    answer = browser(cast.alice).post(PAGE, form(cast.alice, memories, "reject"))
    page = answer.content.decode()
    assert (answer.status_code, set(states(memories))) == (422, {"pending"})
    assert 'data-problem="reason_required"' in page
    assert page.count('name="proposal"') == 3


def test_what_was_revised_meanwhile_is_left_alone_and_the_others_are_decided(
    cast: Team, memories: list[Proposal]
) -> None:
    sent = form(cast.alice, memories, "approve")
    vote(cast.carol, memories[0], "reject", reason="Wrong.")
    answer = browser(cast.alice).post(PAGE, sent)
    assert states(memories) == ["rejected", "executed", "executed"]
    assert "already_decided" in answer.content.decode()


def test_the_nonce_of_a_rejection_approves_nothing(cast: Team, memories: list[Proposal]) -> None:
    sent = form(cast.alice, memories, "reject") | {"verdict": "approve"}
    browser(cast.alice).post(PAGE, sent)
    assert set(states(memories)) == {"pending"}


def test_a_text_with_hidden_characters_has_to_be_opened_by_itself(cast: Team) -> None:
    call_ = call(cast.scout, arguments={"order": "2\u200b1"})
    page = browser(cast.alice).get(PAGE, {"proposal": str(call_.id), "verdict": "approve"}).content.decode()
    assert "Left out" in page
    assert "U+200B" in page


def test_another_workspace_is_not_there(cast: Team, memories: list[Proposal]) -> None:
    assert form(cast.mallory, memories, "reject")["proposal"] == []
    answer = decide_together(
        {one.id: ballot(cast.mallory, one, "reject") for one in memories}, by=cast.mallory
    )
    assert {result.refusal.code for result in answer if result.refusal} == {"not_found"}
    assert set(states(memories)) == {"pending"}


def test_a_refused_attempt_is_in_the_trail(cast: Team) -> None:
    refunds = [call(cast.scout, arguments={"order": str(n)}) for n in range(2)]
    approve(cast.alice, refunds)
    refused = Entry.objects.filter(action="decision.refused").values_list("canonical", flat=True)
    assert [("not_together" in text) for text in refused] == [True, True]


def test_ids_that_are_none_select_nothing(cast: Team) -> None:
    page = browser(cast.alice).get(PAGE, {"proposal": ["x", "0" * 32], "verdict": "approve"})
    assert (page.status_code, "Nothing was selected" in page.content.decode()) == (200, True)


def test_the_queue_offers_it_for_what_can_still_be_decided(cast: Team, memories: list[Proposal]) -> None:
    page = browser(cast.alice).get("/").content.decode()
    assert page.count('form="bulk"') == 3
    assert 'form="bulk"' not in browser(cast.alice).get("/?view=decided").content.decode()
