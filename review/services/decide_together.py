"""One person decides several proposals at once: each by itself, on its own binding, with its own result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.domain.decision import Verdict
from review.domain.refusals import NotTogether
from review.domain.together import Kind, refuse_together
from review.models import Proposal
from review.queries.visible import among
from review.services.decide import Ballot, decide, decline


class Result(NamedTuple):
    """What became of one of several: the proposal as it then stands, or why nothing was recorded."""

    id: UUID
    proposal: Proposal | None
    refusal: Refusal | None


def decide_together(ballots: Mapping[UUID, Ballot], *, by: PersonActor) -> list[Result]:
    """Cast each of `ballots`; one that is refused leaves the others alone. Each refused attempt is recorded."""
    alone = _why_alone(ballots, by)
    return [_cast(id_, ballot, by, alone) for id_, ballot in ballots.items()]


def _why_alone(ballots: Mapping[UUID, Ballot], by: PersonActor) -> NotTogether | None:
    """Return why the approvals among `ballots` may not be given together; the binding of each holds its risk."""
    approved = [id_ for id_, ballot in ballots.items() if ballot.verdict == Verdict.APPROVE]
    calls = [Kind(row.tool, row.risk) for row in among(by.person, approved, timezone.now())]
    try:
        refuse_together(calls)
    except NotTogether as refusal:
        return refusal
    return None


def _cast(id_: UUID, ballot: Ballot, by: PersonActor, alone: NotTogether | None) -> Result:
    try:
        if alone is not None and ballot.verdict == Verdict.APPROVE:
            decline(id_, alone, by=by, ballot=ballot)
        return Result(id_, decide(id_, by=by, ballot=ballot).proposal, None)
    except Refusal as refusal:
        return Result(id_, None, refusal)
