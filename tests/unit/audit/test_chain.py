"""The arithmetic of the log, against the shared vectors and against RFC 6962 written out naively."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from huqan_site.lib import signed_note
from review.audit import chain
from review.audit.chain import Frontier, Root, Span
from review.audit.checkpoints import Statement

DATA = Path(__file__).parents[2] / "data"
CASES = json.loads((DATA / "audit.json").read_text())
KEY = Ed25519PrivateKey.from_private_bytes(
    bytes.fromhex(json.loads((DATA / "permit.json").read_text())["seed_hex"])
)
LOG = "console.example.org/audit"
LEAVES = [hashlib.sha256(bytes([number])).digest() for number in range(70)]


def naive_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962 2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    left, right = naive_root(leaves[:split]), naive_root(leaves[split:])
    return hashlib.sha256(b"\x01" + left + right).digest()


def grown(size: int) -> Frontier:
    frontier = Frontier()
    for leaf in LEAVES[:size]:
        frontier = frontier.append(leaf).frontier
    return frontier


def hashes(spans: list[Span]) -> list[bytes]:
    return [naive_root(LEAVES[span.start : span.end]) for span in spans]


def root(size: int) -> Root:
    return Root(size, naive_root(LEAVES[:size]))


@pytest.mark.parametrize("number", range(len(CASES["records"])))
def test_each_shared_entry_has_its_leaf(number: int) -> None:
    text = chain.entry_text(CASES["records"][number])
    assert chain.leaf_of(text).hex() == CASES["leaves"][number]


def test_each_shared_entry_continues_the_one_before_it() -> None:
    assert [entry["prev"] for entry in CASES["records"]] == [chain.GENESIS, *CASES["leaves"][:-1]]


def test_the_shared_leaves_have_the_shared_root() -> None:
    frontier = Frontier()
    for leaf in CASES["leaves"]:
        frontier = frontier.append(bytes.fromhex(leaf)).frontier
    assert frontier.root().hex() == CASES["root"]


def test_the_shared_checkpoint_is_what_we_sign_and_what_we_read() -> None:
    statement = Statement(LOG, Root(2, bytes.fromhex(CASES["root"])))
    assert signed_note.sign(statement.text(), name=LOG, key=KEY) == CASES["checkpoint"]
    assert Statement.read(CASES["checkpoint"]) == statement
    signed_note.verify(CASES["checkpoint"], name=LOG, keys=[KEY.public_key()])


def test_a_checkpoint_with_another_size_is_not_signed() -> None:
    longer = CASES["checkpoint"].replace("\n2\n", "\n3\n")
    with pytest.raises(signed_note.BadNote):
        signed_note.verify(longer, name=LOG, keys=[KEY.public_key()])


def test_members_without_a_value_are_left_out_at_any_depth() -> None:
    bare = chain.entry_text({"v": 1, "seq": 0, "actor": {"kind": "system"}})
    full = {
        "v": 1,
        "seq": 0,
        "binding": None,
        "conflict_set": [],
        "after": {},
        "object": {"type": None},
        "actor": {"kind": "system", "methods": [], "person": None, "account": ""},
    }
    assert chain.entry_text(full) == bare == '{"actor":{"kind":"system"},"seq":0,"v":1}'


def test_a_commitment_needs_the_salt_and_the_text() -> None:
    salt = bytes(range(16))
    expected = hashlib.sha256(b"huqan.redact.v1\x00" + salt + "naïve".encode()).hexdigest()
    assert chain.commitment("naïve", salt) == expected
    assert chain.commitment("naive", salt) != expected
    assert chain.commitment("naïve", salt[::-1]) != expected


def test_a_time_is_written_in_utc_with_microseconds_even_when_they_are_zero() -> None:
    noon_in_izmir = datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=3)))
    assert chain.stamp(noon_in_izmir) == "2026-11-30T09:00:00.000000Z"
    assert chain.stamp(datetime(2026, 11, 30, 9, 0, 0, 7, tzinfo=UTC)) == "2026-11-30T09:00:00.000007Z"


@pytest.mark.parametrize("size", range(len(LEAVES)))
def test_a_frontier_has_the_root_of_rfc_6962(size: int) -> None:
    assert grown(size).root() == naive_root(LEAVES[:size])


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 69])
def test_a_frontier_survives_being_written_down(size: int) -> None:
    assert Frontier.read(size, grown(size).text()) == grown(size)


def test_a_frontier_of_another_size_is_not_read() -> None:
    with pytest.raises(ValueError, match="not of a tree of this size"):
        Frontier.read(6, grown(7).text())


@pytest.mark.parametrize("seq", range(64))
def test_the_subtrees_that_a_leaf_completes_are_those_that_end_with_it(seq: int) -> None:
    completed = grown(seq).append(LEAVES[seq]).completed
    spans = [Span(seq + 1 - (1 << level), seq + 1) for level in range(1, len(completed) + 1)]
    assert list(completed) == hashes(spans)
    assert (seq + 1) % (1 << len(completed)) == 0
    assert (seq + 1) % (2 << len(completed)) != 0


@pytest.mark.parametrize("size", range(1, 34))
def test_every_entry_of_every_log_is_proved(size: int) -> None:
    for seq in range(size):
        path = hashes(chain.inclusion_path(seq, size))
        assert chain.verify_inclusion(LEAVES[seq], seq, size, path, root(size).hash)


@pytest.mark.parametrize("size", range(1, 18))
def test_nothing_else_is_proved_by_that(size: int) -> None:
    for seq in range(size):
        path = hashes(chain.inclusion_path(seq, size))
        true = root(size).hash
        assert not chain.verify_inclusion(LEAVES[60], seq, size, path, true)
        assert not chain.verify_inclusion(LEAVES[seq], seq, size, path, LEAVES[60])
        assert not chain.verify_inclusion(LEAVES[seq], seq, size, [*path, LEAVES[60]], true)
        assert not chain.verify_inclusion(LEAVES[seq], seq + 1, size, path, true)
        assert not (path and chain.verify_inclusion(LEAVES[seq], seq, size, path[:-1], true))


def test_an_entry_that_the_log_does_not_hold_has_no_path() -> None:
    for seq in (-1, 5):
        with pytest.raises(ValueError, match="does not hold"):
            chain.inclusion_path(seq, 5)
        assert not chain.verify_inclusion(LEAVES[0], seq, 5, [], root(5).hash)


@pytest.mark.parametrize("new", range(1, 34))
def test_every_log_is_proved_to_continue_each_of_its_beginnings(new: int) -> None:
    for old in range(1, new + 1):
        path = hashes(chain.consistency_path(old, new))
        assert chain.verify_consistency(root(old), root(new), path)


@pytest.mark.parametrize("new", range(2, 18))
def test_a_log_is_not_proved_to_continue_another(new: int) -> None:
    for old in range(1, new):
        path = hashes(chain.consistency_path(old, new))
        assert not chain.verify_consistency(Root(old, LEAVES[60]), root(new), path)
        assert not chain.verify_consistency(root(old), Root(new, LEAVES[60]), path)
        assert not chain.verify_consistency(root(old), root(new), [*path, LEAVES[60]])
        assert not chain.verify_consistency(root(old), root(new), path[:-1])
        assert not chain.verify_consistency(root(new), root(old), path)


def test_a_log_continues_itself_and_needs_no_path_for_that() -> None:
    assert chain.verify_consistency(root(5), root(5), [])
    assert not chain.verify_consistency(root(5), root(5), [LEAVES[0]])
    assert not chain.verify_consistency(root(5), Root(5, LEAVES[60]), [])


def test_an_empty_or_a_longer_log_is_not_a_beginning() -> None:
    for old in (0, 6):
        with pytest.raises(ValueError, match="at least one entry"):
            chain.consistency_path(old, 5)
