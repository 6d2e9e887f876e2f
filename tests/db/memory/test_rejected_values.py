"""The list of rejected values says why each was, and who tried it again."""

from __future__ import annotations

import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memory.gateway.ask import ask_to_lift
from memory.models import Tombstone
from review.access.actors import PersonActor
from review.domain.refusals import Inactive, Tombstoned
from tests.support import factories
from tests.support.factories import Team
from tests.support.memory_acts import approve, asked, known, reject, remember, reword

PORT = "The staging port is 7443."
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


def listed(who: PersonActor) -> str:
    """What a reader sees of the list: no tags, single spaces."""
    client = Client()
    client.force_login(who.user)
    shown = client.get("/memory/rejected/").content.decode()
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", shown)).split())


def try_again(agent: factories.AgentActor, content: str = PORT) -> None:
    with pytest.raises(Tombstoned):
        remember(agent, content)


@pytest.fixture
def rejected(team: Team) -> Tombstone:
    reject(remember(team.scout, PORT), team.alice, tombstone=True)
    return Tombstone.objects.get()


def test_why_it_was_rejected_stands_beside_it(team: Team, rejected: Tombstone) -> None:
    assert "Because." in listed(team.alice)


def test_why_it_was_retracted_stands_beside_it(team: Team) -> None:
    record = known(team.scout, PORT, team.alice)
    approve(asked(team.alice, "memory.retract", record, "It moved to 8443."), team.carol)
    assert "It moved to 8443." in listed(team.alice)


def test_a_reason_gives_no_secret_away(team: Team) -> None:
    record = known(team.scout, PORT, team.alice)
    approve(asked(team.alice, "memory.retract", record, f"It was {KEY}."), team.carol)
    assert KEY not in listed(team.alice)


def test_who_tried_it_again_is_said_with_how_often(team: Team, rejected: Tombstone) -> None:
    assert "never" in listed(team.alice)
    ranger = factories.agent("ranger", team.acme, owner=team.erin)
    try_again(team.scout)
    assert "once last by scout" in listed(team.alice)
    with pytest.raises(Tombstoned):
        reword(team.scout, remember(team.scout, "Something else."), PORT.upper())
    try_again(ranger, PORT.casefold())
    assert "3 times last by ranger" in listed(team.alice)


def test_what_another_workspace_says_is_no_try(team: Team, rejected: Tombstone) -> None:
    remember(team.prowler, PORT)
    assert "never" in listed(team.alice)


def test_asking_twice_to_lift_it_is_no_try(team: Team, rejected: Tombstone) -> None:
    approve(ask_to_lift(rejected.id, by=team.carol, reason="It is right again."), team.alice)
    with pytest.raises(Inactive):
        ask_to_lift(rejected.id, by=team.carol, reason="It is right again.")
    assert "never" in listed(team.alice)


def test_a_long_list_asks_no_more_questions_than_a_short_one(team: Team, rejected: Tombstone) -> None:
    def asked_for() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            listed(team.alice)
        return len(queries)

    try_again(team.scout)
    few = asked_for()
    for n in range(4):
        reject(remember(team.scout, f"Wrong {n}."), team.alice, tombstone=True)
        try_again(team.scout, f"Wrong {n}.")
    assert asked_for() == few
