"""What the gate hears about a memory, and what the page says approving would do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory.effects import MemoryWrite
from review.access.models import AgentToken
from review.domain.gate import Outcome
from review.domain.refusals import Invalid
from review.effects import Submission
from review.models import Proposal
from tests.support.factories import Team
from tests.support.memory_acts import arguments_of, doubtful, known, remember

PORT = "The staging port is 7443."
ABOUT = {"subject": "staging port", "predicate": "is"}


def codes(team: Team, **arguments: Any) -> dict[str, Outcome]:
    said = {"provenance": {"kind": "user", "ref": "ticket-1"}, **arguments}
    submission = Submission(team.acme, team.scout.agent, said, "low", timezone.now())
    return {signal.code: signal.outcome for signal in MemoryWrite().signals(submission)}


def preview(proposal: Proposal) -> list[tuple[str, str, str]]:
    return [tuple(row[:3]) for row in MemoryWrite().preview(proposal, arguments_of(proposal))]


def test_a_plain_new_memory_raises_no_signal(team: Team) -> None:
    assert codes(team, content=PORT) == {}


def test_what_is_known_already_corroborates(team: Team) -> None:
    known(team.scout, PORT, team.alice)
    assert codes(team, content=PORT.upper()) == {"corroborates": Outcome.ALLOW}


def test_another_value_for_the_same_subject_is_a_conflict(team: Team) -> None:
    known(team.scout, PORT, team.alice, **ABOUT)
    assert codes(team, content="It is 7444.", subject="Staging  Port", predicate="is") == {
        "conflict": Outcome.REVIEW
    }


@pytest.mark.parametrize(
    "other",
    [{}, {"subject": "staging port"}, {"subject": "production port", "predicate": "is"}],
)
def test_what_is_not_about_the_same_is_no_conflict(team: Team, other: dict[str, str]) -> None:
    known(team.scout, PORT, team.alice, **ABOUT)
    assert codes(team, content="It is 7444.", **other) == {}


def test_what_holds_at_another_time_is_no_conflict(team: Team) -> None:
    known(team.scout, PORT, team.alice, **ABOUT, valid_to="2021-01-01T00:00:00Z")
    later = {"content": "It is 7444.", **ABOUT, "valid_from": "2021-01-01T00:00:00Z"}
    assert codes(team, **later) == {}
    assert codes(team, **{**later, "valid_from": "2020-12-31T00:00:00Z"}) == {"conflict": Outcome.REVIEW}


def test_what_is_held_contradicts_nothing(team: Team) -> None:
    doubtful(team.scout, PORT, **ABOUT)
    assert codes(team, content="It is 7444.", **ABOUT) == {}


@pytest.mark.parametrize(
    ("times", "pointer"),
    [
        ({"valid_from": "2026-12-07T10:00:60Z"}, "/arguments/valid_from"),
        ({"expires_at": "2026-12-07"}, "/arguments/expires_at"),
        ({"valid_from": "2026-12-07T10:00:00Z", "valid_to": "2026-12-07T10:00:00Z"}, "/arguments/valid_to"),
    ],
)
def test_times_that_mean_nothing_are_refused_where_they_stand(
    team: Team, times: dict[str, str], pointer: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        remember(team.scout, PORT, **times)
    assert [error.pointer for error in refusal.value.errors] == [pointer]


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"trust": "trusted"}, "/arguments/trust"),
        ({"confidence": "0.9"}, "/arguments/confidence"),
        ({"confidence": True}, "/arguments/confidence"),
        ({"confidence": 1.1}, "/arguments/confidence"),
        ({"untrusted": "no"}, "/arguments/untrusted"),
        ({"lang": "de"}, "/arguments/lang"),
        ({"provenance": {"ref": "x"}}, "/arguments/provenance/kind"),
        ({"provenance": {"kind": "user", "agent": "alice"}}, "/arguments/provenance/agent"),
        ({"provenance": {"kind": "user", "derived_from": ["1"]}}, "/arguments/provenance/derived_from/0"),
    ],
)
def test_arguments_are_a_closed_schema(team: Team, wrong: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refusal:
        remember(team.scout, PORT, **wrong)
    assert {error.pointer for error in refusal.value.errors} == {pointer}


# What approving would do.


def test_the_page_says_that_a_record_is_made_and_who_can_recall_it(team: Team) -> None:
    assert preview(remember(team.scout, PORT)) == [
        ("New record", "Does not exist", "Active, trusted. Source: user, ticket-1"),
        ("Recall", "No agent can recall it", "1 agent can recall it"),
    ]


def test_the_page_says_that_nothing_new_is_made_of_what_is_known(team: Team) -> None:
    record = known(team.scout, PORT, team.alice)
    rows = preview(remember(team.scout, PORT))
    assert rows[0] == (
        f"Record {record.id}, which says the same",
        "Active, trusted",
        "The same record with one more source: user, ticket-1",
    )
    assert rows[1][1] == rows[1][2] == "1 agent can recall it"


def test_the_page_says_that_a_held_text_becomes_readable(team: Team) -> None:
    assert preview(doubtful(team.scout, PORT))[0][:2] == ("Held record", "In quarantine: no agent reads it")


def test_the_page_names_what_the_text_contradicts(team: Team) -> None:
    known(team.scout, PORT, team.alice, **ABOUT)
    rows = preview(remember(team.scout, "It is 7444.", **ABOUT))
    assert rows[-1][0] == "A record that says something else"


@pytest.mark.parametrize(
    "token",
    [
        {"scopes": ["propose"]},
        {"revoked_at": timezone.now()},
        {"created_at": timezone.now() - timedelta(days=2), "expires_at": timezone.now() - timedelta(days=1)},
    ],
)
def test_only_agents_that_may_read_count_as_readers(team: Team, token: dict[str, Any]) -> None:
    proposal = remember(team.scout, PORT)
    AgentToken.objects.filter(id=team.scout.token.id).update(**token)
    assert preview(proposal)[1][2] == "0 agents can recall it"
