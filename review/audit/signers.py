"""Which keys may sign a checkpoint of this log: from each rotation on only newer ones."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from huqan_site.lib import signed_note
from huqan_site.lib.keyring import UnusableKey
from review.audit import checkpoints
from review.audit.actions import Action
from review.audit.findings import Findings, Kind
from review.audit.models import Entry


class Rotation(NamedTuple):
    """Entry `seq` says that the key `kid` signs from there on: the first of a log, or one that a key was rotated by."""

    seq: int
    kid: str


class Signers:
    """The keys of the keys folder, oldest first, held against what the log tells of them."""

    def __init__(self, log: str, findings: Findings) -> None:
        self._log = log
        self._keys = _keys(findings)
        self._rotations = list(_rotations())
        self._compare(findings)

    def refuse(self, note: str, size: int) -> str | None:
        """Say what is wrong with the signature of a note over `size` entries; None where nothing is."""
        if self._has_signed(note, self._from(size)):
            return None
        if self._has_signed(note, list(self._keys.values())):
            return "is signed by a key that had been replaced before"
        return "is not signed by a key of this log"

    def _from(self, size: int) -> list[Ed25519PublicKey]:
        """The keys that may sign a log of `size` entries: the one in force then, and newer ones."""
        told = bisect_left(self._rotations, size, key=lambda rotation: rotation.seq)
        kids = list(self._keys)
        if not told:
            return list(self._keys.values())
        in_force = self._rotations[told - 1].kid
        begin = kids.index(in_force) if in_force in kids else len(kids)
        return [self._keys[kid] for kid in kids[begin:]]

    def _has_signed(self, note: str, keys: list[Ed25519PublicKey]) -> bool:
        try:
            signed_note.verify(note, name=self._log, keys=keys)
        except signed_note.BadNote:
            return False
        return True

    def _compare(self, findings: Findings) -> None:
        told, kids = {rotation.kid for rotation in self._rotations}, list(self._keys)
        first = next((place for place, kid in enumerate(kids) if kid in told), 0)
        for kid in kids[first + 1 :]:  # those before signed an earlier log
            if kid not in told:
                findings.fault(
                    Kind.CHECKPOINT,
                    None,
                    f"No entry says since when the key {kid} of the keys folder signs: the log is not the one that "
                    "its keys were made for, or rotate_key broke off and has to be run again.",
                )
        for kid in sorted(told - self._keys.keys()) if self._keys else ():
            findings.doubt(f"The key {kid}, of which the log tells, is not in the keys folder.")


def _rotations() -> Iterator[Rotation]:
    telling = (Action.LOG_CREATED, Action.KEY_ROTATED)
    entries = Entry.objects.filter(workspace=None, action__in=telling).order_by("seq")
    for seq, text in entries.values_list("seq", "canonical"):
        try:
            after = json.loads(text)["after"]
            if after.get("purpose", checkpoints.PURPOSE) == checkpoints.PURPOSE:
                yield Rotation(seq, str(after["kid"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # the walk says that this entry was edited


def _keys(findings: Findings) -> dict[str, Ed25519PublicKey]:
    try:
        keys = checkpoints.public_keys()
    except UnusableKey:
        keys = {}
    if not keys:
        findings.doubt("No key of this log can be read from the keys folder: no checkpoint can be checked.")
    return keys
