"""A rejected value is lifted by people only, with a reason, and by others than who asks for it."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from memory.gateway.ask import ask_to_lift
from memory.models import Tombstone
from memory.queries import replay
from review.access.actors import PersonActor
from review.audit import withdrawn
from review.audit.models import Entry
from review.domain.refusals import (
    Blocked,
    Inactive,
    NotEligible,
    NotFound,
    ReasonRequired,
    SelfApproval,
    StaleBinding,
    Tombstoned,
)
from review.models import Proposal
from tests.support.factories import Team
from tests.support.memory_acts import approve, arguments_of, recalled, reject, remember
from tests.support.pages import browser
from tests.support.review_acts import call
from tests.support.tampering import guards_down

PORT = "The staging port is 7443."


@pytest.fixture
def rejected(team: Team) -> Tombstone:
    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    return Tombstone.objects.get()


def lifting(person: PersonActor, tombstone: Tombstone, reason: str = "It is right again.") -> Proposal:
    return ask_to_lift(tombstone.id, by=person, reason=reason)


def test_once_others_agree_the_value_may_be_proposed_and_nothing_is_remembered(
    team: Team, rejected: Tombstone
) -> None:
    waiting = lifting(team.carol, rejected)
    assert (waiting.status, waiting.kind, waiting.risk) == ("pending", "memory_release", "high")
    with pytest.raises(Tombstoned):
        remember(team.scout, PORT)
    done = approve(waiting, team.bob)
    assert done.outcome == {"result": "succeeded", "tombstone": str(rejected.id)}
    assert recalled(team.scout) == []
    assert remember(team.scout, PORT.upper()).status == "pending"
    told = Entry.objects.filter(object_type="tombstone", object_id=str(rejected.id)).order_by("seq")
    assert list(told.values_list("action", flat=True)) == ["tombstone.created", "tombstone.lifted"]
    assert [fault for fault in replay.tombstones() if fault] == []


def test_who_asks_for_it_cannot_approve_it(team: Team, rejected: Tombstone) -> None:
    with pytest.raises(SelfApproval):
        approve(lifting(team.carol, rejected), team.carol)


def test_an_agent_cannot_ask_for_it(team: Team, rejected: Tombstone) -> None:
    with pytest.raises(Blocked):
        call(team.scout, "tombstone.lift", {"tombstone": str(rejected.id), "reason": "Please."})


def test_only_a_reviewer_of_its_workspace_asks_for_it_and_says_why(team: Team, rejected: Tombstone) -> None:
    with pytest.raises(ReasonRequired):
        lifting(team.carol, rejected, " ")
    with pytest.raises(NotEligible):
        lifting(team.dana, rejected)
    with pytest.raises(NotFound):
        lifting(team.mallory, rejected)
    with pytest.raises(NotFound):
        ask_to_lift(uuid4(), by=team.carol, reason="Because.")
    assert lifting(team.carol, rejected).status == "pending"


def test_it_is_lifted_once(team: Team, rejected: Tombstone) -> None:
    first, second = lifting(team.carol, rejected), lifting(team.bob, rejected)
    approve(first, team.alice)
    with pytest.raises(StaleBinding):
        approve(second, team.alice)
    with pytest.raises(Inactive):
        lifting(team.carol, rejected, "Again.")


def test_rejected_again_it_has_a_tombstone_of_its_own(team: Team, rejected: Tombstone) -> None:
    approve(lifting(team.carol, rejected), team.bob)
    reject(remember(team.scout, PORT.upper()), team.alice, tombstone=True)
    assert Tombstone.objects.standing(team.acme.id).count() == 1
    with pytest.raises(Tombstoned):
        remember(team.scout, PORT)


def test_a_tombstone_that_was_lifted_behind_the_gateways_back_is_named(
    team: Team, rejected: Tombstone
) -> None:
    Tombstone.objects.filter(id=rejected.id).update(lifted_at=rejected.created_at)
    assert [str(rejected.id) in fault for fault in replay.tombstones() if fault] == [True]


def test_a_lifting_that_was_undone_by_hand_is_named(team: Team, rejected: Tombstone) -> None:
    approve(lifting(team.carol, rejected), team.bob)
    with guards_down():
        Tombstone.objects.filter(id=rejected.id).update(lifted_at=None)
    assert [str(rejected.id) in fault for fault in replay.tombstones() if fault] == [True]


def test_the_file_outside_the_database_knows_that_it_was_lifted(
    team: Team,
    rejected: Tombstone,
    tmp_path_factory: pytest.TempPathFactory,
    settings: LazySettings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.HUQAN_WITNESS_FILE = tmp_path_factory.mktemp("witness") / "checkpoints.txt"
    withdrawn.catch_up()
    with django_capture_on_commit_callbacks(execute=True):
        approve(lifting(team.carol, rejected), team.bob)
    assert [(line["what"], line["id"]) for line in withdrawn.lines()] == [
        ("tombstone", str(rejected.id)),
        ("lifted", str(rejected.id)),
    ]


# The pages.


def test_rejected_values_are_listed_with_who_rejected_them(team: Team, rejected: Tombstone) -> None:
    assert "/memory/rejected/" in browser(team.alice).get("/memory/").content.decode()
    page = browser(team.carol).get("/memory/rejected/").content.decode()
    for said in (PORT, "alice", f"/memory/rejected/{rejected.id}/lift/"):
        assert said in page
    assert "/lift/" not in browser(team.dana).get("/memory/rejected/").content.decode()
    assert "7443" not in browser(team.mallory).get("/memory/rejected/").content.decode()


def test_a_reviewer_proposes_from_the_page_that_one_is_lifted(team: Team, rejected: Tombstone) -> None:
    client, address = browser(team.carol), f"/memory/rejected/{rejected.id}/lift/"
    assert "Can be proposed again" in client.get(address).content.decode()
    assert client.post(address, {"reason": " "}).status_code == 422
    answer = client.post(address, {"reason": "It is right again."})
    made = Proposal.objects.get(tool="tombstone.lift")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/proposals/{made.id}/")
    assert arguments_of(made) == {"tombstone": str(rejected.id), "reason": "It is right again."}
    shown = browser(team.bob).get(f"/proposals/{made.id}/").content.decode()
    assert "Can be proposed again" in shown and "7443" in shown
    approve(made, team.bob)
    assert 'name="reason"' not in client.get(address).content.decode()
    assert browser(team.mallory).get(address).status_code == 404


def test_nobody_sees_them_without_signing_in(team: Team, rejected: Tombstone) -> None:
    for address in ("/memory/rejected/", f"/memory/rejected/{rejected.id}/lift/"):
        assert Client().get(address).status_code == 302
