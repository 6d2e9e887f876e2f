"""What somebody may do who has a copy of everything but the newest key, and who finds it out.

Each is judged three times: by the console, by the auditor's one file on an export, and by a verifier that shares no
code with either.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import LazySettings
from django.core.checks import run_checks
from django.db import connection
from django.test import Client

from huqan_site.lib import signed_note
from review.access.actors import SystemActor
from review.audit import chain, checkpoints, export, guards, witness
from review.audit import verify as verification
from review.audit.actions import Action
from review.audit.chain import Root
from review.audit.checkpoints import Statement
from review.audit.models import Checkpoint, Entry, Head
from review.audit.proofs import frontier_at
from review.audit.verify import verify
from review.services.rotate_key import rotate_key
from tests.db.audit.acts import cut_to, did, did_several, rewrite_from, sql, tamper
from tests.support import second_opinion
from tests.support.tampering import guards_down
from tests.support.tracked import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
SCRIPT = runpy.run_path(str(ROOT / "docs" / "log_verifier.py"))["main"]
STRANGER = Ed25519PrivateKey.from_private_bytes(b"\7" * 32)


@pytest.fixture(autouse=True)
def log_with_two_keys(
    witness_file: Path, settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Entries 0 to 12: the key changes at entry 6, decisions are the 5th and the last; all is signed."""
    monkeypatch.setattr(verification, "_replays", {})
    settings.HUQAN_KEYS_DIR = Path(shutil.copytree(settings.HUQAN_KEYS_DIR, tmp_path / "keys"))
    did_several(4)
    did(Action.DECISION_APPROVED)
    rotate_key("log", by=SystemActor())
    did_several(5)
    did(Action.DECISION_REJECTED)
    yield
    witness.compare_again()


def keys() -> list[Ed25519PrivateKey]:
    files = sorted(checkpoints._keyring().folder.glob("log-*.key"))
    return [Ed25519PrivateKey.from_private_bytes(bytes.fromhex(path.read_text().strip())) for path in files]


# Three judges.


def the_console() -> bool:
    """Whether the console says that all is well."""
    return verify().ok


def somebody_else() -> bool:
    """Whether the second opinion is that all is well."""
    head = Head.objects.get()
    copy = second_opinion.Copy(
        rows=list(Entry.objects.order_by("seq").values_list("seq", "canonical", "prev", "leaf")),
        head=(head.size, head.leaf),
        notes=list(Checkpoint.objects.order_by("size").values_list("note", flat=True)),
        witness=witness.path().read_text(),
        keys=[key.public_key().public_bytes_raw() for key in keys()],
    )
    return not second_opinion.judge(copy)


def exported(folder: Path) -> Path:
    """What an auditor is given: the entries, and what he has himself, the keys and the notes that were sent to him."""
    folder.mkdir(exist_ok=True)
    (folder / "entries.jsonl").write_text("".join(f"{line}\n" for line in export.lines(None)))
    (folder / "checkpoints.txt").write_text(witness.path().read_text())
    (folder / "keys.txt").write_text("\n".join(checkpoints.verifier_keys()))
    return folder


def audited(*arguments: Any) -> tuple[int, str]:
    """The auditor's script: its exit code and what it prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = SCRIPT([str(argument) for argument in arguments])
    return code, said.getvalue()


# What is done to the log.


def renumbered(texts: list[dict[str, Any]], key: Ed25519PrivateKey | None, *, file_too: bool = False) -> None:
    """Make `texts` the whole log, every hash right; with a key sign it at its end, in the file too if wanted."""
    frontier, prev = chain.Frontier(), chain.GENESIS
    with guards_down():
        sql("DELETE FROM audit_entry")
        sql("DELETE FROM audit_private_text")
        for seq, members in enumerate(texts):
            text = chain.entry_text({**members, "seq": seq, "prev": prev})
            growth = frontier.append(chain.leaf_of(text))
            sql(
                "INSERT INTO audit_entry (seq, canonical, prev, leaf, subtrees, stamp, action)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                *(seq, text, prev, chain.leaf_of(text).hex()),
                *("".join(node.hex() for node in growth.completed), members["time"], members["action"]),
            )
            frontier, prev = growth.frontier, chain.leaf_of(text).hex()
        sql("UPDATE audit_head SET size = %s, leaf = %s, frontier = %s", len(texts), prev, frontier.text())
        if key:
            forge(key, file_too)


def forge(key: Ed25519PrivateKey, file_too: bool) -> None:
    head = Head.objects.get()
    statement = Statement(head.log, Root(head.size, frontier_at(head.size).root()))
    note = signed_note.sign(statement.text(), name=head.log, key=key)
    sql("DELETE FROM audit_checkpoint")
    sql("INSERT INTO audit_checkpoint (size, note, stamp) VALUES (%s, %s, %s)", head.size, note, head.time)
    if file_too:
        witness.path().write_text(note)


def texts() -> list[dict[str, Any]]:
    return [json.loads(text) for text in Entry.objects.order_by("seq").values_list("canonical", flat=True)]


def edit() -> None:
    text = chain.entry_text({**texts()[3], "app_version": "6.6.6"})
    tamper("UPDATE audit_entry SET canonical = %s WHERE seq = 3", text)


def replace() -> None:
    text = chain.entry_text({**texts()[3], "app_version": "6.6.6"})
    tamper("UPDATE audit_entry SET canonical = %s, leaf = %s WHERE seq = 3", text, chain.leaf_of(text).hex())


def delete() -> None:
    tamper("DELETE FROM audit_entry WHERE seq = 4")


def cut() -> None:
    cut_to(9)


def cut_and_keep_the_notes() -> None:
    cut_to(9, checkpoints_too=False)


def reorder() -> None:
    told = texts()
    renumbered([*told[:3], told[4], told[3], *told[5:]], None)


def insert() -> None:
    told = texts()
    renumbered([*told[:4], {**told[3], "app_version": "6.6.6"}, *told[4:]], None)


def leave_out() -> None:
    told = texts()
    renumbered([*told[:4], *told[5:]], None)


def rewrite() -> None:
    rewrite_from(2)


def rewrite_everything_without_the_key() -> None:
    renumbered(texts()[:8], STRANGER, file_too=True)


def rewrite_everything_with_an_old_key() -> None:
    told = [one for one in texts() if one["action"] != "key.rotated"]
    renumbered(told, keys()[0], file_too=True)


def rewrite_the_database_with_the_key() -> None:
    renumbered(texts()[:8], keys()[-1])


def fork() -> None:
    """Another copy went on by itself, signing with the right key; its database came back."""
    kept = witness.path().read_bytes()
    cut_to(9)
    witness.path().unlink()
    did_several(6)
    did(Action.DECISION_APPROVED)
    witness.path().write_bytes(kept)


def restore_an_old_copy() -> None:
    cut_to(7)
    did_several(2)


HARM: list[Callable[[], None]] = [
    *(edit, replace, delete, cut, cut_and_keep_the_notes, reorder, insert, leave_out, rewrite, fork),
    *(rewrite_everything_without_the_key, rewrite_everything_with_an_old_key),
    *(rewrite_the_database_with_the_key, restore_an_old_copy),
]


def test_a_log_that_nobody_touched_is_well_to_all_three(tmp_path: Path) -> None:
    assert the_console()
    assert somebody_else()
    code, said = audited(exported(tmp_path / "export"))
    assert code == 0, said
    assert said.startswith("Ok: 13 entries, every one walked.")


@pytest.mark.parametrize("harm", HARM)
def test_whatever_is_done_to_the_log_all_three_find_it(harm: Callable[[], None], tmp_path: Path) -> None:
    sent = witness.path().read_bytes()  # what the auditor was sent in time
    harm()
    assert not the_console()
    assert not somebody_else()
    folder = exported(tmp_path / "export")
    (tmp_path / "sent.txt").write_bytes(sent)
    code, said = audited(folder, "--checkpoints", tmp_path / "sent.txt")
    assert code == 1, said


@pytest.mark.parametrize("harm", [h for h in HARM if h is not rewrite_everything_with_an_old_key])
def test_the_console_calls_it_a_fault_and_not_a_doubt(harm: Callable[[], None]) -> None:
    harm()
    assert verify().fault_count


def test_who_rewrites_everything_with_an_old_key_is_betrayed_by_the_newer_one() -> None:
    rewrite_everything_with_an_old_key()
    assert any("keys folder" in fault.sentence for fault in verify().faults)


@pytest.mark.parametrize(
    "harm",
    [cut, fork, rewrite_the_database_with_the_key, restore_an_old_copy, cut_and_keep_the_notes, rewrite],
)
def test_who_starts_on_it_decides_nothing(harm: Callable[[], None]) -> None:
    harm()
    witness.compare_again()  # as a program that starts does
    assert witness.standing() is witness.Standing.DISPUTED


def test_guards_that_were_dropped_are_named_by_the_check_and_by_readyz() -> None:
    client = Client()
    assert client.get("/readyz").status_code == 200
    guards.remove(connection)
    try:
        said = [message.msg for message in run_checks(databases=["default"])]
        assert any("huqan_audit_entry_update" in sentence for sentence in said)
        assert client.get("/readyz").status_code == 503
    finally:
        guards.install(connection)


# The auditor's file, and what only it is given.


def test_an_edited_line_is_told_from_a_missing_one(tmp_path: Path) -> None:
    folder = exported(tmp_path / "export")
    lines = (folder / "entries.jsonl").read_text().splitlines(keepends=True)
    edited = [*lines[:3], lines[3].replace('"proposal.proposed"', '"proposal.executed"'), *lines[4:]]
    (folder / "entries.jsonl").write_text("".join(edited))
    code, said = audited(folder)
    assert (code, "Entry 3 was edited" in said, "missing" in said) == (1, True, False)
    (folder / "entries.jsonl").write_text("".join([*lines[:3], *lines[4:]]))
    code, said = audited(folder)
    assert (code, "Entry 3 is missing." in said, "edited" in said) == (1, True, False)


def test_entries_that_are_not_shown_still_prove_the_rest(tmp_path: Path) -> None:
    folder = exported(tmp_path / "export")
    lines = (folder / "entries.jsonl").read_text().splitlines()
    leaf = Entry.objects.get(seq=3).leaf
    lines[3] = f'{{"leaf":"{leaf}","seq":3}}'
    (folder / "entries.jsonl").write_text("\n".join(lines))
    assert audited(folder)[0] == 0
    lines[3] = f'{{"leaf":"{leaf[::-1]}","seq":3}}'
    (folder / "entries.jsonl").write_text("\n".join(lines))
    assert audited(folder)[0] == 1


def test_a_zip_is_read_as_a_folder_is(tmp_path: Path) -> None:
    folder = exported(tmp_path / "export")
    archive = shutil.make_archive(str(tmp_path / "export"), "zip", folder)
    assert audited(archive)[0] == 0


def test_a_private_text_is_held_against_what_the_entry_commits_to(tmp_path: Path) -> None:
    entry = did(Action.DECISION_APPROVED, private={"reason": "Looks right."})
    folder = exported(tmp_path / "export")
    salt = connection.cursor()
    salt.execute("SELECT salt FROM audit_private_text WHERE seq = %s", [entry.seq])
    line = {
        "seq": entry.seq,
        "name": "reason",
        "salt": bytes(salt.fetchone()[0]).hex(),
        "text": "Looks right.",
    }
    (folder / "private.jsonl").write_text(json.dumps(line) + "\n")
    assert audited(folder)[0] == 0
    (folder / "private.jsonl").write_text(json.dumps({**line, "text": "Looks wrong."}) + "\n")
    code, said = audited(folder)
    assert (code, "private text reason" in said) == (1, True)


@pytest.mark.parametrize("gone", ["entries.jsonl", "checkpoints.txt", "keys.txt"])
def test_a_part_of_an_export_is_never_ok(gone: str, tmp_path: Path) -> None:
    folder = exported(tmp_path / "export")
    (folder / gone).unlink()
    assert audited(folder)[0] in (1, 2)


def test_the_first_half_of_an_export_is_not_ok(tmp_path: Path) -> None:
    folder = exported(tmp_path / "export")
    lines = (folder / "entries.jsonl").read_text().splitlines(keepends=True)
    (folder / "entries.jsonl").write_text("".join(lines[:8]))
    code, said = audited(folder)
    assert (code, "Entries 8 to 12 are missing." in said) == (1, True)


def test_what_is_no_export_cannot_be_judged(tmp_path: Path) -> None:
    assert audited(tmp_path / "nowhere")[0] == 2
    (tmp_path / "proof.json").write_text("[]")
    assert audited(tmp_path / "proof.json")[0] == 2


def test_a_key_of_ones_own_is_the_only_one_believed(tmp_path: Path) -> None:
    folder = exported(tmp_path / "export")
    trusted = [word for key in checkpoints.verifier_keys() for word in ("--key", key)]
    assert audited(folder, *trusted)[0] == 0
    stranger = signed_note.verifier_key(Head.objects.get().log, STRANGER.public_key())
    assert audited(folder, "--key", stranger)[0] == 1


# Proofs.


def proved(folder: Path, *arguments: Any) -> Path:
    from django.core.management import call_command

    said = io.StringIO()
    call_command("prove", *arguments, stdout=said)
    (folder / "proof.json").write_text(said.getvalue())
    return folder / "proof.json"


@pytest.mark.parametrize("seq", [0, 4, 11, 12])
def test_a_proof_of_an_entry_is_checked_away_from_here(seq: int, tmp_path: Path) -> None:
    proof = proved(tmp_path, str(seq))
    assert audited(proof) == (0, audited(proof)[1])
    said = json.loads(proof.read_text())
    for harmed in (
        {**said, "entry": said["entry"].replace("acme", "globex").replace('"v":1', '"v":1.0')},
        {**said, "path": said["path"][1:]},
        {**said, "checkpoint": said["checkpoint"].replace("\n13\n", "\n12\n")},
    ):
        proof.write_text(json.dumps(harmed))
        assert audited(proof)[0] == 1


@pytest.mark.parametrize("old", [1, 6, 7, 13])
def test_that_one_checkpoint_continues_another_is_checked_away_from_here(old: int, tmp_path: Path) -> None:
    proof = proved(tmp_path, "--consistency", str(old), "13")
    code, said = audited(proof)
    assert (code, f"the log of {old} entries is the beginning of the log of 13" in said) == (0, True)
    told = json.loads(proof.read_text())
    proof.write_text(json.dumps({**told, "path": [*told["path"], "00" * 32]}))
    assert audited(proof)[0] == 1
