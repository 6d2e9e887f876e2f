"""The keys folder: what signs permits and log checkpoints, and what keys tombstones.

One file holds one 32-byte secret as hex, named `<purpose>-<number>.key`; the highest number is the
current one. Older ones stay, since what they signed or keyed must still be checked. Files have mode
0600 in a folder of mode 0700.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_SIZE = 32  # bytes: an Ed25519 seed, and a key for HMAC-SHA-256


class UnusableKey(Exception):
    """A key file that cannot be read or does not hold a key. It says which file, not what is in it."""


class Keyring:
    """The keys in one folder. Every call reads the folder, so that a rotation counts at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def signing_key(self, purpose: str) -> tuple[str, Ed25519PrivateKey]:
        """`(kid, key)` to sign with now; made at first use. Raises: UnusableKey, OSError."""
        key = Ed25519PrivateKey.from_private_bytes(self._current(purpose))
        return key_id(key.public_key()), key

    def public_keys(self, purpose: str) -> dict[str, Ed25519PublicKey]:
        """Every retained public key by kid, oldest first; none is made. Raises: UnusableKey."""
        keys = [Ed25519PrivateKey.from_private_bytes(seed).public_key() for seed in self._retained(purpose)]
        return {key_id(key): key for key in keys}

    def secret(self, purpose: str) -> tuple[str, bytes]:
        """`(kid, 32 bytes)` to key new digests with; made at first use. Raises: UnusableKey, OSError."""
        secret = self._current(purpose)
        return _secret_id(secret), secret

    def secrets(self, purpose: str) -> dict[str, bytes]:
        """Every retained secret by kid, oldest first; none is made. Raises: UnusableKey."""
        return {_secret_id(secret): secret for secret in self._retained(purpose)}

    def rotate(self, purpose: str) -> None:
        """Add a new current key; earlier ones stay for checking. Raises: OSError."""
        files = self._files(purpose)
        self._create(purpose, _number(files[-1]) + 1 if files else 1)

    def _current(self, purpose: str) -> bytes:
        if not self._files(purpose):
            self._create(purpose, 1)
        return self._retained(purpose)[-1]

    def _retained(self, purpose: str) -> list[bytes]:
        return [_read(path) for path in self._files(purpose)]

    def _files(self, purpose: str) -> list[Path]:
        return sorted(self.folder.glob(f"{purpose}-[0-9]*.key"), key=_number)

    def _create(self, purpose: str, number: int) -> None:
        """Make the key with this number, unless somebody else has just made it.

        The file appears whole or not at all: written aside, then linked under its name, which
        fails where that name exists. So of two that race, both end up with the same key.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        aside = self.folder / f".{purpose}-{secrets.token_hex(8)}"
        _write(aside, secrets.token_bytes(_SIZE))
        try:
            os.link(aside, self.folder / f"{purpose}-{number:04}.key")
        except FileExistsError:
            pass
        finally:
            aside.unlink()
        _sync(self.folder)


def key_id(key: Ed25519PublicKey) -> str:
    """The RFC 7638 thumbprint of a public key, its first 16 characters."""
    x = base64.urlsafe_b64encode(key.public_bytes_raw()).rstrip(b"=").decode()
    jwk = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": x}, separators=(",", ":"))
    return base64.urlsafe_b64encode(hashlib.sha256(jwk.encode()).digest()).decode()[:16]


def _secret_id(secret: bytes) -> str:
    return hashlib.sha256(b"huqan.key-id.v1\0" + secret).hexdigest()[:16]


def _number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def _read(path: Path) -> bytes:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise UnusableKey(f"The key file {path.name} cannot be read.") from None
    if not re.fullmatch(rf"[0-9a-f]{{{2 * _SIZE}}}", text):
        raise UnusableKey(f"The key file {path.name} does not hold a key.")
    return bytes.fromhex(text)


def _write(path: Path, secret: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(secret.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make a new name in `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
