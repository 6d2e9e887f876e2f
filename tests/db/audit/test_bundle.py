"""The zip for an auditor: it checks without the console, says what was changed, and shows nothing of others."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from review.access.actors import PersonActor
from review.audit import bundle, log, queries
from review.audit.actions import Action
from review.audit.models import Entry
from review.audit.queries import EVERYTHING, Scope
from review.audit.transaction import write
from tests.support import factories
from tests.support.pages import browser
from tests.support.review_acts import call, vote

pytestmark = pytest.mark.django_db
REASON = "The invoice is forged."
FILES = ["README.txt", "log_verifier.py", "keys.txt", "checkpoints.txt", "entries.jsonl", "private.jsonl"]
# A process that cannot even find the console or its framework.
ALONE = """
import runpy, sys
sys.modules.update(dict.fromkeys(("django", "huqan_site", "review", "memory")))
sys.argv = ["log_verifier.py", "."]
runpy.run_path("log_verifier.py", run_name="__main__")
"""


@pytest.fixture
def cast() -> factories.Team:
    made = factories.team()
    vote(made.alice, call(made.scout, rationale="The customer asked."), "reject", reason=REASON)
    vote(made.nina, call(made.prowler, rationale="Globex asked."), "reject", reason="Not at globex.")
    return made


def exported(person: PersonActor, **asked: str) -> zipfile.ZipFile:
    answer = browser(person).get("/audit/export.zip", asked)
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"] == 'attachment; filename="audit.zip"'
    return zipfile.ZipFile(io.BytesIO(b"".join(answer)))


def lines(archive: zipfile.ZipFile, name: str) -> list[Any]:
    return [json.loads(line) for line in archive.read(name).decode().splitlines()]


def checked(archive: zipfile.ZipFile, folder: Path, change: Callable[[str], str] = str) -> tuple[int, str]:
    """Unpack, let somebody `change` the entries, and check alone; return the exit code and what was said."""
    archive.extractall(folder)
    entries = folder / "entries.jsonl"
    entries.write_text(change(entries.read_text(encoding="utf-8")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-c", ALONE], cwd=folder, env={}, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_an_export_checks_offline_in_a_bare_python(cast: factories.Team, tmp_path: Path) -> None:
    archive = exported(cast.dana)
    assert archive.namelist() == FILES
    code, said = checked(archive, tmp_path)
    assert (code, said.splitlines()[0]) == (0, f"Ok: {queries.size()} entries, every one walked.")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"account":"alice"', '"account":"carol"', 1),
        lambda text: "".join(text.splitlines(keepends=True)[:-1]),
        lambda text: "".join(text.splitlines(keepends=True)[1:]),
    ],
    ids=["edited", "cut at the end", "cut at the beginning"],
)
def test_what_was_changed_in_it_is_found(
    cast: factories.Team, tmp_path: Path, change: Callable[[str], str]
) -> None:
    code, said = checked(exported(cast.dana), tmp_path, change)
    assert code == 1, said


def test_a_text_that_is_not_the_one_that_was_written_is_found(cast: factories.Team, tmp_path: Path) -> None:
    archive = exported(cast.dana)
    archive.extractall(tmp_path)
    texts = (tmp_path / "private.jsonl").read_text(encoding="utf-8")
    (tmp_path / "private.jsonl").write_text(texts.replace("forged", "fine"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-c", ALONE], cwd=tmp_path, env={}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "its private text reason is not the one" in done.stdout


def test_entries_and_texts_of_others_are_not_in_it(cast: factories.Team) -> None:
    archive = exported(cast.dana)
    whole = "".join(archive.read(name).decode() for name in archive.namelist())
    assert REASON in whole
    assert "Not at globex." not in whole
    assert str(cast.globex.id) not in whole
    foreign = Entry.objects.filter(workspace=str(cast.globex.id)).first()
    assert foreign is not None
    assert lines(archive, "entries.jsonl")[foreign.seq] == {"leaf": foreign.leaf, "seq": foreign.seq}


def test_texts_come_with_the_entries_that_are_whole_and_only_with_those(cast: factories.Team) -> None:
    archive = exported(cast.dana, action="decision.rejected")
    whole = {line["seq"] for line in lines(archive, "entries.jsonl") if "action" in line}
    assert {line["seq"] for line in lines(archive, "private.jsonl")} == whole
    assert [line["text"] for line in lines(archive, "private.jsonl")] == [REASON]
    everything = lines(exported(cast.dana), "private.jsonl")
    assert {line["text"] for line in everything} >= {REASON, "The customer asked."}


def test_an_erased_text_is_told_and_the_export_still_checks(cast: factories.Team, tmp_path: Path) -> None:
    entry = Entry.objects.get(action=Action.DECISION_REJECTED, workspace=str(cast.acme.id))
    with write():
        log.erase_private_texts([entry.seq])
    archive = exported(cast.dana)
    [erased] = [line for line in lines(archive, "private.jsonl") if line["seq"] == entry.seq]
    assert erased == {"name": "reason", "salt": None, "seq": entry.seq, "text": None}
    assert checked(archive, tmp_path)[0] == 0


def test_the_export_is_its_own_last_entry_and_a_checkpoint_vouches_for_it(cast: factories.Team) -> None:
    archive = exported(cast.dana)
    last = lines(archive, "entries.jsonl")[-1]
    assert (last["action"], last["after"]["form"]) == ("audit.exported", "zip")
    newest = archive.read("checkpoints.txt").decode().split("\n\n")[-2]
    assert newest.splitlines()[1] == str(last["seq"] + 1)


def test_a_reviewer_takes_nothing_with_him(cast: factories.Team) -> None:
    assert browser(cast.alice).get("/audit/export.zip").status_code == 403
    assert not Entry.objects.filter(action=Action.AUDIT_EXPORTED).exists()


def test_a_zip_is_sent_in_pieces_and_never_held_whole(
    cast: factories.Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "BLOCK", 512)
    scope = Scope((cast.acme.id,))
    pieces = list(bundle.zipped(bundle.parts(scope, EVERYTHING, stop=queries.size())))
    assert len(pieces) > 3
    assert zipfile.ZipFile(io.BytesIO(b"".join(pieces))).testzip() is None


def test_the_operator_gets_the_whole_log_as_a_zip(cast: factories.Team, tmp_path: Path) -> None:
    call_command("export_audit", str(tmp_path / "audit.zip"))
    archive = zipfile.ZipFile(tmp_path / "audit.zip")
    assert archive.namelist() == FILES
    assert all("action" in line for line in lines(archive, "entries.jsonl"))
    assert {REASON, "Not at globex."} <= {line["text"] for line in lines(archive, "private.jsonl")}
    assert checked(archive, tmp_path / "unpacked")[0] == 0
