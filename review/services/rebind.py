"""A rule changed: what is open under it is bound anew, so that nobody's vote counts for a rule he never saw.

The arguments, their authors and the time they were submitted stay; votes are outdated, and nothing is let through
that people had not let through. What the new rule would have refused at the door ends, with that refusal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.audit.actions import Action
from review.audit.refusals import Unavailable
from review.audit.transaction import write
from review.domain.binding import Kind
from review.domain.gate import Signal, strictest, unseen
from review.domain.independence import Conflicts
from review.domain.refusals import NotFound, PolicyChanged
from review.domain.status import Status
from review.models import Proposal, Revision
from review.queries.cases import case_of, current_revisions, electorates_of
from review.queries.policies import resolved
from review.queries.policy_changes import REBOUND, outdated
from review.services import take_effect
from review.services.expire import meet
from review.services.revisions import Words, bind, digest_of, ends, lay, put_in_place
from review.services.transitions import CONSOLE, lock, record
from review.services.weigh import RELEASE, Weighed, weigh, weigh_own

AT_ONCE = 50
"""How many are bound anew by the request that changed the policy; the worker, or whoever meets them, does the rest."""

STILL_REVIEWED = "It was open when its rule changed, so people decide it."


def rebind(proposal_id: UUID) -> None:
    """Bind the proposal to the rule that holds now, if it is open under another."""
    with write():
        try:
            proposal = lock(proposal_id)
        except NotFound:
            return
        now = timezone.now()
        meet(proposal, now)
        if proposal.status in REBOUND and case_of(proposal, now).rule_changed:
            _rebind(proposal, now)


def rebind_outdated(limit: int = 500, workspace: UUID | None = None) -> int:
    """Bind up to `limit` proposals anew, each in its own transaction; return how many were met."""
    found = outdated(limit, workspace)
    for proposal_id in found:
        rebind(proposal_id)
    return len(found)


def follow(change: Proposal) -> None:
    """Begin with what a change of the policy that just came into force leaves to do."""
    if change.kind == Kind.POLICY_CHANGE and change.status == Status.EXECUTED:
        with suppress(Unavailable):
            rebind_outdated(AT_ONCE, change.workspace_id)


@contextmanager
def rebinding(proposal_id: UUID) -> Iterator[None]:
    """Bind anew what is refused here because its rule changed, so that whoever comes next meets the new rule."""
    try:
        yield
    except PolicyChanged:
        with suppress(Unavailable):
            rebind(proposal_id)
        raise


def _rebind(proposal: Proposal, now: datetime) -> None:
    last = current_revisions([proposal])[proposal.id]
    arguments = json.loads(last.arguments)
    try:
        weighed = _weigh_again(proposal, arguments, last, now)
    except Unavailable:
        raise
    except Refusal as refusal:
        take_effect.end(proposal, refusal, now)
        return
    before, conflicts = proposal.status, electorates_of([proposal], now)[proposal.id].conflicts
    _advance(proposal, last, weighed, conflicts, now)
    record(
        proposal,
        Action.PROPOSAL_REBOUND,
        CONSOLE,
        before=before,
        after={"arguments": digest_of(last.arguments), "gate": str(weighed.outcome)},
        policy=weighed.rule.digest,
        conflict_set=conflicts,
    )
    if weighed.held and before != Status.QUARANTINED:
        take_effect.hold(proposal, arguments, weighed, CONSOLE)


def _weigh_again(proposal: Proposal, arguments: Mapping[str, Any], last: Revision, now: datetime) -> Weighed:
    """Return what policy and gate say now; what is held stays held, and what waits for people still does (I14).

    Raises: the gate's refusals, as for a proposal.
    """
    if proposal.agent is None:
        weighed = weigh_own(
            proposal.tool, arguments, workspace=proposal.workspace, now=now, proposal=proposal.id
        )
    else:
        weighed = weigh(proposal.tool, arguments, agent=proposal.agent, now=now, proposal=proposal.id)
    if proposal.status == Status.QUARANTINED:
        shown = [Signal.read(members) for members in last.gate["signals"]]
        signals = (*shown, *unseen(weighed.signals, shown))
        return replace(
            weighed,
            deciding=resolved(proposal.workspace_id, RELEASE),
            outcome=strictest(signals),
            signals=signals,
        )
    return weighed.for_people(STILL_REVIEWED)


def _advance(
    proposal: Proposal, last: Revision, weighed: Weighed, conflicts: Conflicts, now: datetime
) -> None:
    """Put the same arguments in place as a new revision; the new rule's time runs from when they were submitted."""
    expires_at = ends(proposal, weighed, proposal.submitted_at)
    binding = bind(proposal, proposal.revision + 1, last.arguments, weighed, expires_at)
    put_in_place(proposal, binding, weighed, expires_at=expires_at, decided_at=None)
    lay(
        proposal,
        binding,
        weighed,
        words=Words(last.rationale, last.evidence),
        conflicts=conflicts,
        token=last.token,
        author=last.author_person,
        now=now,
    )
