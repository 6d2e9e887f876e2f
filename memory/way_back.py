"""How a memory that was carried out is taken back: another proposal, which others decide."""

from __future__ import annotations

from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from memory.models import Lifecycle
from memory.queries import admission
from review.domain.status import Status
from review.effects import WayBack
from review.models import Proposal


def way_back_of(proposal: Proposal) -> WayBack | None:
    """Return how to retract the record that `proposal` led to, while that is active."""
    led_to = (proposal.outcome or {}).get("record") if proposal.status == Status.EXECUTED else None
    record = admission.trusted(proposal.workspace_id, UUID(led_to)) if led_to else None
    if record is None or record.lifecycle != Lifecycle.ACTIVE:
        return None
    return WayBack(
        _("Agents can recall this"),
        _("Retracting it is a proposal that others decide. Its value is then rejected for good."),
        reverse("memory_retract", args=[record.id]),
        _("Retract"),
    )
