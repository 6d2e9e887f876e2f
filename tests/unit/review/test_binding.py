"""A vote counts for a binding, so everything that a reviewer relies on must move it."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import UUID

import pytest

from huqan_site.lib import strict_json
from huqan_site.lib.canonical_json import canonical
from review.domain.binding import FOREVER, Binding, Kind, kind_of, utc_seconds

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "binding.json").read_text())["vectors"]
DECEMBER = datetime(2026, 12, 1, tzinfo=UTC)

MAIL = Binding(
    workspace=UUID("0190a1b2-0000-7000-8000-000000000001"),
    proposal=UUID("0190a1b2-0000-7000-8000-0000000000aa"),
    revision=1,
    agent=UUID("0190a1b2-0000-7000-8000-0000000000b1"),
    principal=UUID("0190a1b2-0000-7000-8000-0000000000c1"),
    kind=Kind.TOOL_CALL,
    tool="mail.send",
    tool_schema="sha256:" + "0" * 64,
    arguments='{"to":"a@example.org"}',
    risk="high",
    policy="sha256:" + "1" * 64,
    expires=DECEMBER,
)


def bound(vector: dict) -> Binding:
    arguments = canonical(strict_json.read(base64.b64decode(vector["arguments_raw_b64"])))
    overrides = {k: UUID(v) if k == "workspace" else v for k, v in vector["overrides"].items()}
    return replace(MAIL, arguments=arguments, **overrides)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_every_shared_vector_has_the_same_text_and_digest(vector):
    assert bound(vector).canonical() == vector["canonical"]
    assert bound(vector).digest() == vector["sha256"]


OTHER_ID = UUID("0190a1b2-0000-7000-8000-00000000ffff")


@pytest.mark.parametrize(
    "change",
    [
        {"workspace": OTHER_ID},
        {"proposal": OTHER_ID},
        {"revision": 2},
        {"agent": OTHER_ID},
        {"agent": None},
        {"principal": OTHER_ID},
        {"kind": Kind.MEMORY_WRITE},
        {"tool": "mail.sent"},
        {"tool_schema": "sha256:" + "2" * 64},
        {"arguments": '{"to":"a@example.org "}'},
        {"risk": "low"},
        {"policy": "sha256:" + "2" * 64},
        {"expires": DECEMBER + timedelta(seconds=1)},
        {"expires": None},
    ],
    ids=lambda change: "-".join(change),
)
def test_whatever_changes_the_digest_changes_too(change):
    assert replace(MAIL, **change).digest() != MAIL.digest()
    assert replace(MAIL).digest() == MAIL.digest()


def test_a_proposal_of_a_person_has_a_null_agent():
    assert '"agent":null' in replace(MAIL, agent=None).canonical()


def test_a_quarantined_proposal_is_bound_for_ever():
    assert f'"expires":"{FOREVER}"' in replace(MAIL, expires=None).canonical()


def test_the_stored_text_is_hashed_as_it_is_and_never_read_back():
    tampered = replace(MAIL, arguments='{"to": "a@example.org"}')
    assert json.loads(tampered.canonical()) == json.loads(MAIL.canonical())
    assert tampered.digest() != MAIL.digest()


def test_times_are_whole_seconds_in_utc():
    istanbul = timezone(timedelta(hours=3))
    assert utc_seconds(datetime(2026, 12, 1, 3, 0, 0, 999_999, tzinfo=istanbul)) == "2026-12-01T00:00:00Z"


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("memory.write", Kind.MEMORY_WRITE),
        ("memory.supersede", Kind.MEMORY_WRITE),
        ("memory.learn", Kind.MEMORY_WRITE),
        ("memory.retract", Kind.MEMORY_RETIRE),
        ("memory.archive", Kind.MEMORY_RETIRE),
        ("memory.restore", Kind.MEMORY_RETIRE),
        ("memory.erase", Kind.MEMORY_RETIRE),
        ("facts.optimise", Kind.MEMORY_RETIRE),
        ("memory.release", Kind.MEMORY_RELEASE),
        ("tombstone.lift", Kind.MEMORY_RELEASE),
        ("policy.change", Kind.POLICY_CHANGE),
        ("Memory.WRITE", Kind.MEMORY_WRITE),
        ("memory.writes", Kind.TOOL_CALL),
        ("mail.send", Kind.TOOL_CALL),
    ],
)
def test_the_kind_follows_from_the_tool(tool, kind):
    assert kind_of(tool) is kind
