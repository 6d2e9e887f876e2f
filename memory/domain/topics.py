"""What a record is about: two records about the same thing that say different things are in conflict."""

from __future__ import annotations

import hashlib
import unicodedata


def topic_of(subject: str | None, predicate: str | None) -> str | None:
    """Return one key for a subject and predicate, whatever the case and spacing; None unless both are given."""
    if subject is None or predicate is None:
        return None
    framed = "".join(f"{len(part)}:{part}" for part in map(_plain, (subject, predicate)))
    return hashlib.sha256(framed.encode()).hexdigest()


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
