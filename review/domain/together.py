"""What may be decided together: rejecting always, approving only what is alike and of low risk."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from review.domain.policy import Risk
from review.domain.refusals import NotTogether

MOST = 20  # approvals at once; a person who looks at more looks at none


class Kind(NamedTuple):
    """What has to be the same, and low, for calls that one click approves."""

    tool: str
    risk: str


def refuse_together(calls: Collection[Kind]) -> None:
    """Refuse to approve `calls` at once unless they are one low-risk tool's, and few.

    Raises: NotTogether.
    """
    if len(calls) > MOST or len(set(calls)) > 1 or any(call.risk != Risk.LOW for call in calls):
        raise NotTogether
