"""A new reason to hold turned up while people were deciding: it is held, and their votes are outdated (I15)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from review.access.actors import PersonActor
from review.audit.actions import Action
from review.domain.gate import Outcome, Signal
from review.effects import effect_of
from review.models import Proposal, Revision
from review.queries.cases import origins_of, rule_of
from review.queries.policies import resolved
from review.services.revisions import Words, bind, lay, put_in_place
from review.services.transitions import CONSOLE, record
from review.services.weigh import RELEASE, Weighed


def hold_again(
    proposal: Proposal, arguments: Mapping[str, Any], new: list[Signal], by: PersonActor, now: datetime
) -> None:
    """Bind the same arguments anew as held, with the new signals beside those that were shown."""
    last = Revision.objects.get(proposal=proposal, number=proposal.revision)
    shown = [Signal.read(members) for members in last.gate["signals"]]
    weighed = Weighed(
        rule=rule_of(last),
        deciding=resolved(proposal.workspace_id, RELEASE),
        outcome=Outcome.QUARANTINE,
        signals=(*shown, *new),
        version=last.gate.get("version"),
        origins=origins_of(last),
    )
    before = proposal.status
    binding = bind(proposal, proposal.revision + 1, last.arguments, weighed, None)
    put_in_place(proposal, binding, weighed, expires_at=None)
    lay(
        proposal,
        binding,
        weighed,
        words=Words(last.rationale, last.evidence),
        conflicts={},
        token=last.token,
        author=last.author_person,
        now=now,
    )
    effect = effect_of(proposal.tool)
    assert effect is not None, "only an effect's own signals lead to quarantine"
    effect.hold(proposal, arguments, weighed.signals, by)
    codes = sorted(signal.code for signal in new)
    record(proposal, Action.PROPOSAL_QUARANTINED, CONSOLE, before=before, after={"reasons": codes})
