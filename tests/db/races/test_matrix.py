"""Each act against each on one proposal, at once: it comes out as if one had come first, whichever that was."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from review.services import rebind
from tests.db.races import acts
from tests.db.races.acts import ACTS
from tests.db.races.rounds import Pair
from tests.db.races.stage import ROUNDS, Stage

EACH = max(ROUNDS // 200, 1)  # rounds of each pair
ON_APPROVED = ("take_a_permit", "reject", "take_back", "run_out", "stop", "change_the_rule", "disable")
ON_HELD = ("approve", "reject", "take_back", "stop", "end_a_role", "change_the_rule")


@pytest.fixture(autouse=True)
def _what_follows_is_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Binding anew after a change of the policy is asked for by the act itself, so that others can come between."""
    monkeypatch.setattr(rebind, "AT_ONCE", 0)


def pairs_of(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(combinations_with_replacement(names, 2))


@pytest.mark.parametrize("name", ACTS)
def test_on_a_call_that_waits(stage: Stage, name: str) -> None:
    compare(stage, [Pair(acts.waiting, *pair) for pair in pairs_of(tuple(ACTS)) if pair[0] == name])


@pytest.mark.parametrize("name", ON_APPROVED)
def test_on_a_call_that_may_run(stage: Stage, name: str) -> None:
    compare(stage, [Pair(acts.approved, *pair) for pair in pairs_of(ON_APPROVED) if pair[0] == name])


def test_on_a_mail_that_lacks_one_vote(stage: Stage) -> None:
    compare(stage, [Pair(acts.half_approved, "approve", name, voted=True) for name in ACTS])


@pytest.mark.parametrize("name", ON_HELD)
def test_on_a_memory_that_is_held(stage: Stage, name: str) -> None:
    compare(stage, [Pair(acts.held, *pair, voted=True) for pair in pairs_of(ON_HELD) if pair[0] == name])


def compare(stage: Stage, pairs: list[Pair]) -> None:
    """Race each pair; say of each that came out wrong how, and how it may come out."""
    wrong = []
    for pair in pairs:
        raced, legal = {pair.raced(stage) for _ in range(EACH)}, []
        for outcome in pair.legal():
            legal.append(outcome)
            if raced <= set(legal):
                break
        wrong += [(pair.first, pair.second, outcome, legal) for outcome in raced - set(legal)]
    assert not wrong, "\n".join(map(str, wrong))
