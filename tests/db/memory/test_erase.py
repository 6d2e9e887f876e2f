"""What was erased is nowhere any more, two others than who asked agreed to it, and the trail still verifies."""

from __future__ import annotations

import json
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.test import Client

from memory.gateway.ask import ask, ask_to_erase
from memory.models import MemoryRecord, RecordEvidence, Tombstone
from memory.queries import replay
from review.access.actors import PersonActor
from review.audit.models import Entry, PrivateText
from review.domain.refusals import (
    Blocked,
    NotEligible,
    NotFound,
    ReasonRequired,
    SelfApproval,
    Tombstoned,
)
from review.models import Decision, Proposal, Revision, SavedView
from review.services.comment import comment
from review.services.propose import Draft, propose
from review.services.saved_view import save_view
from tests.support.factories import Team, bearer
from tests.support.memory_acts import (
    WEB,
    answer,
    approve,
    asked,
    doubtful,
    known,
    recalled,
    reject,
    remember,
    retracting,
    reword,
)
from tests.support.pages import browser
from tests.support.review_acts import call

SAID = "Zeliha Karaca lives at 14 Marker Lane."
OTHER = "The staging port is 7443."
ERASE = "memory.erase"


def erasing(
    person: PersonActor, record: MemoryRecord, reason: str = "A request under article 17."
) -> Proposal:
    return ask(ERASE, record.id, by=person, reason=reason)


def erased(team: Team, record: MemoryRecord) -> Proposal:
    return approve(erasing(team.carol, record), team.alice, team.bob)


def traces(*needles: str) -> list[str]:
    """The tables of which a row holds one of `needles`, but for those that tell of the erasure itself."""
    from django.apps import apps

    rows = ((model, repr(row)) for model in apps.get_models() for row in model._default_manager.values())
    return sorted({model._meta.db_table for model, row in rows if any(needle in row for needle in needles)})


def test_two_others_agree_and_the_text_is_in_no_table(team: Team) -> None:
    record = known(team.scout, SAID, team.alice, subject="Zeliha Karaca", predicate="address")
    assert traces("Marker Lane") and traces("Zeliha")
    waiting = approve(erasing(team.carol, record), team.alice)
    assert (waiting.status, waiting.kind, waiting.risk) == ("pending", "memory_retire", "high")
    assert recalled(team.scout) == [SAID]
    done = answer(team.bob, waiting, "approve")
    record.refresh_from_db()
    assert (done.status, record.lifecycle, record.content) == ("executed", "erased", "")
    assert recalled(team.scout) == []
    assert traces("Marker Lane", "Zeliha", "zeliha", "marker") == []
    assert [fault for fault in [*replay.records(), *replay.tombstones()] if fault] == []


def test_who_asks_for_it_cannot_approve_it_and_one_approval_is_too_few(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    waiting = erasing(team.carol, record)
    with pytest.raises(SelfApproval):
        approve(waiting, team.carol)
    assert approve(waiting, team.alice).status == "pending"
    record.refresh_from_db()
    assert record.content == SAID


def test_an_agent_cannot_ask_for_it(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    with pytest.raises(Blocked):
        call(team.scout, ERASE, {"record": str(record.id), "reason": "Please."})


def test_only_a_reviewer_of_its_workspace_asks_for_it_and_says_why(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    with pytest.raises(ReasonRequired):
        erasing(team.carol, record, " ")
    with pytest.raises(NotEligible):
        erasing(team.dana, record)
    for stranger, about in ((team.mallory, record.id), (team.carol, uuid4())):
        with pytest.raises(NotFound):
            ask(ERASE, about, by=stranger, reason="Because.")
    assert erasing(team.carol, record).status == "pending"


def test_siblings_stay_and_what_rests_on_it_falls_silent(team: Team) -> None:
    record = known(team.scout, SAID, team.alice, subject="Zeliha Karaca", predicate="address")
    known(team.scout, OTHER, team.alice)
    rests = {"kind": "user", "ref": "ticket-2", "derived_from": [str(record.id)]}
    known(team.scout, "The delivery goes to the lane.", team.alice, provenance=rests)
    beside = known(
        team.scout, "Zeliha Karaca is a driver.", team.alice, subject="Zeliha Karaca", predicate="job"
    )
    erased(team, record)
    assert sorted(recalled(team.scout)) == sorted([OTHER, beside.content])
    assert [fault for fault in replay.records() if fault] == []


def test_every_place_that_said_it_goes(team: Team) -> None:
    """Repeated, revised, rejected, withdrawn from quarantine, retracted with a reason, replaced: all of it."""
    record = known(team.scout, SAID, team.alice, subject="Zeliha Karaca", predicate="address")
    approve(remember(team.scout, SAID.upper()), team.alice)
    assert RecordEvidence.objects.count() == 1
    evidence = [{"title": "Marker Lane letter", "ref": "Marker Lane", "text": SAID}]
    draft = Draft(
        "memory.write", {"content": SAID, "provenance": {"kind": "user"}}, rationale=SAID, evidence=evidence
    )
    reject(propose(draft, by=team.scout).proposal, team.alice)
    held = doubtful(team.scout, SAID)
    reword(team.scout, remember(team.scout, f"{SAID} "), OTHER)
    kept = MemoryRecord.objects.get(content=SAID, proposal=held)
    superseding = propose(
        Draft(
            "memory.supersede",
            {"record": str(record.id), "content": "She has moved.", "provenance": WEB | {"kind": "user"}},
            rationale="Not Marker Lane.",
        ),
        by=team.scout,
    ).proposal
    approve(superseding, team.alice)
    waiting = retracting(
        team.scout, MemoryRecord.objects.get(content="She has moved."), "Marker Lane was right."
    )
    comment(superseding.id, by=team.alice, text="Marker Lane? She told me otherwise.")
    before = traces("Marker Lane")
    assert {
        "review_comment",
        "memory_memoryrecord",
        "review_revision",
        "review_proposal",
        "audit_private_text",
    } <= set(before)
    erased(team, record)
    held.refresh_from_db()
    kept.refresh_from_db()
    superseding.refresh_from_db()
    assert (held.status, kept.lifecycle, kept.content) == ("rejected", "erased", "")
    assert (superseding.erased_by is not None, superseding.status) == (True, "executed")
    assert recalled(team.scout) == ["She has moved."]
    assert MemoryRecord.objects.get(content="She has moved.").lifecycle == "active"
    waiting.refresh_from_db()
    assert waiting.status == "pending"
    reject(waiting, team.alice)
    assert [table for table in traces("MARKER LANE", "14 Marker", "Not Marker") if table] == []
    assert [fault for fault in [*replay.records(), *replay.tombstones()] if fault] == []


def test_a_saved_view_that_says_it_or_leads_to_its_like_goes_and_others_stay(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    like = record.proposal.same_key
    stranger = save_view("Elsewhere", urlencode({"q": SAID}), by=team.mallory)
    kept = save_view("Order", urlencode({"q": OTHER}), by=team.alice)
    save_view("Typed", urlencode({"view": "others", "q": f"about {SAID.upper()}"}), by=team.alice)
    save_view(SAID[:40], "risk=high", by=team.carol)
    save_view("Alike", urlencode({"alike": like}), by=team.dana)
    erased(team, record)
    assert {view.pk for view in SavedView.objects.all()} == {stranger.pk, kept.pk}


def test_an_erased_value_does_not_come_back(team: Team) -> None:
    erased(team, known(team.scout, SAID, team.alice))
    with pytest.raises(Tombstoned):
        remember(team.scout, SAID.upper())
    assert remember(team.scout, "Zeliha Karaca lives at 15 Marker Lane.").status == "pending"
    assert Tombstone.objects.count() == 1


def test_all_about_somebody_goes_by_subject_and_by_reference_and_nothing_else(team: Team) -> None:
    first = known(team.scout, SAID, team.alice, subject="Zeliha Karaca")
    second = known(
        team.scout, "She pays in cash.", team.alice, provenance={"kind": "user", "ref": "zeliha karaca"}
    )
    asked = remember(team.scout, "She has a dog.", subject="ZELIHA KARACA")
    other = known(team.scout, OTHER, team.alice, subject="Zeliha Karaca Junior")
    waiting = ask_to_erase("zeliha KARACA", team.acme.id, by=team.carol, reason="Article 17.")
    assert "eliha" not in json.dumps(
        [waiting.summary, *Revision.objects.filter(proposal=waiting).values_list("arguments", flat=True)]
    )
    done = approve(waiting, team.alice, team.bob)
    assert done.outcome is not None and (done.outcome["records"], done.outcome["proposals"]) == (2, 3)
    first.refresh_from_db()
    second.refresh_from_db()
    asked.refresh_from_db()
    assert (first.lifecycle, second.lifecycle, asked.status) == ("erased", "erased", "rejected")
    assert recalled(team.scout) == [other.content]
    with pytest.raises(NotFound):
        ask_to_erase("Zeliha Karaca", team.acme.id, by=team.carol, reason="Once more.")


def test_the_entries_stay_and_say_that_their_private_texts_are_gone(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    told = Entry.objects.filter(proposal=str(record.proposal_id)).count()
    assert PrivateText.objects.filter(text__isnull=False).exists()
    done = erased(team, record)
    of_it = Entry.objects.filter(proposal=str(record.proposal_id))
    assert of_it.count() == told + 1
    assert not PrivateText.objects.filter(seq__in=of_it.values("seq"), text__isnull=False).exists()
    assert not Decision.objects.filter(proposal=record.proposal).exclude(reason="").exists()
    assert Decision.objects.filter(proposal=done).exclude(reason="").count() == 2


def test_no_page_of_what_was_erased_breaks_and_each_says_by_what(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    held = doubtful(team.scout, SAID)
    done = erased(team, record)
    alice = browser(team.alice)
    for address in (
        f"/proposals/{record.proposal_id}/",
        f"/quarantine/{held.id}/",
        f"/proposals/{held.id}/",
        f"/memory/{record.id}/",
    ):
        page = alice.get(address, follow=True)
        assert page.status_code == 200, address
        assert "Erased on" in page.content.decode(), address
        assert f"/proposals/{done.id}/" in page.content.decode(), address
        assert "Marker Lane" not in page.content.decode(), address
    for address in ("/memory/", "/memory/rejected/", "/quarantine/", "/decided/", f"/proposals/{done.id}/"):
        assert alice.get(address, follow=True).status_code in (200, 404), address


def test_the_form_shows_what_goes_and_proposes_it_once_a_reason_is_given(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    carol = browser(team.carol)
    page = carol.get(f"/memory/{record.id}/erase/").content.decode()
    assert "Erased for good" in page and "Backups and exports made before" in page
    assert carol.post(f"/memory/{record.id}/erase/", {"reason": ""}).status_code == 422
    sent = carol.post(f"/memory/{record.id}/erase/", {"reason": "Article 17."})
    assert sent.status_code == 302
    assert "Erased for good" in carol.get(sent["Location"]).content.decode()
    assert browser(team.mallory).get(f"/memory/{record.id}/erase/").status_code == 404


def test_all_about_somebody_is_asked_for_after_it_was_shown_and_no_address_names_him(team: Team) -> None:
    known(team.scout, SAID, team.alice, subject="Zeliha Karaca")
    carol = browser(team.carol)
    shown = carol.post("/memory/erase/", {"label": "zeliha karaca", "reason": "Article 17."})
    assert shown.status_code == 200 and "Marker Lane" in shown.content.decode()
    assert not Proposal.objects.filter(tool=ERASE).exists()
    sent = carol.post(
        "/memory/erase/", {"label": "zeliha karaca", "shown": "zeliha karaca", "reason": "Article 17."}
    )
    assert sent.status_code == 302 and "zeliha" not in sent["Location"]
    none = carol.post("/memory/erase/", {"label": "nobody", "reason": ""})
    assert "Nothing here carries it" in none.content.decode()
    assert browser(team.dana).get("/memory/erase/").status_code == 404


def test_what_a_reviewer_set_aside_is_erased_with_the_release_that_waited_for_it(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    waiting = asked(team.alice, "memory.release", record, "Marker Lane looks wrong.")
    done = approve(erasing(team.carol, record), team.alice, team.bob)
    waiting.refresh_from_db()
    record.refresh_from_db()
    assert (waiting.status, waiting.erased_by, record.lifecycle) == ("rejected", done.id, "erased")
    assert traces("Marker Lane") == []
    alice = browser(team.alice)
    for address in (f"/quarantine/{waiting.id}/", f"/proposals/{waiting.id}/", f"/memory/{record.id}/"):
        page = alice.get(address, follow=True)
        assert page.status_code == 200 and "Erased on" in page.content.decode(), address
    assert alice.get("/quarantine/").status_code == 200
    assert [fault for fault in [*replay.records(), *replay.tombstones()] if fault] == []


def test_the_trail_says_that_a_private_text_was_erased(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    spoken = PrivateText.objects.filter(
        seq__in=Entry.objects.filter(proposal=str(record.proposal_id)).values("seq")
    )
    seq = spoken.values_list("seq", flat=True)[0]
    erased(team, record)
    page = browser(team.dana).get(f"/audit/{seq}/")
    assert page.status_code == 200
    assert "Erased. The commitment in the entry stays" in page.content.decode()


def test_an_agent_reads_of_its_own_erased_proposal_that_it_was_erased(team: Team) -> None:
    record = known(team.scout, SAID, team.alice)
    done = erased(team, record)
    answer = Client().get(f"/api/v1/proposals/{record.proposal_id}", **bearer(team.scout))
    assert answer.status_code == 200
    told = answer.json()
    assert (told["arguments"], told["status"]) == ({}, "executed")
    assert str(done.id) in told["reason"]
