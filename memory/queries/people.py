"""What people see of memory: records with their sources, what stands beside a text, what agents do not get.

`scopes` are the workspaces in which the person who looks has a role; nothing outside them is found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.models import MemoryRecord, RecordEvidence
from memory.queries.corpus import Present, Unrecallable
from memory.queries.recall import Found, Question
from memory.queries.verdicts import Moment, contradicts, judge, rivals
from memory.search import Mode, search
from memory.search.answer import LONGEST_QUERY
from review.access.models import Agent
from review.access.roles import Scope
from review.audit.actions import Action
from review.audit.models import Entry
from review.domain.refusals import NotFound

NEAREST = 3
LOOKED_AT = 50  # hits in which the nearest are looked for
NEAR = 0.5


class Neighbour(NamedTuple):
    """A trusted record beside a text: it contradicts it, or nearly says the same."""

    record: MemoryRecord
    contradicts: bool


class Event(NamedTuple):
    """One thing that happened to a record: when, by whom, what, by which proposal; `seq` is that of its entry.

    `who` is an account or the name of an agent, empty for the console; `tool` is that of the proposal.
    """

    at: datetime
    who: str
    action: Action
    tool: str
    proposal: UUID | None
    seq: int


def record(scopes: Iterable[UUID], id_: UUID) -> MemoryRecord:
    """Return one record, however it stands, with what its page names. Raises: NotFound."""
    rows = MemoryRecord.objects.select_related("workspace", "agent", "proposal", "held_by")
    found = rows.filter(workspace_id__in=list(scopes), id=id_).first()
    if found is None:
        raise NotFound
    return found


def records(scope: UUID, ids: Sequence[UUID]) -> dict[UUID, MemoryRecord]:
    """Return those of these records that are in this workspace, however they stand."""
    return MemoryRecord.objects.filter(workspace_id=scope).in_bulk(ids)


def successor(record: MemoryRecord) -> MemoryRecord | None:
    """Return what took the place of `record`, the latest if that happened more than once."""
    return MemoryRecord.objects.filter(supersedes=record).order_by("-id").first()


def sources(record: MemoryRecord, at: datetime | None = None) -> int:
    """Return from how many proposals `record` is known, now or at a moment."""
    said_again = RecordEvidence.objects.filter(record=record)
    return 1 + (said_again.filter(added_at__lte=at) if at else said_again).count()


def evidence(record: MemoryRecord) -> QuerySet[RecordEvidence]:
    """Return what else said the same, oldest first."""
    return RecordEvidence.objects.filter(record=record).select_related("agent", "proposal").order_by("id")


def history(record: MemoryRecord) -> list[Event]:
    """Return what the log tells of a record, from the proposal that brought it on, newest first."""
    brought = Q(proposal=str(record.proposal_id), action=Action.PROPOSAL_PROPOSED)
    told = list(
        Entry.objects.filter(brought | Q(object_type="record", object_id=str(record.id))).order_by("-seq")
    )
    names = {str(one.id): one.name for one in Agent.objects.filter(id__in={e.agent for e in told if e.agent})}
    return [_event(entry, names) for entry in told]


def _event(entry: Entry, names: Mapping[str, str]) -> Event:
    """Who an entry is by: the agent acted itself only where no account did, and the console has neither."""
    acted = json.loads(entry.canonical)["actor"]["kind"]
    who = entry.account or (names.get(entry.agent or "", "") if acted == "agent" else "")
    return Event(
        at=entry.time,
        who=who,
        action=Action(entry.action),
        tool=entry.tool or "",
        proposal=UUID(entry.proposal) if entry.proposal else None,
        seq=entry.seq,
    )


def neighbours(record: MemoryRecord) -> list[Neighbour]:
    """Return the trusted records that contradict `record`, then the few nearest to it in words."""
    against = _contradicted(record)
    near = _nearest(record, {rival.id for rival in against})
    return [Neighbour(rival, True) for rival in against] + [Neighbour(twin, False) for twin in near]


def readers(scope: UUID, now: datetime) -> list[Agent]:
    """Return the agents that would be able to recall what is released in this workspace, by name."""
    able = Agent.objects.filter(
        workspace_id=scope,
        stopped_at__isnull=True,
        tokens__revoked_at__isnull=True,
        tokens__expires_at__gt=now,
    )
    found = able.prefetch_related("tokens").order_by("name").distinct()
    return [agent for agent in found if any(Scope.READ in token.scopes for token in agent.tokens.all())]


def kept_from_agents(scope: UUID, question: Question, moment: Moment) -> list[Found]:
    """Return what matches `question` and agents do not get at that moment: held or retired; people see why."""
    hits = search(Unrecallable(), scope, question.query, question.mode, question.limit, question.lang).hits
    known = MemoryRecord.objects.filter(workspace_id=scope, recorded_at__lte=moment.known_at or moment.now)
    rows = known.in_bulk([hit.id for hit in hits])
    present = [hit for hit in hits if hit.id in rows]
    judged = judge(scope, [rows[hit.id] for hit in present], moment)
    found = [Found(one, hit.score) for one, hit in zip(judged, present, strict=True)]
    return [hit for hit in found if hit.judged.withheld]


def _contradicted(record: MemoryRecord) -> list[MemoryRecord]:
    if record.topic is None:
        return []
    about = rivals(record.workspace_id, [record.topic])[record.topic]
    return [
        rival
        for rival in about
        if rival.id != record.id and contradicts(rival, record.value_key, record.holds)
    ]


def _nearest(record: MemoryRecord, seen: set[UUID]) -> list[MemoryRecord]:
    """Return the few trusted records that have most words in common with `record`, if that is most of the words."""
    words = record.content[:LONGEST_QUERY]
    if not words.strip():
        return []
    hits = search(Present(), record.workspace_id, words, Mode.BM25, LOOKED_AT).hits
    rows = MemoryRecord.objects.recallable(record.workspace_id).in_bulk([hit.id for hit in hits])
    near = [(_overlap(record, row), row) for row in rows.values() if row.id not in seen | {record.id}]
    ranked = sorted(near, key=lambda pair: (-pair[0], pair[1].id))
    return [row for overlap, row in ranked if overlap >= NEAR][:NEAREST]


def _overlap(one: MemoryRecord, other: MemoryRecord) -> float:
    """How much of the words of two records is common to both, from 0 to 1 (Jaccard)."""
    mine, theirs = set(one.tokens.split()), set(other.tokens.split())
    return len(mine & theirs) / (len(mine | theirs) or 1)
