"""Nothing that agents, people and time do in any order breaks a rule of the proposal's life."""

from __future__ import annotations

import os

import pytest
from django.core.cache import cache
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

CAME_ABOUT = {"executed", "rejected", "withdrawn", "expired", "succeeded", "stale_binding", "already_decided"}
"""The machine proves something only where it got to all of this."""


@pytest.mark.slow
def test_whatever_order_things_happen_in_no_rule_of_a_proposals_life_is_broken(db: None) -> None:
    from tests.api.states.machine import Console

    cache.clear()
    run_state_machine_as_test(
        Console,
        settings=settings(
            max_examples=int(os.environ.get("STATE_RUNS", "16")),
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert set(Console.seen) >= CAME_ABOUT, Console.seen
