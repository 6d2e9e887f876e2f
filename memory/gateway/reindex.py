"""Read every text again: the index is made from the records, and from nothing else."""

from __future__ import annotations

from typing import cast

from django.db import connection

from memory import recall_index
from memory.domain.tokens import TOKENIZER_VERSION, Language, tokenise
from memory.gateway.stillness import stand_still
from memory.models import MemoryRecord
from review.audit.stretches import stretches
from review.audit.transaction import write


def rebuild_index() -> int:
    """Store the terms of every record as today's tokenizer reads it, index all anew, and return how many changed.

    Every server drops what it kept. No record says anything else after it, so the log has no entry of it.
    Raises: Unavailable.
    """
    with write():
        stand_still()
        changed = sum(_read_again(records) for records in stretches(MemoryRecord.objects.all()))
        recall_index.renew(connection)
    return changed


def _read_again(records: list[MemoryRecord]) -> int:
    read = [(record, " ".join(tokenise(record.content, cast("Language", record.lang)))) for record in records]
    outdated = [
        (record, tokens)
        for record, tokens in read
        if (record.tokens, record.tokenizer) != (tokens, TOKENIZER_VERSION)
    ]
    for record, tokens in outdated:
        record.tokens, record.tokenizer = tokens, TOKENIZER_VERSION
    MemoryRecord.objects.bulk_update(
        [record for record, _ in outdated], ["tokens", "tokenizer"], batch_size=200
    )
    return len(outdated)
