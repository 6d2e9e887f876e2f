"""An older copy of the database comes up with all in force that was rejected, erased and revoked since."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from memory.gateway.ask import ask
from memory.models import Erasure, Tombstone
from memory.queries import replay
from review.access.models import Agent, AgentToken, Membership, Person
from review.access.roles import Role
from review.access.services.agents import resume_agent, stop_agent
from review.access.services.memberships import revoke_membership
from review.access.services.minting import revoke_token
from review.access.services.people import disable_person
from review.audit import withdrawn
from review.audit.models import Entry, PrivateText
from review.domain.refusals import Tombstoned
from review.models import Proposal, Revision
from tests.support.factories import Team
from tests.support.memory_acts import approve, known, recalled, reject, remember
from tests.support.tampering import guards_down

SAID = "Zeliha Karaca lives at 14 Marker Lane."


@pytest.fixture(autouse=True)
def own_witness(tmp_path: Path, settings: LazySettings) -> Path:
    settings.HUQAN_WITNESS_FILE = tmp_path / "witness.txt"
    return tmp_path / "withdrawn.jsonl"


def forgotten(*rows: Any) -> None:
    """Be an older copy of the database: `rows` stand as they stood when they were read."""
    with guards_down():
        for row in rows:
            row.save(force_update=True)


def actions_since(seq: int) -> list[str]:
    return list(Entry.objects.filter(seq__gt=seq).order_by("seq").values_list("action", flat=True))


def last() -> int:
    return Entry.objects.order_by("-seq").values_list("seq", flat=True)[0]


def test_an_erasure_is_done_again_before_anybody_reads(team: Team, own_witness: Path) -> None:
    record = known(team.scout, SAID, team.alice, subject="Zeliha Karaca")
    proposal = Proposal.objects.get(id=record.proposal_id)
    revision = Revision.objects.get(proposal=proposal)
    text = PrivateText.objects.filter(text__isnull=False)[0]
    done = approve(ask("memory.erase", record.id, by=team.carol, reason="Article 17."), team.alice, team.bob)
    withdrawn.catch_up()
    assert "Zeliha" not in own_witness.read_text() and "Marker" not in own_witness.read_text()
    with guards_down():
        Erasure.objects.all().delete()
        Tombstone.objects.all().delete()
    forgotten(record, proposal, revision, text)
    assert recalled(team.scout) == [SAID]
    since = last()
    assert withdrawn.enforce() == 2
    assert recalled(team.scout) == []
    record.refresh_from_db()
    revision.refresh_from_db()
    assert (record.lifecycle, record.content, revision.arguments) == ("erased", "", "{}")
    assert not PrivateText.objects.filter(seq=text.seq, text__isnull=False).exists()
    assert set(actions_since(since)) == {"memory.erased", "tombstone.created"}
    assert Erasure.objects.get().id == done.id
    with pytest.raises(Tombstoned):
        remember(team.scout, SAID)
    assert [fault for fault in [*replay.records(), *replay.tombstones()] if fault] == []
    assert withdrawn.enforce() == 0


def test_a_rejected_value_stays_rejected_and_a_lifted_one_lifted(team: Team) -> None:
    reject(remember(team.scout, SAID), team.alice, tombstone=True)
    tombstone = Tombstone.objects.get()
    withdrawn.catch_up()
    with guards_down():
        tombstone.delete()
    assert remember(team.scout, SAID.upper()).status == "pending"
    since = last()
    assert withdrawn.enforce() == 1
    assert actions_since(since) == ["tombstone.created"]
    with pytest.raises(Tombstoned):
        remember(team.scout, f"{SAID}!")
    assert Tombstone.objects.get().value_key == tombstone.value_key
    assert [fault for fault in replay.tombstones() if fault] == []


def test_a_revoked_token_a_disabled_person_an_ended_role_and_a_stopped_agent_stay_so(team: Team) -> None:
    token = AgentToken.objects.get(id=team.scout.token.id)
    person = Person.objects.get(id=team.carol.person.id)
    membership = Membership.objects.get(person=team.alice.person, role=Role.REVIEWER)
    agent = Agent.objects.get(id=team.scout.agent.id)
    waiting = remember(team.scout, SAID)
    stop_agent(agent.id, reason="It went wild.", by=team.dana)
    revoke_token(token.id, by=team.dana)
    disable_person(person.id, by=team.dana)
    revoke_membership(membership.id, by=team.dana)
    withdrawn.catch_up()
    waiting_then = Proposal.objects.get(id=waiting.id)
    waiting_then.status, waiting_then.reason, waiting_then.decided_at = "pending", None, None
    forgotten(token, person, membership, agent, waiting_then)
    since = last()
    assert withdrawn.enforce() == 4
    for row in (token, person, membership, agent, waiting_then):
        row.refresh_from_db()
    assert token.revoked_at and person.disabled_at and agent.stopped_at
    assert membership.until is not None and membership.until < timezone.now() + timedelta(seconds=1)
    assert waiting_then.status == "withdrawn"
    told = actions_since(since)
    assert sorted(action for action in told if not action.startswith("proposal")) == [
        "agent.stopped",
        "membership.revoked",
        "person.disabled",
        "token.revoked",
    ]
    assert withdrawn.enforce() == 0


def test_an_agent_that_a_manager_let_run_again_is_not_stopped_again(team: Team) -> None:
    agent = team.scout.agent
    stop_agent(agent.id, reason="It went wild.", by=team.dana)
    withdrawn.catch_up()
    resume_agent(agent.id, by=team.erin)
    withdrawn.catch_up()
    assert withdrawn.enforce() == 0
    assert [json.loads(json.dumps(line))["stopped"] for line in withdrawn.lines()] == [True, False]


def test_an_older_copy_that_is_written_to_does_not_make_the_file_forget(team: Team) -> None:
    agent = Agent.objects.get(id=team.scout.agent.id)
    stop_agent(agent.id, reason="It went wild.", by=team.dana)
    resume_agent(agent.id, by=team.erin)
    running = Agent.objects.get(id=agent.id)
    stop_agent(agent.id, reason="Again.", by=team.dana)
    withdrawn.catch_up()
    forgotten(running)
    withdrawn.catch_up()
    assert withdrawn.enforce() == 1
    assert Agent.objects.get(id=agent.id).stopped_at is not None


def test_without_the_file_or_with_lines_of_nothing_known_nothing_is_done(
    team: Team, own_witness: Path
) -> None:
    assert withdrawn.enforce() == 0
    own_witness.write_text('{"id":"x","time":"","v":1,"what":"a thing of tomorrow"}\n[]\n{"cut')
    assert withdrawn.enforce() == 0
    assert known(team.scout, SAID, team.alice).lifecycle == "active"
