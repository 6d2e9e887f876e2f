"""Two people decide in the same moment: memory is left as if one had come after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.db import connection

from memory.models import MemoryRecord, Tombstone
from tests.support.memory_acts import approve, doubtful, known, recalled, reject, remember

if TYPE_CHECKING:
    from tests.support.factories import Team

PORT = "The staging port is 7443."
again = pytest.mark.parametrize("turn", range(3))


@pytest.fixture
def team(transactional_db: None) -> Team:
    from tests.support import factories

    return factories.team()


def at_once(*acts: Callable[[], object]) -> None:
    """Do `acts` in the same moment, each on a connection of its own; what one raises is raised here."""
    start, errors = threading.Barrier(len(acts)), list[Exception]()

    def run(act: Callable[[], object]) -> None:
        try:
            start.wait()
            act()
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


@again
def test_one_value_approved_twice_at_once_is_one_record(team: Team, turn: int) -> None:
    first, second = remember(team.scout, PORT), remember(team.scout, PORT.upper())
    at_once(lambda: approve(first, team.alice), lambda: approve(second, team.carol))
    assert MemoryRecord.objects.count() == 1
    for proposal in (first, second):
        proposal.refresh_from_db()
    outcomes = [proposal.outcome or {} for proposal in (first, second)]
    assert {outcome["admission"] for outcome in outcomes} == {"allow", "corroborated"}


@again
def test_a_value_approved_and_rejected_for_good_at_once_is_one_of_both(team: Team, turn: int) -> None:
    first, second = remember(team.scout, PORT), remember(team.scout, PORT.upper())
    at_once(lambda: approve(first, team.alice), lambda: reject(second, team.carol, tombstone=True))
    first.refresh_from_db()
    is_known, is_rejected = MemoryRecord.objects.exists(), Tombstone.objects.exists()
    assert is_known is not is_rejected
    assert first.status == ("executed" if is_known else "rejected")


@again
def test_a_reader_misses_nothing_that_is_written_or_released_at_once(team: Team, turn: int) -> None:
    recalled(team.scout)
    held = approve(doubtful(team.scout, "Held."), team.alice)
    at_once(
        lambda: approve(held, team.carol),
        lambda: known(team.scout, "Known.", team.alice),
        lambda: recalled(team.scout),
    )
    assert set(recalled(team.scout)) == {"Held.", "Known."}
