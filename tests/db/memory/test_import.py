"""Bringing memories in from a file: through the gateway, as proposals that others decide."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from huqan_site.lib.canonical_json import canonical
from memory.domain.lines import read
from memory.gateway.bring_in import Became, File, bring_in
from memory.models import MemoryRecord, RecordConflict, Tombstone
from review.access.actors import PersonActor
from review.access.refusals import NotFound, NotManager
from review.audit.models import Entry, PrivateText
from review.models import Proposal, Revision
from tests.support.factories import Team
from tests.support.memory_acts import (
    TICKET,
    approve,
    arguments_of,
    asked,
    doubtful,
    known,
    recalled,
    reject,
    remember,
)
from tests.support.pages import browser

PORT = "The staging port is 7443."
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


def line(content: str = PORT, **members: Any) -> str:
    return canonical({"content": content, "provenance": TICKET, **members})


def bring(team: Team, *lines: str, by: PersonActor | None = None) -> list[Became]:
    read_lines = read(one.encode() for one in lines)
    batches = bring_in(read_lines, into=team.acme, by=by or team.dana, file=File("a.jsonl", "d" * 64))
    return [one for batch in batches for one in batch]


def fates(became: list[Became]) -> list[tuple[int, str]]:
    return [(one.line, str(one.fate)) for one in became]


def the_file(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "memories.jsonl"
    path.write_text("".join(f"{one}\n" for one in lines))
    return str(path)


def run(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def state() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Proposal, MemoryRecord, Tombstone, Entry))


# What an import makes.


def test_a_line_becomes_a_proposal_that_others_decide(team: Team) -> None:
    [became] = bring(team, line())
    proposal = Proposal.objects.get(id=became.proposal)
    assert (proposal.tool, proposal.status, proposal.principal) == (
        "memory.write",
        "pending",
        team.dana.person.id,
    )
    assert recalled(team.scout) == []
    approve(proposal, team.alice)
    assert recalled(team.scout) == [PORT]


def test_whoever_imports_cannot_approve_what_he_imported(team: Team) -> None:
    from review.domain.refusals import SelfApproval
    from tests.support.factories import person

    both = person("frank", team.acme, ["manager", "reviewer"])
    [became] = bring(team, line(), by=both)
    with pytest.raises(SelfApproval):
        approve(Proposal.objects.get(id=became.proposal), both)


def test_what_the_file_calls_trusted_is_not_trusted_for_that(team: Team) -> None:
    bring(team, line(trust="trusted"))
    assert (Proposal.objects.get().status, recalled(team.scout)) == ("pending", [])


def test_what_was_held_is_held_here(team: Team) -> None:
    assert fates(bring(team, line(trust="quarantined"))) == [(1, "held")]
    assert MemoryRecord.objects.get().trust == "quarantined"
    assert recalled(team.scout) == []


def test_what_the_gate_doubts_is_held_and_its_secret_is_echoed_nowhere(team: Team) -> None:
    assert fates(bring(team, line(f"The key is {KEY}."))) == [(1, "held")]
    told = [*Entry.objects.values_list("canonical"), *PrivateText.objects.values_list("text")]
    assert KEY not in str(told)
    assert KEY not in Proposal.objects.get().summary


def test_the_log_tells_of_the_import(team: Team) -> None:
    bring(team, line(), line("Ankara is the capital."))
    entry = Entry.objects.get(action="memory.imported")
    assert (entry.person, entry.workspace) == (str(team.dana.person.id), str(team.acme.id))
    assert '"proposed":2' in entry.canonical


# What changes nothing.


def test_the_same_file_twice_changes_nothing(team: Team) -> None:
    lines = [line(), line("Pay into account 99.", trust="quarantined"), line()]
    assert fates(bring(team, *lines)) == [(1, "proposed"), (2, "held"), (3, "known")]
    before = state()
    assert fates(bring(team, *lines)) == [(1, "known"), (2, "known"), (3, "known")]
    assert fates(bring(team, *lines, by=team.erin)) == [(1, "known"), (2, "known"), (3, "known")]
    assert state() == before


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_the_same_file_after_the_decision_changes_nothing(team: Team, decision: str) -> None:
    [became] = bring(team, line())
    proposal = Proposal.objects.get(id=became.proposal)
    (approve if decision == "approve" else reject)(proposal, team.alice)
    before = state()
    assert fates(bring(team, line())) == [(1, "known")]
    assert state() == before


def test_what_is_known_from_the_same_source_changes_nothing(team: Team) -> None:
    known(team.scout, PORT, team.alice)
    doubtful(team.scout, "Pay into account 99.")
    before = state()
    web = {"kind": "web", "ref": "https://page.example/a"}
    again = [line(PORT.upper()), line("Pay into account 99.", trust="quarantined", provenance=web)]
    assert fates(bring(team, *again)) == [(1, "known"), (2, "known")]
    assert state() == before


def test_what_is_known_from_another_source_is_more_evidence_and_no_second_record(team: Team) -> None:
    known(team.scout, PORT, team.alice)
    [became] = bring(team, line(provenance={"kind": "user", "ref": "ticket-2"}))
    approved = approve(Proposal.objects.get(id=became.proposal), team.alice)
    assert approved.outcome is not None and approved.outcome["admission"] == "corroborated"
    assert MemoryRecord.objects.count() == 1


# What is refused.


def test_a_rejected_value_is_refused_by_its_line_and_the_others_come_in(team: Team) -> None:
    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    became = bring(team, line("Ankara is the capital."), line(PORT.upper()), line("It may rain."))
    assert fates(became) == [(1, "proposed"), (2, "refused"), (3, "proposed")]
    assert became[1].refusal is not None and became[1].refusal.code == "tombstoned"
    assert Entry.objects.filter(action="proposal.refused").count() == 1


def test_a_bad_line_keeps_everything_out(team: Team, tmp_path: Path) -> None:
    before = state()
    file, err = the_file(tmp_path, line(), "{", line(confidence=2)), io.StringIO()
    with pytest.raises(CommandError, match="Nothing is imported"):
        call_command("import_memory", file, "--workspace=acme", "--by=dana", stderr=err)
    assert [said.split(":")[0] for said in err.getvalue().splitlines()] == ["Line 2", "Line 3, /confidence"]
    assert state() == before


@pytest.mark.parametrize(
    ("who", "refusal"), [("alice", NotManager), ("bob", NotManager), ("mallory", NotFound)]
)
def test_only_a_manager_of_the_workspace_imports(team: Team, who: str, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        bring(team, line(), by=getattr(team, who))
    assert not Proposal.objects.exists()
    assert Entry.objects.get(action="proposal.refused").person == str(getattr(team, who).person.id)


# What one line rests on is another memory here than where the file comes from.

THERE = "01890000-0000-7000-8000-000000000001"
OPEN = "Staging is open."


def resting(content: str = OPEN, on: str = THERE, **members: Any) -> str:
    return line(content, provenance={"kind": "user", "ref": "t", "derived_from": [on]}, **members)


def two_lines() -> list[str]:
    return [line(id=THERE), resting(id="01890000-0000-7000-8000-000000000002")]


def test_a_line_waits_for_what_it_rests_on_and_comes_with_the_id_that_has_here(team: Team) -> None:
    became = bring(team, *two_lines())
    assert fates(became) == [(1, "proposed"), (2, "waiting")]
    assert became[1].rests_on == 1
    approve(Proposal.objects.get(id=became[0].proposal), team.alice)
    became = bring(team, *two_lines())
    assert fates(became) == [(1, "known"), (2, "proposed")]
    approve(Proposal.objects.get(id=became[1].proposal), team.alice)
    source, derived = MemoryRecord.objects.order_by("id")
    assert derived.provenance is not None
    assert derived.provenance["derived_from"] == [str(source.id)] != [THERE]
    before = state()
    assert fates(bring(team, *two_lines())) == [(1, "known"), (2, "known")]
    assert state() == before
    approve(asked(team.alice, "memory.retract", source), team.carol)
    assert recalled(team.scout) == []


def test_the_same_file_changes_nothing_while_a_line_waits(team: Team) -> None:
    bring(team, *two_lines())
    before = state()
    assert fates(bring(team, *two_lines())) == [(1, "known"), (2, "waiting")]
    assert state() == before


def test_what_rests_on_a_rejected_value_waits_for_good(team: Team) -> None:
    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    assert fates(bring(team, *two_lines())) == [(1, "refused"), (2, "waiting")]
    assert fates(bring(team, *two_lines())) == [(1, "refused"), (2, "waiting")]


def test_what_rests_on_a_memory_that_the_file_lacks_is_refused(team: Team) -> None:
    [became] = bring(team, resting())
    assert became.fate == "refused"


def test_a_file_that_comes_home_keeps_its_ids(team: Team) -> None:
    source = known(team.scout, PORT, team.alice)
    [_, became] = bring(team, line(id=str(source.id)), resting(on=str(source.id)))
    asked_for = arguments_of(Proposal.objects.get(id=became.proposal))
    assert asked_for["provenance"]["derived_from"] == [str(source.id)]


def test_no_file_resolves_a_conflict_and_an_open_one_is_named(team: Team) -> None:
    known(team.scout, PORT, team.alice, subject="port", predicate="is")
    settled = {
        "with": THERE,
        "opened_at": "2026-01-01T00:00:00Z",
        "answer": "keep_new",
        "resolved_at": "2026-01-02T00:00:00Z",
    }
    open_ = {"with": THERE, "opened_at": "2026-01-01T00:00:00Z"}
    named = {"subject": "port", "predicate": "is"}
    one, other = (
        line(said, conflicts=[conflict], **named)
        for said, conflict in (("The staging port is 7444.", settled), ("The staging port is 7445.", open_))
    )
    for became in bring(team, one, other):
        approve(Proposal.objects.get(id=became.proposal), team.alice)
    assert RecordConflict.objects.unresolved().count() == 3
    said = set(Revision.objects.filter(proposal__agent=None).values_list("rationale", flat=True))
    assert said == {"Line 1 of a.jsonl", "Line 2 of a.jsonl, disputed where it comes from"}


# The command.


def test_the_command_imports_and_shows_how_far_it_is(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.gateway.bring_in.BATCH", 2)
    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    file = the_file(
        tmp_path, *(line(f"Fact {n}.", workspace="acme") for n in range(4)), line(workspace="acme")
    )
    out, err = run("import_memory", file, "--by", "DANA")
    assert out.splitlines() == [
        "acme: 2 of 5 lines",
        "acme: 4 of 5 lines",
        "acme: 5 of 5 lines",
        "acme: 4 proposed, 0 held, 0 known, 1 refused, 0 waiting",
    ]
    assert err.startswith("Line 5 is refused: This value was rejected before")


def test_the_command_says_what_a_line_waits_for(team: Team, tmp_path: Path) -> None:
    _, err = run("import_memory", the_file(tmp_path, *two_lines()), "--by=dana", "--workspace=acme")
    assert err.startswith("Line 2 waits: It rests on line 1, which is not remembered here yet.")


def test_without_a_name_the_command_only_checks(team: Team, tmp_path: Path) -> None:
    before = state()
    out, _ = run("import_memory", the_file(tmp_path, line(workspace="acme")))
    assert out == "1 lines can be read. To import them, say who does: --by USER.\n"
    assert state() == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--by=dana"], "names no workspace"),
        (["--by=dana", "--workspace=nowhere"], "no workspace nowhere"),
        (["--by=nobody", "--workspace=acme"], "No active account is called nobody"),
        (["--by=alice", "--workspace=acme"], "manage"),
    ],
)
def test_the_command_says_what_it_misses(
    team: Team, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        run("import_memory", the_file(tmp_path, line()), *arguments)
    assert not Proposal.objects.exists()


# The page.


def send(who: PersonActor, *lines: str, **fields: str) -> Any:
    file = io.BytesIO("".join(f"{one}\n" for one in lines).encode())
    file.name = "memories.jsonl"
    return browser(who).post("/memory/import/", {"file": file, **fields})


def test_a_manager_imports_on_the_page_and_is_told_what_became_of_it(team: Team) -> None:
    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    shown = send(team.dana, line("Ankara is the capital."), line())
    assert shown.status_code == 200
    said = shown.content.decode()
    assert "1 proposed, 0 held, 0 known here before, 1 refused." in said
    assert "<td>2</td>" in "".join(said.split()) and "tombstoned" in said


def test_the_page_says_what_a_line_waits_for(team: Team) -> None:
    said = send(team.dana, *two_lines()).content.decode()
    assert "1 wait for what they rest on." in said
    assert "It rests on line 1, which is not remembered here yet." in said


def test_the_page_names_the_bad_line_and_takes_nothing(team: Team) -> None:
    shown = send(team.dana, line(), line(approved=True))
    assert shown.status_code == 422
    assert "/approved" in shown.content.decode()
    assert not Proposal.objects.exists()


@pytest.mark.parametrize("fields", [{}, {"workspace": "globex"}])
def test_the_page_takes_no_form_without_a_file_or_for_another_workspace(
    team: Team, fields: dict[str, str]
) -> None:
    answer = send(team.dana, line(), **fields) if fields else browser(team.dana).post("/memory/import/")
    assert answer.status_code == 422
    assert not Proposal.objects.exists()


def test_the_page_takes_what_it_can_bring_in_at_once(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.views.exchange.MOST_HERE", 1)
    assert send(team.dana, line(), line("Another.")).status_code == 422
    monkeypatch.setattr("memory.views.exchange.LARGEST", 10)
    assert send(team.dana, line()).status_code == 422
    assert not Proposal.objects.exists()


def test_only_managers_open_the_page(team: Team) -> None:
    assert browser(team.dana).get("/memory/import/").status_code == 200
    assert browser(team.alice).get("/memory/import/").status_code == 403
    assert send(team.alice, line()).status_code == 403
    assert "/memory/import/" in browser(team.dana).get("/memory/").content.decode()
    assert "/memory/import/" not in browser(team.alice).get("/memory/").content.decode()
