"""Signed notes: a text with Ed25519 signatures below it. Source: https://c2sp.org/signed-note"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_ED25519 = b"\x01"
_SIGNATURE_LINE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")
_UNSIGNABLE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


class BadNote(ValueError):
    """A note that is not well-formed, or that none of the known keys has signed."""


def sign(text: str, *, name: str, key: Ed25519PrivateKey) -> str:
    """The note for `text`, which ends with a line break, signed by `key` under `name`.

    Raises: BadNote, if text or name cannot stand in a note.
    """
    if not text.endswith("\n") or _UNSIGNABLE.search(text):
        raise BadNote("The text must end with a line break and hold no control characters.")
    if not re.fullmatch(r"[^\s+]+", name):
        raise BadNote("A key name is not empty and holds neither white space nor a plus sign.")
    signature = key_hash(name, key.public_key()) + key.sign(text.encode())
    return f"{text}\n— {name} {base64.b64encode(signature).decode()}\n"


def verify(note: str, *, name: str, keys: Iterable[Ed25519PublicKey]) -> str:
    """The text of `note`, if one of `keys` signed it under `name`.

    Signatures of unknown keys are passed over; a false one of a known key spoils the note.

    Raises: BadNote.
    """
    text, signatures = _split(note)
    known = {key_hash(name, key): key for key in keys}
    ours = [
        (known[blob[:4]], blob[4:]) for signer, blob in signatures if signer == name and blob[:4] in known
    ]
    if not ours:
        raise BadNote("No known key has signed the note.")
    for key, signature in ours:
        _check(key, signature, text)
    return text


def key_hash(name: str, key: Ed25519PublicKey) -> bytes:
    """The four bytes by which a signature line names its key."""
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + key.public_bytes_raw()).digest()[:4]


def verifier_key(name: str, key: Ed25519PublicKey) -> str:
    """The public key as others are given it: name, hash and the key itself, parted by plus signs."""
    encoded = base64.b64encode(_ED25519 + key.public_bytes_raw()).decode()
    return f"{name}+{key_hash(name, key).hex()}+{encoded}"


def _split(note: str) -> tuple[str, list[tuple[str, bytes]]]:
    text, gap, tail = note.rpartition("\n\n")
    lines = tail.split("\n")
    if not gap or lines.pop() or not lines or _UNSIGNABLE.search(note):
        raise BadNote("The note does not end in a blank line and its signatures.")
    return text + "\n", [_signature(line) for line in lines]


def _signature(line: str) -> tuple[str, bytes]:
    match = _SIGNATURE_LINE.fullmatch(line)
    if match is None:
        raise BadNote("A signature line is malformed.")
    try:
        return match[1], base64.b64decode(match[2], validate=True)
    except binascii.Error:
        raise BadNote("A signature is not base64.") from None


def _check(key: Ed25519PublicKey, signature: bytes, text: str) -> None:
    try:
        key.verify(signature, text.encode())
    except InvalidSignature:
        raise BadNote("The signature is false.") from None
