"""After an erasure no byte of what was said is left: in no file of the data folder, in no row of any table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client

from huqan_site.lib import signed_note
from huqan_site.lib.problems import Refusal
from memory.gateway import sweep
from memory.gateway.ask import ask, ask_to_erase
from memory.models import Erasure, MemoryRecord
from review.audit import attest, checkpoints
from review.audit.verify import verify
from review.services.propose import Draft, propose
from tests.support.memory_acts import answer, approve, known, reject, remember, reword

if TYPE_CHECKING:
    from review.models import Proposal
    from tests.support.factories import Team

PLACES = (
    "content",
    "subject",
    "predicate",
    "title",
    "reference",
    "rationale",
    "evidence-title",
    "evidence-ref",
    "evidence-text",
    "reason-of-a-decision",
    "reason-of-a-retraction",
    "replaced-revision",
    "run",
    "key",
)
REFUSED = "marker-in-refused-arguments"


def marker(place: str) -> str:
    return f"marker-in-{place}-0123456789"


@pytest.fixture
def team(transactional_db: None) -> Team:
    from tests.support import factories

    return factories.team()


def planted(team: Team) -> MemoryRecord:
    """A record whose markers stand in every place where a text can be."""
    evidence = [
        {"title": marker("evidence-title"), "ref": marker("evidence-ref"), "text": marker("evidence-text")}
    ]
    said = {
        "content": f"Zeliha says {marker('content')} \u0131\u015f\u0131k.",
        "subject": marker("subject"),
        "predicate": marker("predicate"),
        "provenance": {"kind": "user", "title": marker("title"), "ref": marker("reference")},
    }
    draft = Draft(
        "memory.write", said, marker("rationale"), evidence, run_id=marker("run"), key=marker("key")
    )
    written = propose(draft, by=team.scout).proposal
    answer(team.alice, written, "approve", reason=marker("reason-of-a-decision"))
    record = MemoryRecord.objects.get(proposal=written)
    retract = {"record": str(record.id), "reason": marker("reason-of-a-retraction")}
    reject(propose(Draft("memory.retract", retract), by=team.scout).proposal, team.alice)
    other = remember(team.scout, f"Also {marker('replaced-revision')}.", subject=marker("subject"))
    reword(team.scout, other, "Something else.", subject=marker("subject"))
    with pytest.raises(Refusal):
        propose(Draft("memory.write", {"content": REFUSED, "more": REFUSED}), by=team.scout)
    return record


def places() -> Mapping[str, bytes]:
    """Everything that the console has written, by name."""
    folder = Path(settings.HUQAN_DATA_DIR)
    files = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return files | (dict(_rows()) if connection.vendor == "postgresql" else {})


def _rows() -> Iterator[tuple[str, bytes]]:
    for table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            yield table, "\n".join(row[0] for row in cursor.fetchall()).encode()


def found(text: str) -> list[str]:
    return [name for name, held in places().items() if text.encode() in held]


def about_subject(team: Team) -> Proposal:
    asked = ask_to_erase(marker("subject").upper(), team.acme.id, by=team.carol, reason="Article 17.")
    return approve(asked, team.alice, team.bob)


def test_no_byte_of_it_is_left_anywhere_and_the_log_still_verifies(team: Team, tmp_path: Path) -> None:
    planted(team)
    assert [place for place in PLACES if not found(marker(place))] == []
    assert found(REFUSED) == []
    about_subject(team)
    assert {place: found(marker(place)) for place in PLACES if found(marker(place))} == {}
    assert found("I\u015fIK") == found("\u0131\u015f\u0131k") == []
    exported = tmp_path / "log.jsonl"
    call_command("export_audit", str(exported))
    assert "marker-in" not in exported.read_text()
    assert not verify().faults


def test_a_neighbour_keeps_every_byte(team: Team) -> None:
    planted(team)
    known(team.scout, "The staging port is 7443, says the neighbour.", team.alice)
    about_subject(team)
    assert found("7443, says the neighbour")


def test_the_certificate_says_what_was_searched_and_its_signature_holds(team: Team) -> None:
    planted(team)
    done = about_subject(team)
    client = Client()
    client.force_login(team.alice.user)
    answered = client.get(f"/proposals/{done.id}/certificate/")
    assert answered.status_code == 200
    stated = attest.read(
        answered.getvalue().decode(), log=settings.HUQAN_LOG_NAME, keys=checkpoints.public_keys().values()
    )
    assert stated["erasure"] == str(done.id)
    assert (stated["erased"]["records"], stated["searched"]["still_in"]) == (1, [])
    assert stated["searched"]["pieces"] > 0 and stated["searched"]["places"]
    assert stated["people"]["agreed"] == [str(team.alice.person.id), str(team.bob.person.id)]
    assert len(stated["digests_that_remain"]["records"]) == 1
    assert len(stated["entries"]) == 2 + stated["erased"]["proposals"]
    assert stated["checkpoint"].startswith(settings.HUQAN_LOG_NAME)
    assert "marker-in" not in answered.getvalue().decode()
    with pytest.raises(signed_note.BadNote):
        attest.read(
            answered.getvalue().decode().replace('"records": 1', '"records": 0'),
            log=settings.HUQAN_LOG_NAME,
            keys=checkpoints.public_keys().values(),
        )
    client.force_login(team.mallory.user)
    assert client.get(f"/proposals/{done.id}/certificate/").status_code == 404


def test_the_search_finds_a_text_that_is_still_there(team: Team) -> None:
    text = "A text that nobody erased, \u0131\u015f\u0131k and all."
    assert sweep.scan([text])["still_in"] == []
    known(team.scout, text, team.alice)
    assert sweep.scan([text])["still_in"] != []


def test_what_a_stopped_server_left_is_swept_by_the_worker(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = known(team.scout, "A secret of some length.", team.alice)
    with monkeypatch.context() as patch:
        patch.setattr(sweep, "clean_files", lambda: False)
        approve(ask("memory.erase", record.id, by=team.carol, reason="Article 17."), team.alice, team.bob)
    assert Erasure.objects.get().swept_at is None
    assert sweep.sweep_due() == 1
    assert Erasure.objects.get().swept_at is not None
    assert (sweep.sweep_due(), found("A secret of some length")) == (0, [])
