"""The writers' queue: one at a time, between threads and between programs, and nobody waits for ever."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from review.audit.file_lock import Queue, locked

SOON, LONG = 0.05, 20.0  # seconds


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path / "lock")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Queue:
    """The queue of another program at the same file."""
    return Queue(tmp_path / "lock")


def test_one_at_a_time_has_its_turn(queue: Queue, elsewhere: Queue) -> None:
    inside, most = list[int](), list[int]()

    def go(own: Queue) -> None:
        for _ in range(20):
            with own.turn(LONG):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    with ThreadPoolExecutor(6) as writers:
        list(writers.map(go, [queue, elsewhere] * 3))
    assert most == [1] * 120


def test_who_waits_too_long_is_turned_away_and_keeps_nobody_else_out(
    queue: Queue, elsewhere: Queue, tmp_path: Path
) -> None:
    with locked(tmp_path / "lock"):
        for _ in range(3):
            with pytest.raises(TimeoutError), queue.turn(SOON):
                pass
    with elsewhere.turn(LONG):
        pass
    with queue.turn(LONG):
        pass


def test_who_is_turned_away_by_his_own_program_is_not_kept_waiting_either(queue: Queue) -> None:
    with queue.turn(LONG), ThreadPoolExecutor(1) as other, pytest.raises(TimeoutError):
        other.submit(_take, queue).result()


def _take(queue: Queue) -> None:
    with queue.turn(SOON):
        pass


def test_a_turn_that_nobody_waits_for_any_more_is_given_back(queue: Queue, tmp_path: Path) -> None:
    threads = threading.active_count()
    with locked(tmp_path / "lock"), pytest.raises(TimeoutError), queue.turn(SOON):
        pass
    ends = time.monotonic() + LONG
    while threading.active_count() > threads and time.monotonic() < ends:
        time.sleep(0.001)
    with locked(tmp_path / "lock"):
        pass


def test_the_next_in_the_queue_goes_on_waiting_where_another_gave_up(queue: Queue, tmp_path: Path) -> None:
    threads = threading.active_count()
    with locked(tmp_path / "lock"):
        for _ in range(5):
            with pytest.raises(TimeoutError), queue.turn(SOON):
                pass
        assert threading.active_count() == threads + 1
