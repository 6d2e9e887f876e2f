"""Proofs as files: what an auditor checks with docs/log_verifier.py, away from here and trusting nobody.

{"v": 1, "seq", "entry", "leaf", "size", "root", "path": [hex], "checkpoint": note, "keys": [verifier key]}
{"v": 1, "old": note, "path": [hex], "checkpoint": note, "keys": [verifier key]}
"""

from __future__ import annotations

from collections.abc import Mapping

from huqan_site.lib.canonical_json import JSON
from review.audit import checkpoints
from review.audit.models import Checkpoint, Entry
from review.audit.proofs import consistency, inclusion


class Unproved(Exception):
    """There is nothing to prove that with. The sentence says what is missing."""


def entry_is_in(entry: Entry) -> Mapping[str, JSON]:
    """That `entry` is in the log that the newest checkpoint signs. Raises: Unproved; UnusableKey."""
    newest = checkpoints.newest()
    if newest is None or newest.size <= entry.seq:
        raise Unproved("No checkpoint covers that entry yet. Run manage.py checkpoint first.")
    proof = inclusion(entry.seq, newest.size)
    return {
        "v": 1,
        "seq": entry.seq,
        "entry": entry.canonical,
        "leaf": proof.leaf.hex(),
        "size": proof.root.size,
        "root": proof.root.hash.hex(),
        "path": [node.hex() for node in proof.path],
        "checkpoint": newest.note,
        "keys": list(checkpoints.verifier_keys()),
    }


def one_continues(old: int, new: int) -> Mapping[str, JSON]:
    """That the log of the checkpoint over `old` entries is the beginning of that over `new`.

    Raises: Unproved; UnusableKey.
    """
    notes = {row.size: row.note for row in Checkpoint.objects.filter(size__in=(old, new))}
    for size in (old, new):
        if size not in notes:
            raise Unproved(f"There is no checkpoint of {size} entries.")
    if old > new:
        raise Unproved("The older checkpoint comes first.")
    return {
        "v": 1,
        "old": notes[old],
        "path": [node.hex() for node in consistency(old, new).path],
        "checkpoint": notes[new],
        "keys": list(checkpoints.verifier_keys()),
    }
