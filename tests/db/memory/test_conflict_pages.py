"""The pages on which people see what contradicts what, and propose how it ends."""

from __future__ import annotations

import pytest

from memory.models import RecordConflict
from review.access.actors import PersonActor
from review.models import Proposal
from tests.support.factories import Team
from tests.support.memory_acts import approve, arguments_of, known, recalled, retracting
from tests.support.pages import browser

OLD, NEW = "The staging port is 7443.", "The staging\u200b port is 7444."
ABOUT = {"subject": "staging port", "predicate": "is"}


@pytest.fixture
def conflict(team: Team) -> RecordConflict:
    from tests.support.memory_acts import remember

    known(team.scout, OLD, team.alice, **ABOUT)
    approve(remember(team.scout, NEW, **ABOUT), team.alice, team.carol)
    return RecordConflict.objects.get()


def page(who: PersonActor, address: str) -> str:
    return browser(who).get(address).content.decode()


def test_open_ones_are_listed_and_counted_where_the_person_has_a_role(
    team: Team, conflict: RecordConflict
) -> None:
    address = f"/memory/conflicts/{conflict.id}/"
    listed = page(team.alice, "/memory/conflicts/")
    assert address in listed and OLD in listed
    assert "1 open conflict" in page(team.alice, "/memory/")
    assert address not in page(team.mallory, "/memory/conflicts/")
    assert "No memories contradict each other" in page(team.mallory, "/memory/conflicts/")
    assert browser(team.mallory).get(address).status_code == 404


def test_both_sides_stand_beside_each_other_with_who_said_it_and_what_hides_in_it(
    team: Team, conflict: RecordConflict
) -> None:
    shown = page(team.alice, f"/memory/conflicts/{conflict.id}/")
    assert OLD in shown and "U+200B" in shown and "\u200b" not in shown
    for side in (conflict.older, conflict.newer):
        assert f"/memory/{side.id}/" in shown and f"/proposals/{side.proposal_id}/" in shown
        assert f"/memory/conflicts/{conflict.id}/" in page(team.alice, f"/memory/{side.id}/")
    for answer in ("Keep the old one", "Keep the new one", "Keep both, each for its time", "Remove both"):
        assert answer in shown


def test_a_reviewer_proposes_an_answer_and_another_decides_it(team: Team, conflict: RecordConflict) -> None:
    address, carol = f"/memory/conflicts/{conflict.id}/", browser(team.carol)
    answer = carol.post(address, {"answer": "keep_old", "reason": "The ticket says so.", "old_valid_to": "x"})
    made = Proposal.objects.get(tool="memory.resolve")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/proposals/{made.id}/")
    assert arguments_of(made) == {
        "conflict": str(conflict.id),
        "answer": "keep_old",
        "reason": "The ticket says so.",
    }
    assert f"/proposals/{made.id}/" in page(team.alice, address)
    decided = page(team.alice, f"/proposals/{made.id}/")
    assert OLD in decided and "U+200B" in decided
    approve(made, team.alice)
    assert "Resolved: Keep the old one." in page(team.alice, address)
    assert "Propose this answer" not in page(team.alice, address)
    assert recalled(team.scout) == [OLD]


def test_times_as_a_form_sends_them_are_in_utc(team: Team, conflict: RecordConflict) -> None:
    times = {"old_valid_to": "2026-06-01T00:00", "new_valid_from": "2026-06-01T00:00:00"}
    typed = {"answer": "keep_both", "reason": "It moved in June.", **times}
    browser(team.carol).post(f"/memory/conflicts/{conflict.id}/", typed)
    said = arguments_of(Proposal.objects.get(tool="memory.resolve"))
    june = "2026-06-01T00:00:00Z"
    assert (said["old"], said["new"]) == ({"valid_to": june}, {"valid_from": june})


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"answer": "keep_old", "reason": " "}, "Say why."),
        ({"reason": "So."}, "Choose one of the four."),
        ({"answer": "keep_both", "reason": "So."}, "Both would still hold at one time"),
        (
            {"answer": "keep_both", "reason": "So.", "new_valid_from": "2026-02-30T00:00"},
            "Must be in the format date-time.",
        ),
    ],
)
def test_what_settles_nothing_is_said_beside_what_was_typed(
    team: Team, conflict: RecordConflict, typed: dict[str, str], said: str
) -> None:
    answer = browser(team.carol).post(f"/memory/conflicts/{conflict.id}/", typed)
    shown = answer.content.decode()
    assert (answer.status_code, said in shown, "Not proposed." in shown) == (422, True, True)
    assert typed.get("new_valid_from", "") in shown
    assert not Proposal.objects.filter(tool="memory.resolve").exists()


def test_who_only_manages_reads_it_and_cannot_answer(team: Team, conflict: RecordConflict) -> None:
    address = f"/memory/conflicts/{conflict.id}/"
    assert "Propose this answer" not in page(team.dana, address)
    assert browser(team.dana).post(address, {"answer": "keep_old", "reason": "So."}).status_code == 403
    assert browser(team.mallory).post(address, {"answer": "keep_old", "reason": "So."}).status_code == 404


def test_a_conflict_that_ended_by_itself_says_so(team: Team, conflict: RecordConflict) -> None:
    approve(retracting(team.scout, conflict.older), team.alice)
    assert "Nothing is left to resolve." in page(team.alice, f"/memory/conflicts/{conflict.id}/")
    assert "1 open conflict" not in page(team.alice, "/memory/")
