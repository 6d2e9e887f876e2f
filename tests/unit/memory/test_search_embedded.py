"""An index is never behind the records, and never built more often than it must be."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.search import EmbeddedEngine, Mode, embedded, search
from memory.search.okapi import Okapi
from tests.support.records import ACME, GLOBEX, RecordsInMemory, row


class Desk:
    """An agent at one server: its records, and the engine that server keeps."""

    def __init__(self, *contents: str, **bounds: int) -> None:
        self.corpus = RecordsInMemory(*(row(10 * number, text) for number, text in enumerate(contents, 1)))
        self.engine = EmbeddedEngine(**bounds)

    def found(self, query: str = "port", scope: UUID = ACME) -> set[int]:
        return {hit.id.int for hit in search(self.corpus, scope, query, limit=None, engine=self.engine).hits}


def test_asking_again_reads_no_record_again():
    desk = Desk("port", "key")
    assert desk.found() == desk.found() == {10}
    assert desk.corpus.reads == ["all"]


def test_a_new_record_is_found_by_reading_only_what_is_new():
    desk = Desk("port", "key")
    desk.found()
    desk.corpus.add(row(30, "another port"))
    assert desk.found() == {10, 30}
    assert desk.corpus.reads == ["all", UUID(int=20)]


def test_a_first_record_is_found_in_a_workspace_that_was_empty():
    desk = Desk()
    assert desk.found() == set()
    desk.corpus.add(row(10, "port"))
    assert desk.found() == {10}


def test_a_record_committed_after_a_later_id_is_found():
    desk = Desk("port", "key")
    desk.found()
    desk.corpus.add(row(15, "slow port"))
    assert desk.found() == {10, 15}


def test_a_record_committed_between_an_earlier_and_a_later_one_is_found_once():
    desk = Desk("port", "key")
    desk.found()
    desk.corpus.add(row(30, "late port"), row(15, "slow port"))
    hits = search(desk.corpus, ACME, "port", engine=desk.engine).hits
    assert sorted(hit.id.int for hit in hits) == [10, 15, 30]


def test_a_retracted_record_is_gone_at_once():
    desk = Desk("port", "port again")
    assert desk.found() == {10, 20}
    desk.corpus.remove(UUID(int=10))
    assert desk.found() == {20}


def test_one_record_retracted_and_an_older_one_released_are_noticed_though_count_and_last_id_are_the_same():
    desk = Desk("port", "old port")
    desk.found()
    desk.corpus.remove(UUID(int=10))
    desk.corpus.add(row(15, "released port"))
    assert desk.found() == {15, 20}


def test_records_in_no_order_are_read_once_too():
    desk = Desk()
    desk.corpus.add(row(30, "port"), row(10, "port"))
    assert desk.found() == desk.found() == {10, 30}
    assert desk.corpus.reads == ["all"]


def test_records_that_arrive_while_an_index_is_built_are_in_it_once():
    desk = Desk("port")
    read_epoch = desk.corpus.epoch

    def epoch_just_before_another_commit(scope):
        epoch = read_epoch(scope)
        desk.corpus.add(row(20, "port"))
        desk.corpus.epoch = read_epoch
        return epoch

    desk.corpus.epoch = epoch_just_before_another_commit
    desk.found()
    hits = search(desk.corpus, ACME, "port", engine=desk.engine).hits
    assert sorted(hit.id.int for hit in hits) == [10, 20]


def test_a_read_of_the_past_leaves_the_index_of_today_alone():
    desk = Desk("port", "port")
    desk.found()
    past = RecordsInMemory(row(10, "port"))
    past.is_past = True
    assert [hit.id.int for hit in search(past, ACME, "port", engine=desk.engine).hits] == [10]
    assert desk.found() == {10, 20}
    assert desk.corpus.reads == ["all"]


def test_a_new_tokenizer_builds_anew(monkeypatch):
    desk = Desk("port")
    desk.found()
    monkeypatch.setattr(embedded, "TOKENIZER_VERSION", -1)
    desk.found()
    assert desk.corpus.reads == ["all", "all"]


class DatabaseLost(Exception):
    """Stands for any error on the way to the records."""


@pytest.mark.parametrize("failing", ["epoch", "eligible"])
def test_an_agent_is_told_of_a_failure_and_gets_the_whole_answer_after_it(failing):
    desk = Desk("port")
    desk.found()
    desk.corpus.add(row(20, "port"))
    works = getattr(desk.corpus, failing)

    def fails(*_args):
        raise DatabaseLost

    setattr(desk.corpus, failing, fails)
    with pytest.raises(DatabaseLost):
        desk.found()
    setattr(desk.corpus, failing, works)
    assert desk.found() == {10, 20}


def test_a_record_that_was_only_half_indexed_when_memory_ran_out_is_indexed_anew(monkeypatch):
    desk = Desk("port")
    desk.found()
    desk.corpus.add(row(20, "key"))
    with monkeypatch.context() as patch:
        patch.setattr(Okapi, "_post", lambda *_args: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(MemoryError):
            desk.found("key")
    assert desk.found("key") == {20}


def test_the_workspace_asked_least_recently_is_dropped_first():
    desk = Desk("port", most_scopes=2)
    for scope in (ACME, GLOBEX, ACME, UUID(int=3), ACME):
        desk.found(scope=scope)
    assert len(desk.corpus.reads) == 3
    desk.found(scope=GLOBEX)
    assert len(desk.corpus.reads) == 4


def test_indexes_are_dropped_when_they_take_too_much_memory_but_never_the_one_in_use():
    desk = Desk("port", most_bytes=1)
    desk.found()
    desk.found()
    assert desk.corpus.reads == ["all"]
    desk.corpus.add(row(10, "port"), scope=GLOBEX)
    desk.found(scope=GLOBEX)
    desk.found()
    assert desk.corpus.reads == ["all"] * 3


@pytest.mark.parametrize(("scopes", "together"), [((ACME, GLOBEX), True), ((ACME, ACME), False)])
def test_agents_of_one_workspace_take_turns_and_others_do_not_wait_for_them(scopes, together):
    desk, at_the_records = Desk("port"), threading.Barrier(2)
    read_epoch, met = desk.corpus.epoch, []

    def epoch_once_both_are_here(scope):
        with suppress(threading.BrokenBarrierError):
            met.append(at_the_records.wait(timeout=5 if together else 0.5))
        return read_epoch(scope)

    desk.corpus.epoch = epoch_once_both_are_here
    with ThreadPoolExecutor(2) as agents:
        list(agents.map(lambda scope: desk.found(scope=scope), scopes))
    assert bool(met) == together


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "slow", "remove", "ask"]), st.integers(1, 40)), max_size=25
)


@settings(deadline=None)
@given(CHANGES, st.sampled_from(Mode))
def test_an_index_kept_through_any_changes_answers_like_a_new_one(changes, mode):
    desk, next_id = Desk("port key", "port"), 1000
    for what, number in changes:
        present = {row.id.int for row in desk.corpus.rows[ACME]}
        if what == "add":
            next_id += 1
            desk.corpus.add(row(next_id, f"port key {number % 3}"))
        elif what == "slow" and number not in present:
            desk.corpus.add(row(number, "port slow"))
        elif what == "remove" and number in present:
            desk.corpus.remove(UUID(int=number))
        kept = search(desk.corpus, ACME, "port key", mode, engine=desk.engine)
        assert kept == search(desk.corpus, ACME, "port key", mode, engine=EmbeddedEngine())


def test_many_agents_at_once_each_see_every_record_committed_before_they_asked():
    desk = Desk()
    wrong: list[str] = []
    committed = 0

    def write() -> None:
        nonlocal committed
        for number in range(1, 301):
            desk.corpus.add(row(number, "port"))
            committed = number

    def ask() -> None:
        for _ in range(100):
            before = committed
            hits = search(desk.corpus, ACME, "port", limit=None, engine=desk.engine).hits
            if len(hits) < before or len({hit.id for hit in hits}) != len(hits):
                wrong.append(f"{len(hits)} hits after {before} commits")

    threads = [threading.Thread(target=write), *(threading.Thread(target=ask) for _ in range(6))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert desk.found() == set(range(1, 301))
