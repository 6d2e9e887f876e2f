"""Whoever changes the log behind the console's back is found out, and told apart from whoever cuts it."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import DatabaseError

from huqan_site.lib import signed_note
from review.access.actors import SystemActor
from review.audit import chain, checkpoints, witness
from review.audit import verify as verification
from review.audit.actions import Action
from review.audit.findings import Kind, Outcome, Report
from review.audit.models import Checkpoint, Entry, Head, PrivateText
from review.audit.proofs import frontier_at
from review.audit.transaction import write
from review.audit.verify import register_replay, verify
from review.services.rotate_key import rotate_key
from tests.db.audit.acts import ACME, cut_to, did, did_several, guards_down, rewrite_from, sql, tamper

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def eleven_entries(witness_file: Path) -> None:
    """Entries 0 to 10; checkpoints of 1, 6 and 11 entries; a reason beside entry 5."""
    did_several(4)
    did(Action.DECISION_APPROVED, private={"reason": "Looks right."})
    did_several(4)
    did(Action.DECISION_REJECTED)


@pytest.fixture(autouse=True)
def no_states_but_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "_replays", {})


def _notes() -> list[str]:
    return [note.note for note in witness.notes()]


def kinds(report: Report) -> set[tuple[Kind, int | None]]:
    return {(fault.kind, fault.seq) for fault in report.faults}


def test_a_log_that_nobody_touched_is_ok() -> None:
    report = verify()
    assert report.outcome is Outcome.OK
    assert (report.first, report.stop, report.size, report.checkpoint) == (0, 11, 11, 11)
    assert (report.faults, report.doubts, report.first_bad) == ((), (), None)


def test_the_walk_goes_on_past_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("review.audit.walk.CHUNK", 3)
    assert verify().ok
    tamper("UPDATE audit_entry SET canonical = '{}' WHERE seq = 9")
    assert verify().first_bad == 9


# Edited.


def reword(seq: int) -> str:
    """The text of an entry with another time."""
    entry = json.loads(Entry.objects.get(seq=seq).canonical)
    return chain.entry_text({**entry, "app_version": "6.6.6"})


def test_an_edited_text_is_named() -> None:
    tamper("UPDATE audit_entry SET canonical = %s WHERE seq = 4", reword(4))
    report = verify()
    assert kinds(report) == {(Kind.EDITED, 4)}
    assert report.first_bad == 4


def test_an_edited_text_with_its_hash_is_named() -> None:
    text = reword(4)
    tamper("UPDATE audit_entry SET canonical = %s, leaf = %s WHERE seq = 4", text, chain.leaf_of(text).hex())
    report = verify()
    assert report.first_bad == 4
    assert {kind for kind, _ in kinds(report)} == {Kind.EDITED}


def test_a_log_rewritten_with_all_its_hashes_contradicts_what_was_signed() -> None:
    rewrite_from(8)
    report = verify()
    assert kinds(report) == {(Kind.EDITED, 6)}, "between the checkpoints of 6 and of 11 entries"
    assert "entries 6 to 10" in report.faults[0].sentence


def test_the_same_rewriting_without_a_change_is_no_fault() -> None:
    rewrite_from(99)
    assert verify().ok


def test_two_entries_that_changed_places_are_named() -> None:
    first, second = Entry.objects.get(seq=3), Entry.objects.get(seq=4)
    with guards_down():
        sql("UPDATE audit_entry SET leaf = 'x' WHERE seq = 4")
        sql("UPDATE audit_entry SET canonical = %s, leaf = %s WHERE seq = 3", second.canonical, second.leaf)
        sql("UPDATE audit_entry SET canonical = %s, leaf = %s WHERE seq = 4", first.canonical, first.leaf)
    assert {(Kind.EDITED, 3), (Kind.EDITED, 4)} <= kinds(verify())


@pytest.mark.parametrize(
    "column", ["workspace", "person", "account", "agent", "object_type", "object_id", "proposal", "tool"]
)
def test_a_column_that_was_changed_to_hide_an_entry_is_named(column: str) -> None:
    tamper(f"UPDATE audit_entry SET {column} = 'somewhere else' WHERE seq = 7")
    assert kinds(verify()) == {(Kind.EDITED, 7)}


def test_a_time_or_an_action_that_was_changed_to_hide_an_entry_is_named() -> None:
    tamper("UPDATE audit_entry SET action = 'audit.read' WHERE seq = 7")
    tamper("UPDATE audit_entry SET stamp = '2046-01-01T00:00:00.000000Z' WHERE seq = 10")
    assert kinds(verify()) == {(Kind.EDITED, 7), (Kind.EDITED, 10)}


def test_a_stored_hash_of_the_tree_that_was_changed_is_named() -> None:
    tamper("UPDATE audit_entry SET subtrees = %s WHERE seq = 7", "ab" * 96)
    assert kinds(verify()) == {(Kind.EDITED, 7)}


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "{", '{"v":1} {"v":1}'])
def test_a_text_that_is_no_entry_is_named_even_with_its_hash(text: str) -> None:
    leaf = chain.leaf_of(text).hex()
    tamper("UPDATE audit_entry SET canonical = %s, leaf = %s WHERE seq = 10", text, leaf)
    assert verify().first_bad == 10


def test_a_blank_behind_an_entry_is_named_even_with_its_hash() -> None:
    text = Entry.objects.get(seq=10).canonical + " "
    tamper("UPDATE audit_entry SET canonical = %s, leaf = %s WHERE seq = 10", text, chain.leaf_of(text).hex())
    assert verify().first_bad == 10


def test_a_leaf_that_is_no_hash_is_named() -> None:
    tamper("UPDATE audit_entry SET leaf = 'not hex' WHERE seq = 10")
    assert verify().first_bad == 10


def test_a_reworded_reason_is_named() -> None:
    tamper("UPDATE audit_private_text SET text = 'Looks wrong.'")
    assert kinds(verify()) == {(Kind.EDITED, 5)}


def test_a_reason_that_was_added_is_named() -> None:
    PrivateText.objects.create(seq=7, name="reason", text="I never said that.", salt=b"0" * 16)
    assert kinds(verify()) == {(Kind.EDITED, 7)}


def test_an_erased_reason_is_no_fault() -> None:
    with write():
        PrivateText.objects.update(text=None, salt=None)
    assert verify().ok


def test_a_head_row_that_was_changed_is_named() -> None:
    tamper("UPDATE audit_head SET leaf = %s", "a" * 64)
    report = verify()
    assert report.outcome is Outcome.FAULT
    assert "head row" in report.faults[0].sentence


def test_an_entry_that_was_added_behind_the_head_is_named() -> None:
    with guards_down():
        sql(
            "INSERT INTO audit_entry (seq, canonical, prev, leaf, subtrees, stamp, action)"
            " VALUES (11, '{}', '', 'x', '', '', '')"
        )
    assert kinds(verify()) == {(Kind.EDITED, 11)}


# Missing.


@pytest.mark.parametrize("seq", [0, 3, 9])
def test_one_missing_entry_is_named_and_the_rest_is_still_proved(seq: int) -> None:
    tamper("DELETE FROM audit_entry WHERE seq = %s", seq)
    report = verify()
    assert kinds(report) == {(Kind.MISSING, seq)}
    assert report.first_bad == seq


def test_missing_entries_are_named_as_a_range() -> None:
    tamper("DELETE FROM audit_entry WHERE seq BETWEEN 3 AND 5")
    report = verify()
    assert (Kind.MISSING, 3) in kinds(report)
    assert "Entries 3 to 5 are missing." in [fault.sentence for fault in report.faults]


def test_edited_and_missing_entries_are_told_apart() -> None:
    tamper("UPDATE audit_entry SET canonical = %s WHERE seq = 2", reword(2))
    tamper("DELETE FROM audit_entry WHERE seq = 7")
    report = verify()
    assert [fault.seq for fault in report.of_kind(Kind.EDITED)] == [2]
    assert [fault.seq for fault in report.of_kind(Kind.MISSING)] == [7]
    assert report.first_bad == 2


def test_a_missing_end_is_named_by_the_head_row() -> None:
    tamper("DELETE FROM audit_entry WHERE seq >= 9")
    report = verify()
    assert (Kind.MISSING, 9) in kinds(report)
    assert not report.of_kind(Kind.EDITED)


def test_a_cut_end_is_named_by_the_witness_file() -> None:
    cut_to(8)
    report = verify()
    assert kinds(report) == {(Kind.MISSING, 8)}
    assert "Entries 8 to 10 are missing" in report.faults[0].sentence


def test_a_cut_end_is_named_by_the_checkpoints_of_the_database(witness_file: Path) -> None:
    cut_to(8, checkpoints_too=False)
    witness_file.unlink()
    assert (Kind.MISSING, 8) in kinds(verify())


def test_a_log_that_grew_again_after_the_cut_is_a_fault() -> None:
    cut_to(8)
    did_several(6)
    report = verify()
    assert report.outcome is Outcome.FAULT
    assert (Kind.EDITED, 6) in kinds(report)


def test_a_missing_reason_is_named() -> None:
    tamper("DELETE FROM audit_private_text")
    assert kinds(verify()) == {(Kind.MISSING, 5)}


# Checkpoints.


def test_a_forged_note_in_the_witness_file_is_named(witness_file: Path) -> None:
    text = witness_file.read_text()
    witness_file.write_text(text[:-10] + ("A" if text[-10] != "A" else "B") + text[-9:])
    report = verify()
    assert {fault.kind for fault in report.faults} == {Kind.CHECKPOINT}
    assert "not signed by a key of this log" in report.faults[0].sentence


def test_a_forged_note_over_another_log_is_named_and_does_not_accuse_an_entry(witness_file: Path) -> None:
    first, second, third = _notes()
    origin, size, _, *rest = second.split("\n")
    other = "\n".join([origin, size, "A" * 43 + "=", *rest])
    witness_file.write_text("\n".join([first, other, third]))
    report = verify()
    assert {fault.kind for fault in report.faults} == {Kind.CHECKPOINT}
    assert report.first_bad is None


def test_a_forged_note_over_a_longer_log_does_not_make_entries_missing(witness_file: Path) -> None:
    last = _notes()[-1]
    with witness_file.open("a") as file:
        file.write("\n" + last.replace("\n11\n", "\n99\n"))
    report = verify()
    assert {fault.kind for fault in report.faults} == {Kind.CHECKPOINT}


def test_a_checkpoint_that_the_database_lost_is_named() -> None:
    tamper("DELETE FROM audit_checkpoint WHERE size = 6")
    assert {fault.kind for fault in verify().faults} == {Kind.CHECKPOINT}


def test_a_witness_file_in_another_order_is_named(witness_file: Path) -> None:
    first, *others = _notes()
    witness_file.write_text("\n".join([*others, first]))
    assert {fault.kind for fault in verify().faults} == {Kind.CHECKPOINT}


@pytest.fixture
def own_keys(settings: LazySettings, tmp_path: Path) -> Path:
    """A keys folder of this test's own, with the key that has signed so far."""
    settings.HUQAN_KEYS_DIR = Path(shutil.copytree(settings.HUQAN_KEYS_DIR, tmp_path / "keys"))
    return settings.HUQAN_KEYS_DIR


def test_a_rotated_key_still_vouches_for_what_it_signed(own_keys: Path) -> None:
    rotate_key("log", by=SystemActor())
    did(Action.DECISION_APPROVED)
    assert len(checkpoints.public_keys()) > 1
    assert verify().ok


def test_a_key_that_no_entry_tells_of_is_named_until_its_rotation_is_run_again(own_keys: Path) -> None:
    checkpoints._keyring().rotate("log")
    assert {fault.kind for fault in verify().faults} == {Kind.CHECKPOINT}
    kid = rotate_key("log", by=SystemActor())
    assert list(checkpoints.public_keys())[-1] == kid
    assert len(checkpoints.public_keys()) == 2
    assert verify().ok


def test_a_replaced_key_signs_nothing_more(own_keys: Path) -> None:
    _, old = checkpoints._keyring().signing_key("log")
    rotate_key("log", by=SystemActor())
    did_several(2)
    head = Head.objects.get()
    statement = checkpoints.Statement(head.log, chain.Root(head.size, frontier_at(head.size).root()))
    note = signed_note.sign(statement.text(), name=head.log, key=old)
    with witness.path().open("a") as file:
        file.write("\n" + note)
    Checkpoint.objects.create(size=head.size, note=note, stamp=head.time)
    assert "had been replaced before" in verify().faults[0].sentence


def test_a_key_that_was_lost_leaves_a_doubt(own_keys: Path) -> None:
    rotate_key("log", by=SystemActor())
    (own_keys / "log-0001.key").unlink()
    (own_keys / "log-0002.key").write_text("7" * 64)
    assert any("not in the keys folder" in doubt for doubt in verify().doubts)


# Not judged.


@pytest.mark.parametrize(("first", "stop"), [(0, 10), (1, None), (4, 8), (0, 0)])
def test_a_part_is_never_ok(first: int, stop: int | None) -> None:
    report = verify(first=first, stop=stop)
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert report.faults == ()


def test_a_fault_in_a_part_is_a_fault() -> None:
    tamper("UPDATE audit_entry SET canonical = %s WHERE seq = 6", reword(6))
    assert verify(first=4, stop=8).first_bad == 6
    assert verify(first=7).outcome is Outcome.CANNOT_JUDGE


def test_a_walk_that_ran_out_of_time_is_never_ok() -> None:
    report = verify(budget=timedelta(0))
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert "were walked" in report.doubts[0]
    assert verify(budget=timedelta(minutes=5)).ok


def test_without_the_witness_file_nothing_is_ok(witness_file: Path) -> None:
    witness_file.unlink()
    report = verify()
    assert (report.outcome, report.faults) == (Outcome.CANNOT_JUDGE, ())


def test_a_witness_file_that_lags_behind_is_not_ok(witness_file: Path) -> None:
    witness_file.write_text("\n".join(_notes()[:-1]))
    report = verify()
    assert (report.outcome, report.checkpoint) == (Outcome.CANNOT_JUDGE, 6)


def test_without_its_keys_nothing_is_ok(settings: LazySettings, tmp_path: Path) -> None:
    settings.HUQAN_KEYS_DIR = tmp_path / "elsewhere"
    assert not verify().ok
    assert not (tmp_path / "elsewhere").exists()


def test_no_log_is_not_ok() -> None:
    tamper("DELETE FROM audit_entry")
    tamper("DELETE FROM audit_head")
    assert verify().outcome is Outcome.CANNOT_JUDGE


def test_an_emptied_log_is_not_ok() -> None:
    tamper("DELETE FROM audit_entry")
    assert kinds(verify()) >= {(Kind.MISSING, 0)}


# States.


def test_a_state_without_its_entry_is_a_fault() -> None:
    register_replay("decisions", lambda: [None, "Decision 7 has no entry.", None])
    report = verify()
    assert (report.states, report.states_agreeing) == (3, 2)
    assert [fault.sentence for fault in report.faults] == ["decisions: Decision 7 has no entry."]
    assert report.first_bad is None


def test_states_that_have_their_entries_are_counted() -> None:
    register_replay("decisions", lambda: [None] * 4)
    report = verify()
    assert (report.ok, report.states, report.states_agreeing) == (True, 4, 4)


def test_what_only_looked_wrong_while_somebody_wrote_is_no_fault() -> None:
    seen = iter([["Decision 7 has no entry."], [None]])
    register_replay("decisions", lambda: next(seen))
    assert verify().ok


def test_what_is_written_during_the_walk_is_no_fault() -> None:
    def decide_meanwhile() -> list[None]:
        did(Action.DECISION_APPROVED)
        return [None]

    register_replay("busy", decide_meanwhile)
    assert verify().ok
    assert verify().ok
    assert Head.objects.get().size == 13


# The command.


def run(name: str = "verify_audit") -> tuple[int, str]:
    out = io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command(name, stdout=out, stderr=out)
    return int(end.value.code or 0), out.getvalue()


def test_the_command_says_ok_and_exits_0() -> None:
    code, said = run()
    assert code == 0
    assert said.startswith("Ok: 11 entries, every one walked.")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda: tamper("UPDATE audit_entry SET canonical = '{}' WHERE seq = 4"), "Entry 4 was edited"),
        (lambda: tamper("DELETE FROM audit_entry WHERE seq = 4"), "Entry 4 is missing."),
        (lambda: cut_to(8), "Entries 8 to 10 are missing"),
    ],
)
def test_the_command_names_a_fault_and_exits_1(harm: Callable[[], None], words: str) -> None:
    harm()
    code, said = run()
    assert code == 1
    assert said.startswith("Fault:")
    assert words in said


def test_the_command_that_cannot_judge_exits_2(witness_file: Path) -> None:
    shutil.move(witness_file, witness_file.with_suffix(".moved"))
    code, said = run()
    witness_file.with_suffix(".moved").unlink()
    assert code == 2
    assert said.startswith("Cannot judge.")


def test_the_command_that_cannot_read_the_database_exits_2(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(**_: object) -> Report:
        raise DatabaseError("file is not a database")

    monkeypatch.setattr("review.audit.management.commands.verify_audit.verify", unreadable)
    code, said = run()
    assert code == 2
    assert said.startswith("Cannot judge")


def test_the_command_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("review.audit.management.commands.verify_audit.EVERY", 4)
    monkeypatch.setattr("review.audit.walk.CHUNK", 5)
    assert [line for line in run()[1].splitlines() if "walked" in line and "Ok" not in line] == [
        "5 of 11 entries walked",
        "10 of 11 entries walked",
    ]


def test_entries_of_acme_are_among_them() -> None:
    """The fixture would prove nothing if its entries had no columns to change."""
    assert Entry.objects.filter(workspace=str(ACME)).count() == 10
