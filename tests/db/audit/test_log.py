"""Recording: an entry in the transaction of what it tells of, in its place, or nothing at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.conf import LazySettings
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test.utils import CaptureQueriesContext

from review.audit import chain, log
from review.audit.actions import Action
from review.audit.log import ObjectRef, record
from review.audit.models import Entry, Head, PrivateText
from review.audit.refusals import Unavailable
from review.audit.request_context import RequestContextMiddleware, current_request_id
from review.audit.transaction import write
from tests.db.audit.acts import ACME, ALICE, MAIL, SCOUT, did, did_several, tamper

pytestmark = pytest.mark.django_db


def members(entry: Entry) -> dict[str, Any]:
    return dict(json.loads(entry.canonical))


def wrote_and_failed() -> None:
    PrivateText.objects.create(seq=77, name="a mutation", salt=b"s", text="of somebody")
    record(Action.MEMORY_WRITTEN, actor=ALICE)
    raise ZeroDivisionError


def test_the_log_begins_with_its_own_creation(settings: LazySettings) -> None:
    first = Entry.objects.get(seq=0)
    assert first.action == "log.created"
    assert first.prev == chain.GENESIS
    assert members(first)["log"] == settings.HUQAN_LOG_NAME


def test_the_log_is_not_begun_twice() -> None:
    log.begin()
    assert Entry.objects.filter(action="log.created").count() == 1


def test_an_entry_continues_the_one_before_it() -> None:
    first, second = did(), did()
    assert second.seq == first.seq + 1
    assert members(second)["prev"] == second.prev == first.leaf
    assert chain.leaf_of(second.canonical).hex() == second.leaf


def test_the_head_row_keeps_the_tree_of_all_entries() -> None:
    did_several(6)
    frontier = chain.Frontier()
    for leaf in Entry.objects.order_by("seq").values_list("leaf", flat=True):
        frontier = frontier.append(bytes.fromhex(leaf)).frontier
    head = Head.objects.get()
    assert (head.size, head.frontier) == (7, frontier.text())


def test_an_entry_says_all_that_it_was_told() -> None:
    entry = did(
        Action.DECISION_APPROVED,
        object=ObjectRef("proposal", MAIL, 2),
        binding="b" * 64,
        shown="c" * 64,
        decision="approve",
        before={"status": "pending"},
        after={"status": "approved"},
        policy="sha256:" + "d" * 64,
        risk="high",
        conflict_set=[UUID(int=9), UUID(int=3)],
        on_behalf_of=UUID(int=5),
        proposal=MAIL,
        agent=UUID(int=7),
        tool="mail.send",
    )
    said = members(entry)
    assert said["actor"]["account"] == "alice"
    assert said["object"] == {"type": "proposal", "id": str(MAIL), "revision": 2}
    assert said["after"] == {"status": "approved", "agent": str(UUID(int=7)), "tool": "mail.send"}
    assert said["conflict_set"] == [str(UUID(int=3)), str(UUID(int=9))]
    assert said["on_behalf_of"] == str(UUID(int=5))
    assert said["workspace"] == entry.workspace == str(ACME)
    assert (said["v"], said["seq"], said["app_version"]) == (1, entry.seq, "0.1.0")
    assert {said[name] for name in ("binding", "shown", "decision", "policy", "risk")} == {
        "b" * 64,
        "c" * 64,
        "approve",
        "sha256:" + "d" * 64,
        "high",
    }


def test_an_entry_leaves_out_what_it_was_not_told() -> None:
    entry = did(actor=SCOUT, object=ObjectRef("proposal", MAIL), proposal=MAIL, agent=UUID(SCOUT.subject))
    assert set(members(entry)) == {
        *("v", "log", "seq", "prev", "time", "action", "actor", "object", "workspace", "app_version"),
    }


def test_what_a_person_wrote_is_kept_beside_the_entry_and_not_in_it() -> None:
    entry = did(Action.DECISION_REJECTED, private={"reason": "The invoice is forged."})
    kept = PrivateText.objects.get(seq=entry.seq)
    assert (kept.name, kept.text, len(bytes(kept.salt or b""))) == ("reason", "The invoice is forged.", 16)
    assert "forged" not in entry.canonical
    assert members(entry)["private"]["reason"] == chain.commitment(
        "The invoice is forged.", bytes(kept.salt or b"")
    )


def test_the_same_words_are_committed_to_with_another_salt() -> None:
    first, second = (did(private={"reason": "No."}) for _ in range(2))
    assert members(first)["private"] != members(second)["private"]


def test_time_never_goes_back() -> None:
    with time_machine.travel(datetime(2046, 11, 30, 12, 0, 0, 5, tzinfo=UTC), tick=False):
        assert did().stamp == "2046-11-30T12:00:00.000005Z"
    with time_machine.travel(datetime(2046, 11, 30, 11, tzinfo=UTC), tick=False):
        assert did().stamp == "2046-11-30T12:00:00.000005Z"
    with time_machine.travel(datetime(2046, 11, 30, 13, tzinfo=UTC), tick=False):
        assert did().time == datetime(2046, 11, 30, 13, tzinfo=UTC)


def test_nothing_is_recorded_outside_a_write() -> None:
    with pytest.raises(RuntimeError, match=r"inside write\(\)"):
        record(Action.AUDIT_READ, actor=ALICE)
    with transaction.atomic(), pytest.raises(RuntimeError, match=r"inside write\(\)"):
        record(Action.AUDIT_READ, actor=ALICE)
    assert Entry.objects.count() == 1


def test_several_entries_of_one_write_follow_each_other() -> None:
    with write():
        entries = [record(Action.FACT_REMOVED, actor=ALICE) for _ in range(5)]
    assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
    assert Head.objects.get().size == 6


def test_what_fails_later_takes_its_entry_with_it() -> None:
    with pytest.raises(ZeroDivisionError), write():
        wrote_and_failed()
    assert (Entry.objects.count(), Head.objects.get().size) == (1, 1)
    assert not PrivateText.objects.exists()
    assert did().seq == 1


def test_an_effect_that_is_rolled_back_inside_takes_only_its_own_entry() -> None:
    with write():
        record(Action.DECISION_APPROVED, actor=ALICE)
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            wrote_and_failed()
        record(Action.DECISION_REFUSED, actor=ALICE)
    assert list(Entry.objects.order_by("seq").values_list("action", flat=True)) == [
        "log.created",
        "decision.approved",
        "decision.refused",
    ]


def test_without_its_entry_nothing_else_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(entry: Entry) -> None:
        raise DatabaseError("database or disk is full")

    monkeypatch.setattr(log, "insert", full)
    with pytest.raises(Unavailable) as refusal, write():
        wrote_and_failed()
    assert refusal.value.status == 503
    assert "disk" not in refusal.value.detail
    assert not PrivateText.objects.filter(seq=77).exists()


def test_a_log_that_is_not_there_stops_every_mutation() -> None:
    tamper("DELETE FROM audit_head")
    with pytest.raises(Unavailable):
        did()


def test_recording_costs_three_statements_however_long_the_log_is() -> None:
    costs = []
    for _ in range(2):
        with write(), CaptureQueriesContext(connection) as queries:
            record(Action.PROPOSAL_PROPOSED, actor=ALICE, object=ObjectRef("proposal", MAIL))
        costs.append(len(queries))
        did_several(30)
    assert costs == [3, 3]


def test_a_private_text_costs_one_more() -> None:
    with write(), CaptureQueriesContext(connection) as queries:
        record(Action.DECISION_REJECTED, actor=ALICE, private={"reason": "No.", "detail": "Wrong account."})
    assert len(queries) == 4


def test_private_texts_are_erased_and_the_entry_stays() -> None:
    entry = did(private={"reason": "Ada lives at Quay 5.", "detail": "Ask her."})
    other = did(private={"reason": "Fine."})
    with write():
        assert log.erase_private_texts([entry.seq]) == 2
    kept = PrivateText.objects.filter(seq=entry.seq)
    assert [(text.text, text.salt) for text in kept] == [(None, None), (None, None)]
    assert PrivateText.objects.get(seq=other.seq).text == "Fine."
    assert Entry.objects.get(seq=entry.seq).canonical == entry.canonical


def test_private_texts_are_not_erased_outside_a_write() -> None:
    with pytest.raises(RuntimeError, match=r"inside write\(\)"):
        log.erase_private_texts([1])


def test_a_turn_is_taken_inside_a_write() -> None:
    with pytest.raises(RuntimeError, match=r"inside write\(\)"):
        log.take_turn()
    with write():
        log.take_turn()
        assert record(Action.MEMORY_WRITTEN, actor=ALICE).seq == 1


def test_a_request_is_named_in_its_entries() -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        return HttpResponse(did().canonical)

    request = HttpRequest()
    request.META["HTTP_X_REQUEST_ID"] = "chosen by the client"
    response = RequestContextMiddleware(answer)(request)
    assert json.loads(response.content)["request_id"] == response["X-Request-Id"]  # type: ignore[attr-defined]
    assert response["X-Request-Id"] != "chosen by the client"
    assert current_request_id() is None


def test_an_empty_reason_is_no_reason() -> None:
    entry = did(private={"reason": ""})
    assert "private" not in members(entry)
    assert not PrivateText.objects.filter(seq=entry.seq).exists()
