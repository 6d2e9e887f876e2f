"""Statements that the log's key signs besides checkpoints: C2SP signed notes whose text is JSON, one object.

No checkpoint begins with a brace, so that neither is ever taken for the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings

from huqan_site.lib import signed_note
from huqan_site.lib.keyring import Keyring, UnusableKey
from review.audit.refusals import Unavailable

_PURPOSE = "log"


def attest(statement: Mapping[str, Any]) -> str:
    """Return the signed note over `statement`. Raises: Unavailable where the key cannot be read."""
    text = json.dumps(statement, indent=1, sort_keys=True) + "\n"
    try:
        _, key = Keyring(Path(settings.HUQAN_KEYS_DIR)).signing_key(_PURPOSE)
    except (UnusableKey, OSError) as error:
        raise Unavailable from error
    return signed_note.sign(text, name=settings.HUQAN_LOG_NAME, key=key)


def read(note: str, *, log: str, keys: Iterable[Ed25519PublicKey]) -> dict[str, Any]:
    """Return what a note states, if one of `keys` signed it for `log`. Raises: BadNote, ValueError."""
    stated: dict[str, Any] = json.loads(signed_note.verify(note, name=log, keys=keys))
    return stated
