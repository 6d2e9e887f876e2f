"""What each record is worth to whoever asks, at one moment of the world and one of the system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import F

from memory.domain import recall
from memory.domain.recall import Outcome, Verdict
from memory.domain.validity import Interval, lifecycle_at
from memory.models import FormerValidity, Lifecycle, MemoryRecord, Trust, outlived_at
from memory.queries.lineage import withdrawn_sources
from review.models import Revision
from review.queries.policies import resolved


@dataclass(frozen=True)
class Moment:
    """When a read takes place, and for when: the world `as_of` (else `now`), the system as `known_at` (else `now`)."""

    now: datetime
    as_of: datetime | None = None
    known_at: datetime | None = None


class Judged(NamedTuple):
    """A record, its verdict, and what it rests on that was withdrawn, the nearest first."""

    record: MemoryRecord
    verdict: Verdict
    withdrawn: Sequence[UUID] = ()

    @property
    def withheld(self) -> bool:
        return self.verdict.decision is Outcome.WITHHOLD


def judge(scope: UUID, records: Sequence[MemoryRecord], moment: Moment) -> list[Judged]:
    """Return a verdict for each of `records`, all of the workspace `scope`.

    The number of queries does not depend on how many there are. A read of the past judges by the validity that was
    known then, and leaves that in the records.
    """
    if not records:
        return []
    as_known(records, moment.known_at)
    withdrawn = withdrawn_sources(scope, records)
    around = _Around(
        disputed=_disputed(scope, records, moment.known_at),
        orphaned=withdrawn.keys(),
        outlived=_outlived(records, moment),
        rules=_rules(scope, records),
    )
    return [
        Judged(record, _verdict(record, around, moment), withdrawn.get(record.id, ())) for record in records
    ]


class _Rules(NamedTuple):
    then: str
    now: str


@dataclass(frozen=True)
class _Around:
    """What a verdict needs that does not stand in the record itself: ids of records; by proposal two rule digests."""

    disputed: set[UUID]
    orphaned: Collection[UUID]
    outlived: set[UUID]
    rules: dict[UUID, _Rules]


def _verdict(record: MemoryRecord, around: _Around, moment: Moment) -> Verdict:
    at, rules = moment.known_at or moment.now, around.rules.get(record.proposal_id)
    lifecycle = _lifecycle(record, at)
    standing = recall.Standing(
        content=record.content,
        trust=record.trust if record.trusted_at and record.trusted_at <= at else Trust.QUARANTINED,
        lifecycle=lifecycle,
        has_provenance=bool(record.provenance),
        confidence=record.confidence,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        expires_at=record.expires_at,
        rule=rules.then if rules else None,
        rule_now=rules.now if rules else "",
        disputed=record.id in around.disputed,
        source_withdrawn=record.id in around.orphaned,
        outlived=lifecycle == Lifecycle.SUPERSEDED and record.id in around.outlived,
    )
    return recall.judge(standing, now=at, as_of=moment.as_of)


def _rules(scope: UUID, records: Iterable[MemoryRecord]) -> dict[UUID, _Rules]:
    """Return by proposal the digest of the rule under which it was decided, and of the one its tool meets now."""
    decided = Revision.objects.filter(proposal__in={record.proposal_id for record in records})
    current = decided.filter(number=F("proposal__revision")).order_by()
    rows = list(current.values_list("proposal_id", "proposal__tool", "rule_digest"))
    now = {tool: resolved(scope, tool).digest for tool in {tool for _, tool, _ in rows}}
    return {proposal: _Rules(then, now[tool]) for proposal, tool, then in rows}


def _lifecycle(record: MemoryRecord, at: datetime) -> str:
    was = lifecycle_at(
        at, lifecycle=record.lifecycle, recorded_at=record.recorded_at, retired_at=record.retired_at
    )
    return was or "unknown"


def rivals(
    scope: UUID, topics: Iterable[str], known_at: datetime | None = None
) -> dict[str, list[MemoryRecord]]:
    """Return the recallable records about each of `topics`, oldest first."""
    about: dict[str, list[MemoryRecord]] = defaultdict(list)
    rows = MemoryRecord.objects.recallable(scope, known_at).filter(topic__in=set(topics)).order_by("id")
    for record in as_known(list(rows), known_at):
        about[str(record.topic)].append(record)
    return about


def contradicts(record: MemoryRecord, value_key: str, validity: Interval) -> bool:
    """Whether `record` says something else than the value with that key about a time they share."""
    return record.value_key != value_key and record.holds.overlaps(validity)


def _disputed(scope: UUID, records: Sequence[MemoryRecord], known_at: datetime | None) -> set[UUID]:
    """The ids of those that another recallable record contradicts."""
    topics = {record.topic for record in records if record.topic}
    about = rivals(scope, topics, known_at) if topics else {}
    return {
        record.id
        for record in records
        for rival in about.get(record.topic or "", ())
        if contradicts(rival, record.value_key, record.holds)
    }


def as_known(records: Sequence[MemoryRecord], known_at: datetime | None) -> Sequence[MemoryRecord]:
    """Give each of `records` the validity that was known at `known_at`, and return them."""
    if known_at is None:
        return records
    later = FormerValidity.objects.filter(record__in=[record.id for record in records], until__gt=known_at)
    said = {row.record_id: row for row in later.order_by("-until", "-id")}  # the first one after it is left
    for record in records:
        if former := said.get(record.id):
            record.valid_from, record.valid_to = former.valid_from, former.valid_to
    return records


def _outlived(records: Sequence[MemoryRecord], moment: Moment) -> set[UUID]:
    """The ids of those that were superseded only from a time on that is later than the one asked for."""
    superseded = [record.id for record in records if record.lifecycle == Lifecycle.SUPERSEDED]
    if not superseded or moment.as_of is None:
        return set()
    rows = MemoryRecord.objects.filter(outlived_at(moment.as_of), id__in=superseded)
    return set(rows.values_list("id", flat=True))
