"""What an entry says about who acted and what it can be found by."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest

from review.audit.actions import ACCOUNT, ANCHORED, DECISIVE, Action
from review.audit.actors import SYSTEM, AuditActor
from review.audit.index import columns

PROPOSAL = "0190a1b2-0000-7000-8000-0000000000aa"
AGENT = "0190a1b2-0000-7000-8000-0000000000b1"
PERSON = "0190a1b2-0000-7000-8000-0000000000c1"
WORKSPACE = "0190a1b2-0000-7000-8000-000000000001"


def test_a_person_is_written_down_with_how_and_when_she_signed_in() -> None:
    izmir = timezone(timedelta(hours=3))
    alice = AuditActor(
        kind="person",
        person=UUID(PERSON),
        account="alice",
        issuer="local",
        subject="7",
        session="s-1",
        methods=("pwd", "hwk"),
        auth_time=datetime(2026, 11, 30, 16, 22, 40, 999, tzinfo=izmir),
    )
    assert {name: value for name, value in alice.members().items() if value} == {
        "kind": "person",
        "person": PERSON,
        "account": "alice",
        "issuer": "local",
        "subject": "7",
        "session": "s-1",
        "methods": ["pwd", "hwk"],
        "auth_time": "2026-11-30T13:22:40Z",
    }


def test_the_console_itself_has_no_person() -> None:
    assert SYSTEM.members()["kind"] == "system"
    assert SYSTEM.members()["person"] is None


def test_an_entry_is_found_by_what_its_members_say() -> None:
    found = columns(
        {
            "action": "decision.approved",
            "workspace": WORKSPACE,
            "actor": {"kind": "person", "person": PERSON, "account": "alice", "subject": AGENT},
            "object": {"type": "proposal", "id": PROPOSAL},
            "after": {"tool": "mail.send", "agent": AGENT},
        }
    )
    assert found == (
        "decision.approved",
        WORKSPACE,
        PERSON,
        "alice",
        AGENT,
        "proposal",
        PROPOSAL,
        PROPOSAL,
        "mail.send",
    )


def test_an_agents_own_entry_is_found_by_the_agent() -> None:
    assert columns({"action": "x", "actor": {"kind": "agent", "subject": AGENT}}).agent == AGENT
    assert columns({"action": "x", "actor": {"kind": "person", "subject": AGENT}}).agent is None


def test_an_entry_about_a_record_is_found_by_its_proposal() -> None:
    entry = {"action": "x", "object": {"type": "record", "id": PERSON}, "after": {"proposal": PROPOSAL}}
    assert columns(entry).proposal == PROPOSAL
    assert columns(entry).object_id == PERSON


@pytest.mark.parametrize("other", ["scout", ["scout"], 7, None])
def test_what_is_not_an_id_is_not_filtered_by_as_one(other: object) -> None:
    assert columns({"action": "x", "after": {"agent": other}}).agent is None


def test_actions_are_dotted_and_in_the_past_tense() -> None:
    for action in Action:
        family, _, deed = action.value.partition(".")
        assert family
        assert deed
        assert action.name == action.value.upper().replace(".", "_")


def test_decisions_and_permits_are_anchored_outside_and_reading_is_not() -> None:
    assert {Action.DECISION_APPROVED, Action.PERMIT_ISSUED, Action.MEMORY_ERASED} <= ANCHORED
    assert not {Action.AUDIT_READ, Action.PROPOSAL_PROPOSED, Action.SIGN_IN_SUCCEEDED} & ANCHORED


def test_signing_in_is_not_deciding() -> None:
    assert {Action.DECISION_APPROVED, Action.PERMIT_REDEEMED} <= DECISIVE
    assert Action.SIGN_IN_SUCCEEDED in ACCOUNT
    assert not DECISIVE & ACCOUNT
