"""What every call may answer, for the OpenAPI document: the refusals beside the answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from review.api.schemas import ProblemOut

ALWAYS = (401, 403, 405, 429, 503)
WITH_A_BODY = (400, 413, 415, 422)


def answers(good: Mapping[int, Any], *, body: bool = False, refuses: Iterable[int] = ()) -> dict[int, Any]:
    """Return ninja's response table: `good` answers, what any call may refuse, and what this one may."""
    statuses = {*ALWAYS, *refuses, *(WITH_A_BODY if body else ())}
    return {**good, **dict.fromkeys(sorted(statuses), ProblemOut)}
