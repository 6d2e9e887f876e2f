"""The strictest signal wins, and only what nobody was shown counts again."""

import json
from itertools import combinations_with_replacement

import pytest

from review.domain.gate import Outcome, Signal, Span, strictest, unseen

STRICTNESS = [Outcome.ALLOW, Outcome.REVIEW, Outcome.QUARANTINE, Outcome.REJECT]
HIDDEN = Signal("hidden_characters", Outcome.QUARANTINE, "U+202E.", (Span("/content", 3, 4, "bidi_control"),))
REVIEW = Signal("policy_review", Outcome.REVIEW, "The policy has people review this.")


@pytest.mark.parametrize(("milder", "stricter"), list(combinations_with_replacement(STRICTNESS, 2)))
def test_outcomes_are_ordered_by_strictness_and_not_by_letters(milder, stricter):
    assert milder <= stricter
    assert stricter >= milder
    assert (milder < stricter) is (stricter > milder) is (milder is not stricter)


@pytest.mark.parametrize("milder", STRICTNESS)
@pytest.mark.parametrize("stricter", STRICTNESS)
def test_the_strictest_wins_in_any_order(milder, stricter):
    signals = [Signal("a", milder, ""), Signal("b", stricter, ""), REVIEW]
    assert strictest(signals) is max(milder, stricter, Outcome.REVIEW, key=STRICTNESS.index)


def test_no_signal_allows():
    assert strictest([]) is Outcome.ALLOW


def test_a_signal_is_stored_and_read_back_whole():
    assert Signal.read(json.loads(json.dumps(HIDDEN.members()))) == HIDDEN


def test_what_the_approvers_saw_no_longer_counts():
    assert unseen([HIDDEN, REVIEW], shown=[HIDDEN]) == [REVIEW]


def test_the_same_fault_in_another_place_is_new():
    elsewhere = HIDDEN._replace(spans=(Span("/subject", 3, 4, "bidi_control"),))
    assert unseen([elsewhere], shown=[HIDDEN]) == [elsewhere]
