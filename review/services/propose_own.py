"""A person starts one of the tools that only people start. He is its author, so others decide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from huqan_site.lib.canonical_json import canonical
from review.access.actors import PersonActor
from review.access.models import Workspace
from review.audit.actions import Action
from review.domain.independence import conflict_set
from review.domain.status import Status, current
from review.models import Proposal, Revision
from review.queries.cases import not_independent_of
from review.services import take_effect
from review.services.propose import require_deciders
from review.services.revisions import Words, bind, digest_of, ends, lay, opened
from review.services.transitions import record
from review.services.weigh import RELEASE, Weighed

WAITING = (Status.PENDING, Status.QUARANTINED)


def propose_own(
    tool: str,
    arguments: Mapping[str, Any],
    weighed: Weighed,
    *,
    workspace: Workspace,
    by: PersonActor,
    reason: str,
    now: datetime,
    run_id: str | None = None,
) -> Proposal:
    """Within the caller's transaction: return the open proposal of `by`, who is its principal and author.

    What the gate holds is held, as an agent's would be. `run_id` names what it was proposed together with.

    Raises: Unsatisfiable, but not for what he puts into quarantine: a brake works however few could release it.
    """
    text = canonical(dict(arguments))
    proposal = opened(
        tool, arguments, weighed, workspace=workspace, principal=by.person.id, now=now, run_id=run_id
    )
    proposal.expires_at = ends(proposal, weighed, now)
    binding = bind(proposal, 1, text, weighed, proposal.expires_at)
    proposal.binding = binding.digest()
    conflicts = conflict_set(
        principals=[by.person.id],
        authors=[by.person.id],
        origins=not_independent_of(weighed.origins, now),
    )
    if tool != RELEASE:
        require_deciders(proposal, weighed, conflicts, now)
    proposal.save(force_insert=True)
    words = Words(reason)
    lay(proposal, binding, weighed, words=words, conflicts=conflicts, token=None, author=by.person, now=now)
    record(
        proposal,
        Action.PROPOSAL_PROPOSED,
        by,
        after={"arguments": digest_of(text), "gate": str(weighed.outcome)},
        policy=weighed.rule.digest,
        conflict_set=conflicts,
        private={"rationale": reason} if reason else None,
    )
    if weighed.held:
        take_effect.hold(proposal, arguments, weighed, by)
    return proposal


def sent_before(
    tool: str, arguments: Mapping[str, Any], *, workspace: Workspace, by: PersonActor, now: datetime
) -> Proposal | None:
    """Return what `by` has proposed already and is open: a form that is sent twice makes one proposal."""
    mine = Proposal.objects.filter(
        workspace=workspace, agent=None, principal=by.person.id, tool=tool, status__in=WAITING
    )
    digest = digest_of(canonical(dict(arguments)))
    says_it_now = {"revisions__number": F("revision"), "revisions__arguments_digest": digest}
    return mine.live(now).filter(**says_it_now).first()


def begun_before(
    tool: str, digests: Sequence[str], *, workspace: Workspace, now: datetime
) -> dict[str, UUID]:
    """Return what people have proposed with arguments of these digests, by digest, whatever was decided on it.

    What was withdrawn or ran out of time was never decided; it can be proposed again.
    """
    rows = Revision.objects.filter(
        proposal__agent=None,
        proposal__workspace=workspace,
        proposal__tool=tool,
        arguments_digest__in=digests,
    )
    found = rows.values_list("arguments_digest", "proposal", "proposal__status", "proposal__expires_at")
    return {
        digest: proposal
        for digest, proposal, status, expires_at in found
        if current(status, expires_at, now) not in (Status.WITHDRAWN, Status.EXPIRED)
    }
