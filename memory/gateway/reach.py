"""How far an erasure reaches: every row that says what is to be erased, and the rows that stay beside it.

It begins at one record, or at all that carries a label: a subject, or the reference of a source. From there it takes
in what says the same: records of the same value (by any retained key) and the other records of their proposals; and
every proposal that wrote, repeated or asked for such a text, or that changes such a record or lifts its rejection.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q, QuerySet

from memory.domain.arguments import ERASE
from memory.domain.labels import labels_of
from memory.gateway.values import keys_in, label_keys_in
from memory.models import (
    Lifecycle,
    MemoryRecord,
    RecordConflict,
    RecordEvidence,
    Tombstone,
    ValueKey,
    value_is_one_of,
)
from memory.queries.lineage import silenced_by
from review.audit.models import Entry, PrivateText
from review.audit.stretches import every
from review.domain.status import Status
from review.models import Comment, Decision, Revision

_TEXTS = ("content", "text")
Holds = Callable[[Mapping[str, Any]], bool]


@dataclass
class Reach:
    """What goes: `records`; the proposals whose arguments go (`carriers`); those of which only the words go.

    `words` are proposals that wrote a record which stays: its arguments stay with it, but for those of `revisions`,
    which said what goes. `contents` are the texts themselves.
    """

    scope: UUID
    records: dict[UUID, MemoryRecord] = field(default_factory=dict)
    carriers: set[UUID] = field(default_factory=set)
    words: set[UUID] = field(default_factory=set)
    revisions: set[UUID] = field(default_factory=set)
    contents: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.records or self.carriers or self.words)

    @property
    def proposals(self) -> set[UUID]:
        return self.carriers | self.words

    def counts(self) -> dict[str, int]:
        """How much of each kind goes."""
        return {
            "records": len(self.records),
            "proposals": len(self.carriers),
            "proposals_about_it": len(self.words),
            "revisions": Revision.objects.filter(proposal__in=self.proposals).count(),
            "reasons": Decision.objects.filter(proposal__in=self.proposals).exclude(reason="").count(),
            "comments": Comment.objects.filter(proposal__in=self.proposals).exclude(text="").count(),
            "evidence": self.evidence().count(),
            "private_texts": len(private_texts(self.proposals, self.records)),
        }

    def evidence(self) -> QuerySet[RecordEvidence]:
        """Where the texts were said again."""
        return RecordEvidence.objects.filter(Q(record__in=self.records) | Q(proposal__in=self.carriers))

    def derived(self) -> list[MemoryRecord]:
        """The recallable records that stay and rest on one that goes, directly or through others: they fall silent."""
        return silenced_by(self.scope, self.records.keys())

    def siblings(self) -> list[MemoryRecord]:
        """The records that stay, about the same as one that goes, or before or after it."""
        topics = {record.topic for record in self.records.values() if record.topic}
        before = {record.supersedes_id for record in self.records.values() if record.supersedes_id}
        beside = Q(topic__in=topics) | Q(id__in=before) | Q(supersedes__in=self.records)
        return list(standing_in(self.scope).filter(beside).exclude(id__in=self.records).order_by("id"))


def of_record(scope: UUID, record_id: UUID) -> Reach:
    """Return what erasing one record of this workspace reaches; nothing where it is erased or not here."""
    return _whole(scope, standing_in(scope).filter(id=record_id), lambda said: False)


def of_label(scope: UUID, digest: str) -> Reach:
    """Return what erasing all that carries the label of this digest reaches."""
    digests = label_keys_in(scope)

    def carries(said: Mapping[str, Any]) -> bool:
        return any(digest in digests(label) for label in labels_of(said))

    marked = [record for record in every(standing_in(scope)) if carries(vars(record))]
    return _whole(scope, marked, carries)


def texts_of(said: Mapping[str, Any]) -> list[str]:
    """Return what the arguments of a call ask to remember."""
    return [said[name] for name in _TEXTS if name in said]


def private_texts(proposals: Iterable[UUID], records: Iterable[UUID]) -> list[int]:
    """Return the entries about these proposals and records whose private texts are not erased.

    Those of an erasure itself are not among them: why it was asked for is what stays.
    """
    about = Q(proposal__in=_texts(proposals)) | Q(object_type="record", object_id__in=_texts(records))
    told = Entry.objects.filter(about).exclude(tool=ERASE).values("seq")
    kept = PrivateText.objects.filter(seq__in=told, text__isnull=False)
    return sorted(set(kept.values_list("seq", flat=True)))


def _whole(scope: UUID, seeds: Iterable[MemoryRecord], carries: Holds) -> Reach:
    reach, keys_of = Reach(scope), keys_in(scope)
    _take(reach, list(seeds), keys_of)
    keys = {key for content in reach.contents for key in keys_of(content)}

    def says_it(said: Mapping[str, Any]) -> bool:
        return carries(said) or any(keys_of(text)[0] in keys for text in texts_of(said))

    found = {record.proposal_id for record in reach.records.values()}
    found |= set(reach.evidence().values_list("proposal_id", flat=True))
    found |= _take_unwritten(reach, says_it)
    found |= _about(reach, keys)
    wrote = standing_in(scope).filter(proposal__in=found).exclude(id__in=reach.records)
    reach.words = set(wrote.values_list("proposal_id", flat=True))
    reach.carriers = found - reach.words
    return reach


def _take(reach: Reach, new: list[MemoryRecord], keys_of: Callable[[str], list[ValueKey]]) -> None:
    """Take in `new`, what has their values, and what else their proposals wrote, until nothing is new."""
    while new:
        reach.records |= {record.id: record for record in new}
        reach.contents |= {record.content for record in new}
        keys = [key for record in new for key in keys_of(record.content)]
        same = value_is_one_of(keys) | Q(proposal__in=[record.proposal_id for record in new])
        new = list(standing_in(reach.scope).filter(same).exclude(id__in=reach.records))


def _take_unwritten(reach: Reach, says_it: Holds) -> set[UUID]:
    """Take in every revision that says it and of which no record does; return their proposals."""
    found = set()
    for revision, said in _unwritten(reach.scope):
        if says_it(said):
            reach.revisions.add(revision.id)
            reach.contents.update(texts_of(said))
            found.add(revision.proposal_id)
    return found


def _about(reach: Reach, keys: Collection[ValueKey]) -> set[UUID]:
    """Return the proposals that change a record that goes, settle its conflict or lift its rejection."""
    rejected = Tombstone.objects.filter(value_is_one_of(keys), workspace_id=reach.scope)
    conflicts = RecordConflict.objects.filter(Q(older__in=reach.records) | Q(newer__in=reach.records))
    things = {id_ for rows in (rejected, conflicts) for id_ in rows.values_list("id", flat=True)}
    names = set(_texts(things | set(reach.records)))
    mentioned = Q(pk__in=())
    for name in names:
        mentioned |= Q(arguments__contains=name)
    rows = every(_inner(reach.scope).filter(mentioned))
    return {row.proposal_id for row in rows if names & _named_in(json.loads(row.arguments))}


def _named_in(arguments: Mapping[str, Any]) -> set[str]:
    """What a call acts on stands at the top of its arguments; what a text is derived from does not."""
    return {value for value in arguments.values() if isinstance(value, str)}


def _unwritten(scope: UUID) -> Iterator[tuple[Revision, dict[str, Any]]]:
    """Yield, with its arguments, every revision that was not carried out."""
    rows = _inner(scope).exclude(proposal__status=Status.EXECUTED, number=F("proposal__revision"))
    for revision in every(rows):
        yield revision, json.loads(revision.arguments)


def _inner(scope: UUID) -> QuerySet[Revision]:
    """What was ever asked of memory here and is not erased; an erasure itself is not about what it erased."""
    tools = [tool for tool in settings.HUQAN_EFFECTS if tool not in (ERASE, "policy.change")]
    return Revision.objects.filter(
        proposal__workspace=scope, proposal__tool__in=tools, proposal__erased_at__isnull=True
    )


def standing_in(scope: UUID) -> QuerySet[MemoryRecord]:
    """Return the records of a workspace that have a text, however they stand."""
    return MemoryRecord.objects.filter(workspace_id=scope).exclude(lifecycle=Lifecycle.ERASED)


def _texts(ids: Iterable[UUID]) -> list[str]:
    return [str(id_) for id_ in ids]
