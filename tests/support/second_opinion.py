"""The log judged once more, by somebody who has read the design and none of the product's code.

Slow and plain on purpose: the tree is hashed by its recursive definition in RFC 6962, everything is in memory, and
nothing of the product is imported. What it cannot do is name every entry: it answers whether something is wrong.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class Copy(NamedTuple):
    """What lies there: rows of the log (seq, text, prev, leaf), the head's size and leaf, notes and keys.

    `keys` are raw public keys, oldest first; `witness` is the text of the file.
    """

    rows: list[tuple[int, str, str, str]]
    head: tuple[int, str]
    notes: list[str]
    witness: str
    keys: list[bytes]


def judge(copy: Copy) -> list[str]:
    """Say what is wrong with `copy`, in words; nothing where nothing is."""
    return [*_rows(copy), *_notes(copy), *_keys(copy)]


def _rows(copy: Copy) -> Iterable[str]:
    size, last = copy.head
    numbers = [row[0] for row in copy.rows]
    if numbers != list(range(size)):
        yield f"missing: of {size} entries there are {len(numbers)}"
    before, time = "0" * 64, ""
    for seq, text, prev, leaf in copy.rows:
        if _leaf(text).hex() != leaf:
            yield f"edited: {seq}"
        said = _object(text)
        if (said.get("seq"), said.get("prev"), prev) != (seq, before, before) or said.get("time", "") < time:
            yield f"out of place: {seq}"
        if json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False) != text:
            yield f"not canonical: {seq}"
        before, time = leaf, said.get("time", "")
    if before != last:
        yield "the head knows another end"


def _notes(copy: Copy) -> Iterable[str]:
    filed = [f"{part}\n" for part in _parts(copy.witness)]
    for note in dict.fromkeys([*copy.notes, *filed]):
        yield from _note(note, copy)
    if not filed or filed[-1] != (copy.notes or [""])[-1]:
        yield "the file and the database end in different notes"
    if set(filed) != set(copy.notes):
        yield "the file and the database hold different notes"


def _parts(witness: str) -> list[str]:
    """The notes of a file: each is a text, a blank line and its signatures; blank lines stand between."""
    pieces = witness.strip("\n").split("\n\n") if witness.strip() else []
    return ["\n\n".join(pair) for pair in zip(pieces[::2], pieces[1::2], strict=True)]


def _note(note: str, copy: Copy) -> Iterable[str]:
    text, _, signature = note.partition("\n\n")
    _, number, root = text.split("\n")
    size = int(number)
    if size > len(copy.rows):
        yield f"cut: a note knows {size} entries"
    elif base64.b64encode(_tree([_leaf(row[1]) for row in copy.rows[:size]])).decode() != root:
        yield f"another log was signed at {size}"
    if not any(_signed(text + "\n", signature, key) for key in copy.keys):
        yield f"nobody signed the note at {size}"


def _keys(copy: Copy) -> Iterable[str]:
    """The key that signed last is the newest there is: each new one signs the entry that tells of it."""
    if copy.notes:
        text, _, signature = copy.notes[-1].partition("\n\n")
        if not _signed(text + "\n", signature, copy.keys[-1]):
            yield "the last note is not signed by the newest key"


def _signed(text: str, line: str, key: bytes) -> bool:
    blob = base64.b64decode(line.split()[2])
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(blob[4:], text.encode())
    except InvalidSignature:
        return False
    return True


def _object(text: str) -> Mapping[str, Any]:
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _leaf(text: str) -> bytes:
    return hashlib.sha256(b"\x00" + b"huqan.audit.v1\n" + text.encode()).digest()


def _tree(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962 2.1, over leaves that are hashed already."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return hashlib.sha256(b"\x01" + _tree(leaves[:half]) + _tree(leaves[half:])).digest()
