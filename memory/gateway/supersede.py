"""One record takes the place of another: the old one is closed and kept, the new one names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from huqan_site.lib.problems import FieldError
from memory.domain.arguments import moment, record_of
from memory.gateway import quarantine
from memory.gateway.retire import retire, trusted
from memory.gateway.stillness import stand_still
from memory.gateway.validity import close
from memory.gateway.values import keys_of
from memory.gateway.write import Admission, Admitted, write
from memory.models import Lifecycle, MemoryRecord
from memory.signals import SAYS_THE_SAME
from review.access.actors import Actor
from review.audit.actions import Action
from review.domain.refusals import Invalid
from review.models import Proposal


def supersede(proposal: Proposal, arguments: Mapping[str, Any], *, by: Actor, released: bool) -> Admitted:
    """Admit the arguments of `proposal` as a write, and close the active record that they name.

    `released` says that the text was held for it. A trusted record that says the same takes the place itself.
    Where the new one says from when it holds, the old one holds until then: asked for a time before, it still answers.
    Raises: NotFound, Inactive, Invalid where the record says the same already, Tombstoned, Unavailable.
    """
    stand_still()
    old = trusted(proposal, record_of(arguments), Lifecycle.ACTIVE)
    keys = keys_of(proposal.workspace_id, arguments["content"])
    if MemoryRecord.objects.with_value(keys).filter(id=old.id).exists():
        raise Invalid(errors=[FieldError("/arguments/content", "invalid", SAYS_THE_SAME)])
    retire(old, Lifecycle.SUPERSEDED, Action.MEMORY_SUPERSEDED, proposal, by=by)
    if begins := moment(arguments, "valid_from"):
        close(old, begins)
    admitted = (quarantine.release if released else write)(proposal, arguments, by=by)
    if (
        admitted.admission is not Admission.CORROBORATED
    ):  # one that was there before replaced nothing by itself
        admitted.record.supersedes = old
        admitted.record.save(update_fields=["supersedes"])
    return admitted
