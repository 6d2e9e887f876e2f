"""What an erasure does to every row that it reaches: the text goes, the row and its digests stay."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from huqan_site.lib.canonical_json import JSON
from memory.domain.arguments import ERASE
from memory.domain.normalise import normalised
from memory.gateway.entries import standing
from memory.gateway.reach import Reach, private_texts, standing_in, texts_of
from memory.gateway.stillness import stand_still
from memory.gateway.sweep import sweep_after
from memory.gateway.tombstones import bury
from memory.models import Erasure, Lifecycle, MemoryRecord, RecordEvidence
from review.access.actors import Actor
from review.audit import log
from review.audit.actions import Action
from review.domain.refusals import Inactive
from review.domain.status import OPEN
from review.models import Comment, Decision, IdempotencyKey, Proposal, Revision
from review.services import take_effect
from review.services.saved_view import forget_views

WHY = "erased: What this said was erased by proposal {}."
SUMMARY = "{}, erased"


@dataclass(frozen=True)
class Targets:
    """The rows that an erasure empties, by their ids: all that has to be known to do it again in an older copy."""

    erasure: UUID
    workspace: UUID
    records: Collection[UUID]
    carriers: Collection[UUID]
    words: Collection[UUID]
    revisions: Collection[UUID]

    @classmethod
    def of(cls, erasure: UUID, reach: Reach) -> Targets:
        return cls(erasure, reach.scope, list(reach.records), reach.carriers, reach.words, reach.revisions)

    @classmethod
    def read(cls, erasure: UUID, workspace: UUID, members: Mapping[str, Any]) -> Targets:
        """The targets that `members` wrote down."""
        named = {name: [UUID(id_) for id_ in members[name]] for name in cls._KINDS}
        return cls(erasure, workspace, **named)

    _KINDS = ("records", "carriers", "words", "revisions")

    def members(self) -> dict[str, JSON]:
        """Return the ids by kind, as they are stored."""
        return {name: sorted(str(id_) for id_ in getattr(self, name)) for name in self._KINDS}

    @property
    def proposals(self) -> set[UUID]:
        return {*self.carriers, *self.words}


def erase(proposal: Proposal, reach: Reach, *, by: Actor) -> dict[str, int]:
    """Erase what `reach` holds, reject its values for good, and return how much of each kind went.

    The bytes leave the files once this is committed. Raises: Inactive where nothing is left to erase, Unavailable;
    TypeError unless `by` is a person.
    """
    stand_still()
    if not reach:
        raise Inactive
    counts, private = reach.counts(), private_texts(reach.proposals, reach.records)
    targets = Targets.of(proposal.id, reach)
    _forget_views(targets)
    empty_records(targets, by=by)
    for content in sorted(reach.contents):
        bury(proposal, content, by=by)
    empty_proposals(targets, by=by)
    log.erase_private_texts(private)
    Erasure.objects.create(
        id=proposal.id,
        workspace_id=reach.scope,
        targets=targets.members(),
        counts=counts,
        erased_at=timezone.now(),
    )
    sweep_after(proposal.id, reach.contents)
    return counts


def erase_again(
    erasure: UUID, workspace: UUID, members: Mapping[str, Any], at: datetime, *, by: Actor
) -> bool:
    """Do an erasure again, of `at`, in an older copy of the database; return whether there was anything to do.

    Joins the open write(). Raises: Unavailable.
    """
    stand_still()
    targets = Targets.read(erasure, workspace, members)
    _forget_views(targets)
    private = private_texts(targets.proposals, targets.records)
    left = standing_in(workspace).filter(id__in=targets.records)
    sweep_after(erasure, set(left.values_list("content", flat=True)))
    counts = {
        "records": empty_records(targets, by=by),
        "proposals": empty_proposals(targets, by=by),
        "private_texts": log.erase_private_texts(private),
    }
    if Erasure.objects.filter(id=erasure).exists():
        return any(counts.values())
    Erasure.objects.create(
        id=erasure, workspace_id=workspace, targets=targets.members(), counts=counts, erased_at=at
    )
    return True


def _forget_views(targets: Targets) -> None:
    """Remove the saved views that say what goes, while it can still be read what that is."""
    records = standing_in(targets.workspace).filter(id__in=targets.records)
    revisions = Revision.objects.filter(Q(proposal__in=targets.carriers) | Q(id__in=targets.revisions))
    asked = [json.loads(arguments) for arguments in revisions.values_list("arguments", flat=True)]
    said = {*records.values_list("content", flat=True), *chain.from_iterable(map(texts_of, asked))}
    texts = set(map(normalised, said)) - {""}
    forget_views(
        targets.workspace,
        targets.proposals,
        lambda words: any(text in normalised(words) for text in texts),
    )


def empty_records(targets: Targets, *, by: Actor) -> int:
    """Erase the texts of the records that still have one, and return how many."""
    now = timezone.now()
    rows = list(standing_in(targets.workspace).filter(id__in=targets.records).order_by("id"))
    RecordEvidence.objects.filter(Q(record__in=targets.records) | Q(proposal__in=targets.carriers)).update(
        provenance=None
    )
    for record in rows:
        _empty(record, targets, by, now)
    return len(rows)


def _empty(record: MemoryRecord, targets: Targets, by: Actor, now: datetime) -> None:
    before = standing(record)
    record.content = record.tokens = ""
    record.subject = record.predicate = record.topic = record.provenance = None
    record.lifecycle, record.retired_at = Lifecycle.ERASED, record.retired_at or now
    record.save()
    log.record(
        Action.MEMORY_ERASED,
        actor=by.audit(),
        workspace=record.workspace_id,
        object=log.ObjectRef("record", record.id),
        before=before,
        after=standing(record),
        proposal=targets.erasure,
        tool=ERASE,
    )


def empty_proposals(targets: Targets, *, by: Actor) -> int:
    """Erase what the proposals said that are not erased yet, ending those still open; return how many."""
    now = timezone.now()
    rows = Proposal.objects.filter(workspace_id=targets.workspace, id__in=targets.proposals)
    left = list(rows.filter(erased_at__isnull=True).select_related("workspace", "agent").order_by("id"))
    for proposal in left:
        if proposal.status in OPEN:
            take_effect.end(proposal, Inactive(), now)
        _note(proposal, targets, by)
    _empty_rows(targets)
    _mark(left, targets, now)
    return len(left)


def _note(proposal: Proposal, targets: Targets, by: Actor) -> None:
    log.record(
        Action.MEMORY_ERASED,
        actor=by.audit(),
        workspace=proposal.workspace_id,
        object=log.ObjectRef("proposal", proposal.id, proposal.revision),
        after={"by": str(targets.erasure), "arguments": proposal.id in targets.carriers},
        agent=proposal.agent_id,
        tool=proposal.tool,
    )


def _empty_rows(targets: Targets) -> None:
    """Empty what was written with these proposals; the digests of it stay."""
    revisions = Revision.objects.filter(proposal__in=targets.proposals)
    revisions.update(rationale="", evidence=[])
    revisions.filter(Q(proposal__in=targets.carriers) | Q(id__in=targets.revisions)).update(arguments="{}")
    Decision.objects.filter(proposal__in=targets.proposals).update(reason="")
    Comment.objects.filter(proposal__in=targets.proposals).update(pointer="", text="")
    IdempotencyKey.objects.filter(proposal__in=targets.proposals).delete()


def _mark(proposals: Iterable[Proposal], targets: Targets, now: datetime) -> None:
    for proposal in proposals:
        if proposal.id in targets.carriers:
            proposal.summary, proposal.fields = SUMMARY.format(proposal.tool), []
        proposal.reason = WHY.format(targets.erasure)
        proposal.run_id = proposal.tool_call_id = proposal.same_key = None
        proposal.erased_at, proposal.erased_by = now, targets.erasure
    columns = ["summary", "fields", "reason", "run_id", "tool_call_id", "same_key", "erased_at", "erased_by"]
    Proposal.objects.bulk_update(proposals, columns, batch_size=200)
