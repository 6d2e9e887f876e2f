"""Who proposed a policy writes it otherwise, while it waits or once it was sent back.

He was its author before and stays the only one, so the same others decide; the votes they gave are outdated.
"""

from __future__ import annotations

from uuid import UUID

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.audit import log
from review.domain import status
from review.domain.refusals import NotEligible
from review.domain.status import Status
from review.models import Proposal
from review.queries.cases import current_revisions
from review.queries.visible import must_be_visible, started_by
from review.services.propose_policy import TOOL, Draft, refuse_draft
from review.services.revise import advance, mind_the_state, record_refused_revision
from review.services.settle import settle
from review.services.transitions import lock, must_hold_deciding_role
from review.services.weigh import weigh_own

NOT_YOURS = (
    "Only whoever proposed this policy writes it otherwise. Reject it, request changes, or propose yours."
)


def revise_policy(proposal_id: UUID, draft: Draft, *, revision: int, by: PersonActor) -> Proposal:
    """Return the `policy.change` with `draft` as its current revision, in place of number `revision`.

    Each refused attempt is recorded. What waits word for word already stays: a form sent twice makes one revision.

    Raises: NotFound, NotEligible, AlreadyDecided, Expired, StaleRevision, PolicyChanged, Invalid, StaleBinding,
    ReasonRequired, Unsatisfiable.
    """
    text = canonical(draft.arguments())

    def refused(refusal: Refusal) -> None:
        record_refused_revision(proposal_id, refusal, text, by)

    return settle(lambda: _revise(proposal_id, draft, text, revision, by), refused=refused)


def _revise(proposal_id: UUID, draft: Draft, text: str, revision: int, by: PersonActor) -> Proposal:
    proposal = lock(proposal_id)
    # A role that is lost, or a version that comes into force, is so before this or after it.
    now = log.take_turn()
    must_be_visible(proposal, by.person.id, now)
    if proposal.tool != TOOL or not started_by(proposal, by.person.id):
        raise NotEligible(NOT_YOURS)
    must_hold_deciding_role(proposal, by, now)
    standing = status.current(proposal.status, proposal.expires_at, now)
    if standing is Status.PENDING and current_revisions([proposal])[proposal.id].arguments == text:
        return proposal
    mind_the_state(proposal, revision, now)
    refuse_draft(proposal.workspace, draft)
    arguments = draft.arguments()
    weighed = weigh_own(TOOL, arguments, workspace=proposal.workspace, now=now, proposal=proposal.id)
    advance(proposal, arguments, text, draft.reason, weighed, by, now)
    return proposal
