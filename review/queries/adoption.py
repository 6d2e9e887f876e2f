"""Whether the log waits for managers to take it as it is, and who has done so: read from the log itself."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from review.audit.actions import Action
from review.audit.log import ObjectRef
from review.audit.models import Entry
from review.audit.queries import private_texts

#: What the entries of an adoption are about: opened by the operator, confirmed by managers, the last time adopted.
ADOPTION = ObjectRef("log", "adoption")
OPENED, CONFIRMED, ADOPTED = "opened", "confirmed", "adopted"
NEEDED = 2  # managers


class Adoption(NamedTuple):
    """An adoption that is open: `number` is the entry that opened it, `note` what it gives up."""

    number: int
    opened_at: datetime
    reason: str
    note: str
    confirmed_by: tuple[UUID, ...] = ()
    names: tuple[str, ...] = ()


def waiting() -> Adoption | None:
    """Return the adoption that the operator opened last, unless it is over."""
    adoption: Adoption | None = None
    entries = Entry.objects.filter(
        object_id=ADOPTION.id, object_type=ADOPTION.type, action=Action.LOG_ADOPTED
    )
    for entry in entries.order_by("seq"):
        adoption = _after(adoption, entry)
    return adoption


def _after(adoption: Adoption | None, entry: Entry) -> Adoption | None:
    members: dict[str, Any] = json.loads(entry.canonical)
    match members["after"]["state"]:
        case "opened":
            reason = private_texts([entry.seq])[entry.seq].get("reason") or ""
            return Adoption(entry.seq, entry.time, reason, members["after"]["note"])
        case "confirmed" if adoption:
            who, name = UUID(members["actor"]["person"]), members["actor"]["account"]
            return adoption._replace(
                confirmed_by=(*adoption.confirmed_by, who), names=(*adoption.names, name)
            )
    return None
