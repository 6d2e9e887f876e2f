"""Every way in which a text can get into memory, tried with the same text that must not.

A door is a function that makes ready whatever it needs and returns the attempt: what of its refusal the one who
tried is told, and everything he is shown. A tool or a writer that comes to memory fails here until it has its door.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from memory.models import MemoryRecord, Tombstone
from review.audit.models import Entry, PrivateText
from review.domain.refusals import Tombstoned
from review.effects import effect_of
from review.management.commands.worker import STEPS
from review.models import Proposal
from tests.support import factories
from tests.support.factories import Team, bearer
from tests.support.memory_acts import TICKET, approve, asked, doubtful, known, recalled, reject, remember
from tests.support.pages import browser
from tests.support.review_acts import at

PORT = "The staging port is 7443."
SECRET = "AKIA" + "ABCDEFGHIJKLMNOP"
CASES = json.loads((Path(__file__).parents[2] / "data/tombstone_key.json").read_text())
MEMORY = Path(__file__).parents[3] / "memory"


class Told(NamedTuple):
    """What became of an attempt: the code of its refusal, or the state of what it made; and all that was shown."""

    code: str
    shown: str


Attempt = Callable[[], Told]


def _page(answer: Any, about: Proposal | None = None) -> Told:
    shown = answer.content.decode()
    found = re.search(r'data-problem="([a-z_]+)"', shown)
    if not found:
        found = re.search(r"<td[^>]*><code>([a-z_]+)</code></td>", shown)
    return Told(found[1] if found else Proposal.objects.get(id=(about or _newest()).id).status, shown)


def _newest() -> Proposal:
    return Proposal.objects.latest("id")


def _decided(proposal: Proposal) -> Told:
    return Told((proposal.reason or "").partition(":")[0] or proposal.status, str(proposal.outcome))


def _call(team: Team, path: str, body: Mapping[str, Any]) -> Told:
    answer = Client().post(
        f"/api/v1/proposals{path}", json.dumps(body), "application/json", **bearer(team.scout)
    )
    told = answer.json()
    shown = {name: value for name, value in told.items() if name != "arguments"}  # its own, whole
    return Told(told.get("code") or told["status"], json.dumps(shown))


# The doors.


def by_a_proposal(team: Team, content: str) -> Attempt:
    said = {"content": content, "provenance": TICKET}
    return lambda: _call(team, "", {"tool": "memory.write", "arguments": said})


def by_a_proposal_in_other_letters(team: Team, content: str) -> Attempt:
    said = {"content": content, "provenance": TICKET}
    return lambda: _call(team, "", {"tool": "MEMORY.Write", "arguments": said})


def by_a_revision(team: Team, content: str) -> Attempt:
    waiting, said = remember(team.scout, "Something else."), {"content": content, "provenance": TICKET}
    return lambda: _call(team, f"/{waiting.id}/revisions", {"revision": 1, "arguments": said})


def by_taking_the_place_of_a_record(team: Team, content: str) -> Attempt:
    old = known(team.scout, "Something else.", team.alice)
    said = {"record": str(old.id), "content": content, "provenance": TICKET}
    return lambda: _call(team, "", {"tool": "memory.supersede", "arguments": said})


def by_the_page_of_a_record(team: Team, content: str) -> Attempt:
    old = known(team.scout, "Something else.", team.alice)
    fields = {"content": content, "reason": "It moved."}
    return lambda: _page(browser(team.alice).post(f"/memory/{old.id}/supersede/", fields))


def by_editing_a_proposal(team: Team, content: str) -> Attempt:
    waiting = remember(team.scout, "Something else.")
    factories.person("dave", team.acme, ["reviewer"])
    raw = json.dumps({"content": content, "provenance": TICKET})
    fields = {"revision": "1", "raw": raw, "reason": "It was mistyped."}
    return lambda: _page(browser(team.alice).post(f"/proposals/{waiting.id}/edit/", fields), waiting)


def by_the_import_command(team: Team, content: str) -> Attempt:
    def attempt() -> Told:
        file = settings.HUQAN_DATA_DIR / "door.jsonl"
        file.write_text(json.dumps({"content": content, "provenance": TICKET}))
        out, err = io.StringIO(), io.StringIO()
        call_command("import_memory", str(file), "--workspace=acme", "--by=dana", stdout=out, stderr=err)
        file.unlink()
        refused = re.search(r"\(([a-z_]+)\)$", err.getvalue(), re.MULTILINE)
        return Told(refused[1] if refused else _newest().status, out.getvalue() + err.getvalue())

    return attempt


def by_the_import_page(team: Team, content: str) -> Attempt:
    def attempt() -> Told:
        file = io.BytesIO(json.dumps({"content": content, "provenance": TICKET}).encode())
        return _page(browser(team.dana).post("/memory/import/", {"file": file}))

    return attempt


FRONT: Mapping[str, Callable[[Team, str], Attempt]] = {
    door.__name__: door
    for door in (
        by_a_proposal,
        by_a_proposal_in_other_letters,
        by_a_revision,
        by_taking_the_place_of_a_record,
        by_the_page_of_a_record,
        by_editing_a_proposal,
        by_the_import_command,
        by_the_import_page,
    )
}
"""Doors at which a text is sent."""


def by_approving_what_waited(team: Team, content: str) -> Attempt:
    waiting = remember(team.scout, content)
    return lambda: _decided(approve(waiting, team.carol))


def by_approving_what_waited_to_take_a_place(team: Team, content: str) -> Attempt:
    old = known(team.scout, "Something else.", team.alice)
    waiting = asked(team.alice, "memory.supersede", old, content=content, provenance=TICKET)
    return lambda: _decided(approve(waiting, team.carol))


def by_releasing_what_was_held(team: Team, content: str) -> Attempt:
    held = doubtful(team.scout, content)
    return lambda: _decided(approve(held, team.alice, team.carol))


def by_restoring_what_was_archived(team: Team, content: str) -> Attempt:
    record = known(team.scout, content, team.alice)
    approve(asked(team.alice, "memory.archive", record), team.carol)
    waiting = asked(team.alice, "memory.restore", record)
    return lambda: _decided(approve(waiting, team.carol))


def by_the_worker(team: Team, content: str) -> Attempt:
    doubtful(team.scout, content), remember(team.scout, content)

    def attempt() -> Told:
        for step in STEPS:
            step.work()
        return Told("tombstoned", "")  # it decides nothing; what it must not leave is asked by the test

    return attempt


BACK: Mapping[str, Callable[[Team, str], Attempt]] = {
    door.__name__: door
    for door in (
        by_approving_what_waited,
        by_approving_what_waited_to_take_a_place,
        by_releasing_what_was_held,
        by_restoring_what_was_archived,
        by_the_worker,
    )
}
"""Doors at which a text has waited since before it was rejected."""

TOOLS = {"memory.write", "memory.supersede"}
WRITERS = {"gateway/write.py", "gateway/quarantine.py"}


def test_every_tool_that_brings_a_text_has_its_doors() -> None:
    effects = {tool: effect_of(tool) for tool in settings.HUQAN_EFFECTS}
    brings = {
        tool
        for tool, effect in effects.items()
        if effect and {"content", "text"} & set(effect.schema.get("properties", {}))
    }
    assert brings == TOOLS, "Give it its doors in FRONT and BACK, then name it in TOOLS."


def test_every_maker_of_a_record_has_its_doors() -> None:
    makes = re.compile(r"MemoryRecord\(\s*\w+=|MemoryRecord\.objects\.(create|bulk_create|get_or_create)\(")
    found = {
        str(file.relative_to(MEMORY))
        for file in MEMORY.rglob("*.py")
        if makes.search(re.sub(r"\(\s+", "(", file.read_text()))
    }
    assert found == WRITERS, "Give it its doors in FRONT and BACK, then name it in WRITERS."


# A rejected value.


def ban(team: Team, content: str) -> None:
    reject(remember(team.scout, content), team.alice, tombstone=True)
    assert Tombstone.objects.count() == 1


def in_memory(content: str) -> int:
    live = MemoryRecord.objects.filter(trust="trusted", lifecycle="active")
    return sum(record.content.casefold() == content.casefold() for record in live)


@pytest.mark.parametrize("spelling", [str, str.upper], ids=["as it was", "in capitals"])
@pytest.mark.parametrize("door", {**FRONT, **BACK})
def test_a_rejected_value_comes_in_by_no_door(team: Team, door: str, spelling: Callable[[str], str]) -> None:
    attempt = {**FRONT, **BACK}[door](team, spelling(PORT))
    ban(team, PORT)
    assert attempt().code == "tombstoned"
    assert in_memory(PORT) == 0
    assert not any("7443" in text for text in recalled(team.scout))


@pytest.mark.parametrize("door", FRONT)
def test_its_neighbour_comes_in_by_every_door(team: Team, door: str) -> None:
    attempt = FRONT[door](team, "The staging port is 7444.")
    ban(team, PORT)
    assert attempt().code == "pending"


@pytest.mark.parametrize("door", [name for name in BACK if name != "by_the_worker"])
def test_what_waited_comes_in_where_nobody_rejected_it(team: Team, door: str) -> None:
    assert BACK[door](team, PORT)().code == "executed"
    assert in_memory(PORT) == 1


def _months_pass(team: Team, days: int) -> None:
    """After so many days: what is known is said again, a neighbour is replaced, the worker goes round, all is tried."""
    neighbour = known(team.scout, f"On day {days} staging is open.", team.alice)
    with at(timezone.now() + timedelta(days=days)):
        again = approve(remember(team.scout, "Ankara is the capital."), team.alice)
        assert again.outcome is not None and again.outcome["admission"] == "corroborated"
        closed = {"content": f"On day {days} staging is closed.", "provenance": TICKET}
        approve(asked(team.alice, "memory.supersede", neighbour, **closed), team.carol)
        for step in STEPS:
            step.work()
        with pytest.raises(Tombstoned):
            remember(team.scout, "“The STAGING port is 7443!”")
        assert by_the_import_command(team, PORT)().code == "tombstoned"


def test_nothing_that_happens_later_brings_a_rejected_value_back(team: Team) -> None:
    known(team.scout, "Ankara is the capital.", team.alice)
    ban(team, PORT)
    for days in (0, 400):
        _months_pass(team, days)
    assert in_memory("Ankara is the capital.") == 1
    assert not any("7443" in record.content for record in MemoryRecord.objects.all())
    assert not any("7443" in text for text in recalled(team.scout))


@pytest.mark.parametrize(("rejected", "spelled"), CASES["same"])
def test_another_spelling_is_the_same_value(team: Team, rejected: str, spelled: str) -> None:
    ban(team, rejected)
    assert by_a_proposal(team, spelled)().code == "tombstoned"


@pytest.mark.parametrize(("rejected", "other"), CASES["different"])
def test_another_value_is_not_taken_for_it(team: Team, rejected: str, other: str) -> None:
    ban(team, rejected)
    assert by_a_proposal(team, other)().code in ("pending", "quarantined")


# A secret.


@pytest.mark.parametrize("door", FRONT)
def test_a_secret_is_held_at_every_door_and_echoed_nowhere(team: Team, door: str) -> None:
    told = FRONT[door](team, f"The key of staging is {SECRET}.")()
    assert told.code == "quarantined"
    assert in_memory(f"The key of staging is {SECRET}.") == 0
    kept = [*Entry.objects.values_list("canonical"), *PrivateText.objects.values_list("text")]
    assert SECRET not in str(kept)
    assert SECRET not in told.shown
    assert SECRET not in _newest().summary
    assert not any(SECRET in text for text in recalled(team.scout))


@pytest.mark.parametrize("door", FRONT)
def test_prose_about_secrets_comes_in_by_every_door(team: Team, door: str) -> None:
    prose = "The password of staging is kept in the vault; ask the owner for the API key."
    assert FRONT[door](team, prose)().code == "pending"
