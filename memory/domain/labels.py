"""Whom or what a text is about, as a keyed digest: found again by whoever is told the label, and by nobody else."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

_PURPOSE = b"huqan.label.v1"


def label_key(workspace: UUID, label: str, secret: bytes) -> str:
    """64 hex digits: HMAC-SHA-256 under `secret` over workspace and the whole label, casefolded.

    Only the white space around it does not count: a part of a label is another label.
    """
    parts = (_PURPOSE, workspace.bytes, label.strip().casefold().encode())
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hmac.new(secret, framed, hashlib.sha256).hexdigest()


def labels_of(said: Mapping[str, Any]) -> Iterator[str]:
    """Yield the labels of a record or of the arguments of a write: its subject, and the reference of its source."""
    for label in (said.get("subject"), (said.get("provenance") or {}).get("ref")):
        if label:
            yield label
