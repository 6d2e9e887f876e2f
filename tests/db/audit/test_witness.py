"""Checkpoints: signed with the commit, outside the database right after it, and what stops when that fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from huqan_site.lib import signed_note
from review.audit import checkpoints, witness
from review.audit.actions import Action
from review.audit.chain import Root
from review.audit.checkpoints import Statement
from review.audit.log import record
from review.audit.models import Checkpoint, Entry, Head
from review.audit.proofs import frontier_at
from review.audit.refusals import LogDisputed, Unavailable
from review.audit.transaction import write
from review.audit.witness import Standing
from tests.db.audit.acts import ALICE, cut_to, did, did_several, tamper

pytestmark = pytest.mark.django_db(transaction=True)


def sizes() -> list[int]:
    return [note.size for note in witness.notes()]


def test_the_first_entry_is_witnessed_from_the_beginning(witness_file: Path) -> None:
    assert sizes() == [1]


@pytest.mark.parametrize(
    "action",
    [Action.DECISION_APPROVED, Action.DECISION_REFUSED, Action.PERMIT_ISSUED, Action.MEMORY_ERASED],
)
def test_a_decision_a_permit_and_an_erasure_are_witnessed_at_once(action: Action, witness_file: Path) -> None:
    did(action)
    assert sizes() == [1, 2]
    assert Checkpoint.objects.get(size=2).note == witness.last_note().note


def test_other_entries_wait_for_the_next_checkpoint(witness_file: Path) -> None:
    did()
    assert sizes() == [1]
    did(Action.DECISION_APPROVED)
    assert sizes() == [1, 3]


def test_the_hundredth_entry_is_witnessed_whatever_it_is(witness_file: Path) -> None:
    with write():
        for _ in range(99):
            did_inside()
    assert sizes() == [1]
    did()
    assert sizes() == [1, 101]


def did_inside() -> None:
    record(Action.PROPOSAL_PROPOSED, actor=ALICE)


def test_an_entry_after_a_minute_is_witnessed(witness_file: Path) -> None:
    with time_machine.travel(timezone.now() + timedelta(seconds=59)):
        did()
    assert sizes() == [1]
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        did()
    assert sizes() == [1, 3]


def test_a_checkpoint_says_the_root_and_is_signed_by_the_logs_key(witness_file: Path) -> None:
    did(Action.DECISION_APPROVED)
    note = witness.last_note().note
    head = Head.objects.get()
    text = signed_note.verify(note, name=head.log, keys=checkpoints.public_keys().values())
    assert text == Statement.read(note).text()
    assert Statement.read(note) == Statement(head.log, Root(2, frontier_at(2).root()))


def test_what_was_rolled_back_is_never_witnessed(witness_file: Path) -> None:
    with pytest.raises(ZeroDivisionError), write():
        decided_and_failed()
    assert sizes() == [1]
    assert not Checkpoint.objects.filter(size=2).exists()


def decided_and_failed() -> None:
    record(Action.DECISION_APPROVED, actor=ALICE)
    raise ZeroDivisionError


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Let every append to the witness file fail, until `undo`."""

    def refuse(descriptor: int, text: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(witness, "_append", refuse)
    return monkeypatch


def test_what_was_committed_stands_and_further_writes_wait(
    witness_file: Path, full_disk: pytest.MonkeyPatch
) -> None:
    decided = did(Action.DECISION_APPROVED)
    assert Entry.objects.filter(seq=decided.seq).exists()
    with pytest.raises(Unavailable) as refusal:
        did()
    assert (refusal.value.status, refusal.value.code) == (503, "unavailable")
    assert Entry.objects.count() == 2


def test_writing_goes_on_by_itself_once_the_file_can_be_appended_to(
    witness_file: Path, full_disk: pytest.MonkeyPatch
) -> None:
    did(Action.DECISION_APPROVED)
    full_disk.undo()
    assert did().seq == 2
    assert sizes() == [1, 2]


def test_a_checkpoint_that_a_crash_kept_back_is_appended_by_the_next_write(witness_file: Path) -> None:
    did(Action.DECISION_APPROVED)
    whole = witness_file.read_bytes()
    witness_file.write_bytes(whole[: len(whole) - 40])
    assert sizes() == [1]
    did()
    assert sizes() == [1, 2]


def test_a_lost_witness_file_is_written_again(witness_file: Path) -> None:
    did(Action.DECISION_APPROVED)
    before = witness_file.read_bytes()
    witness_file.unlink()
    did()
    assert witness_file.read_bytes() == before
    assert witness_file.stat().st_mode & 0o777 == 0o600


def test_what_somebody_appended_has_no_note_written_twice(witness_file: Path) -> None:
    did(Action.DECISION_APPROVED)
    with witness_file.open("a") as file:
        file.write("\n" * 10_000)
    did(Action.DECISION_APPROVED)
    assert sizes() == [1, 2, 3]
    cut_to(2)
    assert witness.standing() is Standing.DISPUTED


def test_a_file_whose_notes_were_overwritten_is_disputed(witness_file: Path) -> None:
    did(Action.DECISION_APPROVED)
    witness_file.write_text("\n" * 10_000)
    with pytest.raises(LogDisputed):
        did(Action.DECISION_APPROVED)
    assert sizes() == []


def test_a_very_first_note_that_a_crash_cut_short_is_written_again(witness_file: Path) -> None:
    whole = witness_file.read_bytes()
    witness_file.write_bytes(whole[:100])
    did(Action.DECISION_APPROVED)
    assert sizes() == [1, 2]


def test_after_a_cut_nobody_decides_or_redeems_and_people_can_sign_in(witness_file: Path) -> None:
    did_several(3)
    did(Action.DECISION_APPROVED)
    cut_to(3)
    assert witness.catch_up() is Standing.DISPUTED
    for action in (Action.DECISION_APPROVED, Action.DECISION_REFUSED, Action.PERMIT_ISSUED):
        with pytest.raises(LogDisputed) as refusal:
            did(action)
        assert refusal.value.status == 503
    assert did(Action.SIGN_IN_SUCCEEDED, workspace=None).seq == 3


def test_a_log_that_grew_again_after_the_cut_is_still_disputed(witness_file: Path) -> None:
    did(Action.DECISION_APPROVED)
    cut_to(1)
    did_several(5)
    with pytest.raises(LogDisputed):
        did(Action.DECISION_APPROVED)


def test_a_disputed_log_writes_nothing_into_the_witness_file(witness_file: Path) -> None:
    did_several(3)
    did(Action.DECISION_APPROVED)
    before = witness_file.read_bytes()
    cut_to(3)
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        did()
        did()
    assert witness_file.read_bytes() == before


def test_a_cut_tail_is_found_at_once_though_its_checkpoints_are_kept(witness_file: Path) -> None:
    did_several(3)
    did(Action.DECISION_APPROVED)
    cut_to(3, checkpoints_too=False)
    assert witness.catch_up() is Standing.DISPUTED
    with pytest.raises(LogDisputed):
        did(Action.DECISION_APPROVED)


def test_a_log_that_is_disputed_signs_nothing(witness_file: Path) -> None:
    did_several(3)
    did(Action.DECISION_APPROVED)
    cut_to(3)
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        did()
    assert list(Checkpoint.objects.values_list("size", flat=True)) == [1]


def test_nothing_is_signed_that_does_not_continue_what_was_signed(witness_file: Path) -> None:
    did_several(4)
    did(Action.DECISION_APPROVED)
    tamper("UPDATE audit_entry SET leaf = %s WHERE seq = 3", "ab" * 32)
    tamper("UPDATE audit_entry SET subtrees = %s WHERE seq = 3", "cd" * 64)
    before = witness_file.read_bytes()
    with pytest.raises(LogDisputed):
        did(Action.DECISION_APPROVED)
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        did()
    assert witness_file.read_bytes() == before
    assert Entry.objects.count() == 7


def another_file(witness_file: Path) -> None:
    other = witness_file.with_name("other.txt")
    shutil.copy(witness_file, other)
    os.replace(other, witness_file)


def another_database(witness_file: Path) -> None:
    connection.close()


@pytest.mark.parametrize("swap", [another_file, another_database])
def test_what_is_swapped_while_the_console_runs_is_looked_at_as_at_the_start(
    witness_file: Path, swap: Callable[[Path], None]
) -> None:
    did(Action.DECISION_APPROVED)
    assert witness.standing() is Standing.AGREES
    tamper("UPDATE audit_entry SET subtrees = %s WHERE seq = 1", "0" * 64)
    assert witness.standing() is Standing.AGREES  # nothing was swapped, and nothing is signed here
    swap(witness_file)
    assert witness.standing() is Standing.DISPUTED
    with pytest.raises(LogDisputed):
        did(Action.DECISION_APPROVED)


def test_a_key_that_cannot_be_read_stops_what_owes_a_checkpoint(
    witness_file: Path, settings: LazySettings, tmp_path: Path
) -> None:
    (tmp_path / "log-0001.key").write_text("no key")
    settings.HUQAN_KEYS_DIR = tmp_path
    with pytest.raises(Unavailable):
        did(Action.DECISION_APPROVED)
    assert Entry.objects.count() == 1
    assert did().seq == 1
