"""What a manager finds in the log, what she takes with her, and what she never sees."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from huqan_site.lib import signed_note
from review.audit import chain, checkpoints, export, proofs, queries, witness
from review.audit.actions import Action
from review.audit.actors import AuditActor
from review.audit.checkpoints import Statement
from review.audit.log import ObjectRef, erase_private_texts
from review.audit.models import Entry, Head
from review.audit.queries import Filters, Scope
from review.audit.transaction import write
from tests.db.audit.acts import ACME, ALICE, GLOBEX, MAIL, MALLORY, SCOUT, did, did_several

pytestmark = pytest.mark.django_db

ALICES = ALICE.person or UUID(int=0)
NOON = datetime(2046, 11, 30, 12, tzinfo=UTC)
DANA = Scope(workspaces=(ACME,), members=(ALICES,))  # a manager of acme


@pytest.fixture(autouse=True)
def a_day(db: None) -> None:
    """Entries 1 to 6, a minute apart, of two workspaces and of none."""
    with time_machine.travel(NOON, tick=False) as clock:
        for act in (
            {"action": Action.SIGN_IN_SUCCEEDED, "workspace": None},
            {"actor": SCOUT, "object": ObjectRef("proposal", MAIL, 1), "proposal": MAIL, "tool": "mail.send"},
            {
                "action": Action.DECISION_APPROVED,
                "object": ObjectRef("proposal", MAIL, 1),
                "tool": "mail.send",
            },
            {"actor": MALLORY, "workspace": GLOBEX, "tool": "mail.send"},
            {"action": Action.SIGN_IN_SUCCEEDED, "actor": MALLORY, "workspace": None},
            {"action": Action.MEMORY_WRITTEN, "object": ObjectRef("record", UUID(int=8)), "proposal": MAIL},
        ):
            did(**act)
            clock.shift(timedelta(minutes=1))


def seqs(**filters: Any) -> list[int]:
    return [entry.seq for entry in queries.page(DANA, Filters(**filters))]


def test_a_manager_reads_her_workspace_and_her_members_sign_ins_newest_first() -> None:
    assert seqs() == [6, 3, 2, 1]
    assert queries.count(DANA) == 4


def test_what_a_member_does_outside_every_workspace_is_not_hers_to_read() -> None:
    did(Action.PERSON_CREATED, workspace=None)
    did(Action.SIGN_IN_FAILED, actor=AuditActor(kind="person", account="unknown"), workspace=None)
    assert seqs() == [6, 3, 2, 1]
    did(Action.SIGN_OUT_DONE, workspace=None)
    assert seqs() == [9, 6, 3, 2, 1]


def test_a_manager_of_nothing_reads_nothing() -> None:
    assert queries.page(Scope(workspaces=())) == []
    assert queries.count(Scope(workspaces=())) == 0


def test_a_manager_of_two_workspaces_reads_both_in_one_order() -> None:
    both = Scope(workspaces=(ACME, GLOBEX), members=(ALICES,))
    assert [entry.seq for entry in queries.page(both)] == [6, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"person": ALICES}, [6, 3, 1]),
        ({"agent": UUID(SCOUT.subject or "")}, [2]),
        ({"action": Action.DECISION_APPROVED}, [3]),
        ({"tool": "mail.send"}, [3, 2]),
        ({"proposal": MAIL}, [6, 3, 2]),
        ({"since": NOON + timedelta(minutes=1)}, [6, 3, 2]),
        ({"until": NOON + timedelta(minutes=1)}, [1]),
        ({"since": NOON, "until": NOON + timedelta(minutes=2), "person": ALICES}, [1]),
        ({"person": MALLORY.person}, []),
        ({"tool": "shell.run"}, []),
    ],
)
def test_a_filter_finds_exactly_what_it_says(filters: dict[str, Any], found: list[int]) -> None:
    assert seqs(**filters) == found
    assert queries.count(DANA, Filters(**filters)) == len(found)


def test_pages_follow_each_other_without_a_gap_or_a_repetition() -> None:
    did_several(7)
    seen: list[int] = []
    while page := queries.page(DANA, before=seen[-1] if seen else None, limit=3):
        seen += [entry.seq for entry in page]
    assert seen == [*range(13, 6, -1), 6, 3, 2, 1]


def test_a_page_costs_the_same_however_long_the_log_is() -> None:
    costs = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            queries.page(DANA, limit=3)
        costs.append(len(asked))
        did_several(20)
    assert costs == [2, 2]


def test_one_entry_is_shown_to_who_may_see_it() -> None:
    assert [queries.entry(DANA, seq) is not None for seq in range(8)] == [
        *(False, True, True, True, False, False, True, False),
    ]


def test_one_proposal_is_followed_from_birth_to_outcome() -> None:
    trail = queries.history(ACME, proposal=MAIL)
    assert [entry.action for entry in trail] == ["proposal.proposed", "decision.approved", "memory.written"]
    assert queries.history(GLOBEX, proposal=MAIL) == []
    assert [entry.seq for entry in queries.history(ACME, object_id=UUID(int=8))] == [6]


def test_a_reason_is_read_beside_its_entry_until_it_is_erased() -> None:
    entry = did(Action.DECISION_REJECTED, private={"reason": "The invoice is forged."})
    assert queries.private_texts([entry.seq, 1]) == {entry.seq: {"reason": "The invoice is forged."}, 1: {}}
    with write():
        erase_private_texts([entry.seq])
    assert queries.private_texts([entry.seq]) == {entry.seq: {"reason": None}}


def test_reading_is_recorded_once_a_session_and_hour() -> None:
    def recently(session: str = "s-alice", person: UUID = ALICES) -> bool:
        return queries.recorded_recently(Action.AUDIT_READ, person=person, session=session)

    assert not recently()
    did(Action.AUDIT_READ)
    assert recently()
    assert not recently(session="s-other")
    assert not recently(person=UUID(int=4))
    with time_machine.travel(NOON + timedelta(hours=2)):
        assert not recently()


def test_a_replay_learns_which_objects_have_no_entry() -> None:
    asked = queries.without_entry(iter([MAIL, UUID(int=8), UUID(int=9)]), actions=[Action.DECISION_APPROVED])
    assert list(asked) == [None, UUID(int=8), UUID(int=9)]


# Exports.


def leaf_of_line(line: str) -> bytes:
    said = json.loads(line)
    return bytes.fromhex(said["leaf"]) if said.keys() == {"seq", "leaf"} else chain.leaf_of(line)


def root_of(lines: list[str]) -> bytes:
    frontier = chain.Frontier()
    for line in lines:
        frontier = frontier.append(leaf_of_line(line)).frontier
    return frontier.root()


def test_an_export_holds_her_entries_whole_and_of_others_only_a_leaf() -> None:
    lines = list(export.lines(DANA))
    assert [json.loads(line)["seq"] for line in lines] == list(range(7))
    assert [seq for seq, line in enumerate(lines) if "action" in json.loads(line)] == [1, 2, 3, 6]
    assert "mallory" not in "".join(lines)
    assert str(GLOBEX) not in "".join(lines)


def test_an_export_proves_the_whole_chain() -> None:
    assert root_of(list(export.lines(DANA))) == proofs.frontier_at(7).root()


def test_a_filtered_export_proves_the_whole_chain_too() -> None:
    lines = list(export.lines(DANA, Filters(proposal=MAIL)))
    assert [seq for seq, line in enumerate(lines) if "action" in json.loads(line)] == [2, 3, 6]
    assert root_of(lines) == proofs.frontier_at(7).root()


def test_an_export_of_nobody_reveals_nothing() -> None:
    assert all(json.loads(line).keys() == {"seq", "leaf"} for line in export.lines(Scope(workspaces=())))


def test_a_long_export_is_read_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(export.lines(DANA))
    monkeypatch.setattr(export, "CHUNK", 2)
    assert list(export.lines(DANA)) == whole
    assert list(export.lines(DANA, stop=3)) == whole[:3]


# Proofs.


def test_every_entry_is_proved_from_what_is_stored() -> None:
    did_several(20)
    size = Head.objects.get().size
    for seq, leaf in Entry.objects.values_list("seq", "leaf"):
        proof = proofs.inclusion(seq, size)
        assert proof.leaf.hex() == leaf
        assert chain.verify_inclusion(proof.leaf, seq, size, proof.path, proof.root.hash)
    assert proof.root.hash == chain.Frontier.read(size, Head.objects.get().frontier).root()


def test_the_log_is_proved_to_continue_each_of_its_beginnings() -> None:
    did_several(6)
    for old in range(1, 14):
        proof = proofs.consistency(old, 13)
        assert chain.verify_consistency(proof.old, proof.new, proof.path)


def test_a_proof_costs_one_query_however_long_the_log_is() -> None:
    did_several(40)
    for size in (7, 47):
        with CaptureQueriesContext(connection) as asked:
            proofs.inclusion(3, size)
        assert len(asked) == 1


@pytest.mark.parametrize(("seq", "size"), [(7, 7), (-1, 7), (3, 99)])
def test_what_the_log_does_not_hold_is_not_proved(seq: int, size: int) -> None:
    with pytest.raises(ValueError, match="hold"):
        proofs.inclusion(seq, size)


# Commands.


def run(*command: str) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_checkpoint_prints_the_note_that_the_witness_file_now_holds(witness_file: Path) -> None:
    note = run("checkpoint")
    assert note == witness.last_note().note
    assert Statement.read(note).root == (7, proofs.frontier_at(7).root())
    assert run("checkpoint") == note


def test_prove_prints_what_a_stranger_needs() -> None:
    run("checkpoint")
    said = json.loads(run("prove", "3"))
    statement = Statement.read(said["checkpoint"])
    path = [bytes.fromhex(node) for node in said["path"]]
    signed_note.verify(said["checkpoint"], name=statement.log, keys=checkpoints.public_keys().values())
    assert chain.verify_inclusion(chain.leaf_of(said["entry"]), 3, said["size"], path, statement.root.hash)


def test_prove_says_what_to_do_where_it_cannot() -> None:
    did()
    with pytest.raises(CommandError, match="no entry 70"):
        run("prove", "70")
    with pytest.raises(CommandError, match="No checkpoint covers"):
        run("prove", str(Head.objects.get().size - 1))


def test_export_audit_writes_every_entry_whole_and_its_own_last(tmp_path: Path) -> None:
    lines = run("export_audit").splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(8))
    assert json.loads(lines[-1])["action"] == "audit.exported"
    assert run("export_audit", str(tmp_path / "log.jsonl")) == ""
    written = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert written[:8] == lines
    assert len(written) == 9
    assert root_of(written) == proofs.frontier_at(9).root()


def test_export_audit_says_where_it_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        run("export_audit", str(tmp_path / "nowhere" / "log.jsonl"))
