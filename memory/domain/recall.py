"""What a hit is worth to the agent that asked: admitted, degraded with reasons, or withheld.

The search has already limited candidates to one workspace, trusted and active. It is judged again
here from the record itself, so that an index that lags behind can never hand out what has gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory.domain.validity import BadInterval, Interval

LOW_CONFIDENCE = 0.5


class Outcome(StrEnum):
    ADMIT = "admit"
    DEGRADE = "degrade"
    WITHHOLD = "withhold"


@dataclass(frozen=True)
class Verdict:
    """A decision and the reasons for it, always in the order of the rules below."""

    decision: Outcome
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """A record as far as recall is concerned, at the moment of the read.

    `trust` and `lifecycle` are as of `known_at`. `rule` is the digest of the policy rule under which
    it was approved, `rule_now` of the one that would apply today; None: not known, nothing is said.
    `disputed`: an open conflict names it. `source_withdrawn`: something it was derived from was
    retracted, erased or quarantined. `outlived`: another took its place, but only from a time on that is later
    than the one asked for.
    """

    content: str
    trust: str
    lifecycle: str
    has_provenance: bool
    confidence: float | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    rule: str | None = None
    rule_now: str | None = None
    disputed: bool = False
    source_withdrawn: bool = False
    outlived: bool = False


def judge(record: Standing, *, now: datetime, as_of: datetime | None = None) -> Verdict:
    """Judge `record` at `now` (the `known_at` of a read of the past) for the world `as_of`, else `now`.

    A withheld hit gives only the reasons that withhold it: the others would say something about it.
    """
    withheld = _withheld_for(record)
    if withheld:
        return Verdict(Outcome.WITHHOLD, withheld)
    degraded = _degraded_for(record, now, now if as_of is None else as_of)
    if degraded:
        return Verdict(Outcome.DEGRADE, degraded)
    return Verdict(Outcome.ADMIT, ("current",))


def _withheld_for(record: Standing) -> tuple[str, ...]:
    """Allow-lists: a tier or a lifecycle that nobody has heard of is withheld as well."""
    rules = {
        "quarantined": record.trust != "trusted",
        "inactive": record.lifecycle != "active" and not record.outlived,
        "malformed": _is_malformed(record),
        "source_withdrawn": record.source_withdrawn,
    }
    return tuple(reason for reason, applies in rules.items() if applies)


def _degraded_for(record: Standing, now: datetime, as_of: datetime) -> tuple[str, ...]:
    rules = {
        "expired": record.expires_at is not None and now >= record.expires_at,
        "no_provenance": not record.has_provenance,
        "stale_policy": None not in (record.rule, record.rule_now) and record.rule != record.rule_now,
        "low_confidence": record.confidence is not None and record.confidence < LOW_CONFIDENCE,
        "disputed": record.disputed,
        "not_valid_at": not Interval(record.valid_from, record.valid_to).contains(as_of),
        "superseded": record.outlived,
    }
    return tuple(reason for reason, applies in rules.items() if applies)


def _is_malformed(record: Standing) -> bool:
    """No text, a confidence that is no probability (NaN included), or a validity without a moment."""
    try:
        Interval(record.valid_from, record.valid_to)
    except BadInterval:
        return True
    return not record.content.strip() or not (record.confidence is None or 0 <= record.confidence <= 1)
