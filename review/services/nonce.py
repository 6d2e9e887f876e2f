"""The form nonce: a signed statement of who was shown what, and when.

It binds a decision to the page it was made on. A recorded decision uses it up; a refusal does not.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core import signing

SALT = "huqan.decision.nonce.v1"
REVIEWED, OTHER = "reviewed:", "other:"  # what a base begins with: the reviewed one, or one the reader chose
LIFETIME = 12 * 60 * 60  # seconds; as long as a session


@dataclass(frozen=True)
class Shown:
    """What a page showed: to whom, which proposal and binding, against which base, and the digest of it all."""

    person: UUID
    proposal: UUID
    binding: str
    base: str
    page: str


def issue(shown: Shown, *, now: datetime) -> str:
    """Return a fresh nonce for the form on the page that `shown` describes."""
    members = [str(shown.person), str(shown.proposal), shown.binding, shown.base, shown.page]
    return signing.dumps([*members, now.isoformat(), secrets.token_urlsafe(12)], salt=SALT, compress=True)


def read(nonce: str) -> Shown | None:
    """Return what a nonce of ours states, or None when it is missing, foreign or too old."""
    try:
        person, proposal, binding, base, page, _, _ = signing.loads(nonce, salt=SALT, max_age=LIFETIME)
    except signing.BadSignature:
        return None
    return Shown(UUID(person), UUID(proposal), binding, base, page)


def fingerprint(nonce: str) -> str:
    """Return what is stored of a used nonce: SHA-256, 64 hex digits."""
    return hashlib.sha256(nonce.encode()).hexdigest()
