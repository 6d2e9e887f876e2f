"""One door, one durable transaction, and writers that queue."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection

from review.audit import transaction
from review.audit.actions import Action
from review.audit.file_lock import locked
from review.audit.log import record
from review.audit.models import Entry, Head
from review.audit.refusals import Unavailable
from review.audit.transaction import write
from review.audit.verify import verify
from tests.db.audit.acts import ALICE, did

pytestmark = pytest.mark.django_db(transaction=True)


def in_threads(count: int, act: Callable[[], None]) -> list[BaseException]:
    """Run `act` in `count` threads at once; return what they raised."""
    raised: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run() -> None:
        try:
            barrier.wait()
            act()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_only_the_outermost_door_opens_a_write() -> None:
    with write(), pytest.raises(RuntimeError, match="outermost door"), write():
        pass
    assert did().seq == 1


def test_a_write_is_over_when_it_failed() -> None:
    with pytest.raises(ZeroDivisionError), write():
        raise ZeroDivisionError
    assert transaction.current() is None
    assert did().seq == 1


def test_a_database_that_cannot_be_written_is_said_without_its_words() -> None:
    with pytest.raises(Unavailable) as refusal, write():
        raise OperationalError("attempt to write a readonly database")
    assert "readonly" not in refusal.value.detail
    assert refusal.value.retry_after > 0


def test_eight_writers_leave_one_chain(witness_file: Path) -> None:
    def propose_and_decide() -> None:
        for _ in range(5):
            did()
            did(Action.DECISION_APPROVED)

    assert in_threads(8, propose_and_decide) == []
    assert list(Entry.objects.order_by("seq").values_list("seq", flat=True)) == list(range(81))
    assert Head.objects.get().size == 81
    report = verify()
    assert report.ok, report


def test_writers_wait_for_each_other_and_none_is_refused(witness_file: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def write_slowly() -> None:
        with write():
            record(Action.PROPOSAL_PROPOSED, actor=ALICE)  # from here on, on either engine, alone
            inside.append(1)
            most.append(len(inside))
            threading.Event().wait(0.02)
            inside.pop()

    assert in_threads(6, write_slowly) == []
    assert set(most) == {1}


def test_on_sqlite_writers_queue_at_a_file_before_they_begin(settings: LazySettings) -> None:
    if connection.vendor != "sqlite":
        return  # PostgreSQL queues at its rows
    done = threading.Event()

    def write_then_tell() -> None:
        did()
        done.set()

    with locked(Path(settings.HUQAN_DATA_DIR) / "write.lock"):
        writer = threading.Thread(target=lambda: in_threads(1, write_then_tell))
        writer.start()
        assert not done.wait(0.3)
    assert done.wait(30)
    writer.join()


def test_a_lock_file_that_cannot_be_opened_stops_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor != "sqlite":
        return
    real = os.open

    def refuse(path: Path, *how: int) -> int:
        if Path(path).name == "write.lock":
            raise PermissionError
        return real(path, *how)

    monkeypatch.setattr("review.audit.file_lock.os.open", refuse)
    with pytest.raises(Unavailable):
        did()
    monkeypatch.undo()
    assert did().seq == 1


def test_on_sqlite_a_write_has_the_database_from_its_first_moment() -> None:
    """Begun late, it would read what another program changes before it writes."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL locks rows.")
    name = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(name, timeout=0)) as other:
        with write(), pytest.raises(sqlite3.OperationalError):
            other.execute("BEGIN IMMEDIATE")
        other.execute("BEGIN IMMEDIATE")
