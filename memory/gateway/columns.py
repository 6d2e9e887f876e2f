"""What the arguments of `memory.write` become in a row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memory.domain.arguments import moment
from memory.domain.tokens import TOKENIZER_VERSION, detect_language, tokenise
from memory.domain.topics import topic_of
from memory.models import MemoryRecord, ValueKey

STATED = ("subject", "predicate", "provenance", "confidence", "valid_from", "valid_to", "expires_at")


def columns(arguments: Mapping[str, Any], key: ValueKey) -> dict[str, Any]:
    """Return the columns of a record that the arguments decide; its standing and its source are not among them."""
    content, lang = arguments["content"], arguments.get("lang") or detect_language(arguments["content"])
    subject, predicate = arguments.get("subject"), arguments.get("predicate")
    return {
        "content": content,
        "subject": subject,
        "predicate": predicate,
        "topic": topic_of(subject, predicate),
        "lang": lang,
        "tokens": " ".join(tokenise(content, lang)),
        "tokenizer": TOKENIZER_VERSION,
        "value_key": key.digest,
        "value_key_id": key.key_id,
        "provenance": arguments.get("provenance"),
        "confidence": arguments.get("confidence"),
        **{name: moment(arguments, name) for name in ("valid_from", "valid_to", "expires_at")},
    }


def as_arguments(record: MemoryRecord) -> dict[str, Any]:
    """Return what a record says under the names that the arguments of a write have, secrets included."""
    said = {name: _plain(getattr(record, name)) for name in STATED if getattr(record, name) is not None}
    return {"content": record.content, **said}


def _plain(said: Any) -> Any:
    return said.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(said, datetime) else said
