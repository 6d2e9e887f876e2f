"""A person says something to the others about a proposal. It decides nothing and binds nothing; no agent reads it."""

from __future__ import annotations

import json
from uuid import UUID

from django.utils import timezone

from review.access.actors import PersonActor
from review.access.refusals import Mistyped
from review.audit.transaction import write
from review.domain.pointers import Nowhere, lookup
from review.models import Comment, Proposal
from review.queries.story import current_revision
from review.queries.visible import must_be_visible
from review.services.transitions import lock

MOST = 4_000  # characters
EMPTY = "A comment without words says nothing to the others. Write one."
TOO_LONG = "A comment takes 4,000 characters at most. Shorten it."
ERASED = "What this proposal said was erased, so nothing more is written beside it."
NO_SUCH_PLACE = "The arguments have no such place now. Choose another, or comment on the whole."


def comment(proposal_id: UUID, *, by: PersonActor, text: str, pointer: str = "") -> Comment:
    """Keep what `by` says about the current revision, or about the place in its arguments that `pointer` names.

    Anybody with a role in the workspace may. No entry is made of it: see docs/decisions.md.
    Raises: NotFound, Mistyped.
    """
    with write():
        proposal, now = lock(proposal_id), timezone.now()
        must_be_visible(proposal, by.person.id, now)
        _check(proposal, text.strip(), pointer)
        return Comment.objects.create(
            proposal=proposal,
            person=by.person,
            revision=proposal.revision,
            pointer=pointer,
            text=text.strip(),
            created_at=now,
        )


def _check(proposal: Proposal, text: str, pointer: str) -> None:
    if proposal.erased_at is not None:
        raise Mistyped(ERASED)
    if not text:
        raise Mistyped(EMPTY)
    if len(text) > MOST:
        raise Mistyped(TOO_LONG)
    try:
        lookup(json.loads(current_revision(proposal).arguments), pointer)
    except Nowhere as unknown:
        raise Mistyped(NO_SUCH_PLACE) from unknown
