"""What approving a change of memory would do, said before anybody decides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.domain.arguments import Arguments, validity
from memory.domain.masking import masked
from memory.domain.topics import topic_of
from memory.domain.validity import Interval
from memory.gateway.values import keys_of
from memory.models import Answer, MemoryRecord, RecordConflict, Tombstone, ValueKey
from memory.queries import admission, lineage, people, rejected
from memory.words import holds_in_words, in_words, standing_in_words
from review.audit.refusals import Unavailable
from review.domain.status import Status
from review.effects import PreviewRow
from review.models import Proposal

NAMED = 5  # of what falls silent with a record; the rest is counted


def rows(proposal: Proposal, arguments: Arguments, *, replacing: UUID | None = None) -> list[PreviewRow]:
    """Return what `apply` would do now: to records, to recall, and to what stands against it and is not replaced."""
    try:
        keys = keys_of(proposal.workspace_id, arguments["content"])
    except Unavailable as unavailable:
        return [PreviewRow(_("Memory"), _("Cannot be written to"), unavailable.detail)]
    return list(_rows(proposal, arguments, keys, replacing))


def of_retraction(record: MemoryRecord) -> list[PreviewRow]:
    """Return what retracting does: to the record, to recall, to what rests on it, to its value."""
    readers = len(people.readers(record.workspace_id, timezone.now()))
    return [
        named_record(record, _("Retracted, for good. People still see it")),
        PreviewRow(_("Recall"), _can_recall(readers), _("No agent can recall it")),
        *_silenced(record),
        PreviewRow(
            _("Its value"),
            _("Can be proposed"),
            _("Rejected, also in other letters. Lifting that is a proposal"),
        ),
    ]


def of_setting_aside(record: MemoryRecord) -> list[PreviewRow]:
    """Return what putting `record` into quarantine does, at once: to it, to recall, to what rests on it."""
    readers = len(people.readers(record.workspace_id, timezone.now()))
    return [
        named_record(record, _("In quarantine, until others release or discard it")),
        PreviewRow(_("Recall"), _can_recall(readers), _("No agent can recall it")),
        *_silenced(record),
    ]


def of_superseding(record: MemoryRecord, begins: datetime | None = None) -> list[PreviewRow]:
    """Return what taking the place of `record` does to it; `begins`: from when what takes its place holds."""
    if begins is None or not record.holds.overlaps(Interval(None, begins)):
        return [named_record(record, _("Superseded. People still see it"))]
    after = _("Superseded. Asked for a time before %(begins)s, agents still get it, marked so")
    return [named_record(record, after % {"begins": in_words(begins)})]


def of_lifting(tombstone: Tombstone) -> list[PreviewRow]:
    """Return what lifting does: the value is free, and nothing is remembered by that."""
    since = _("Rejected on %(date)s by %(who)s") % {
        "date": date_format(tombstone.created_at, "j M Y"),
        "who": rejected.by_whom(tombstone),
    }
    text = rejected.texts([tombstone])[tombstone.id]
    return [
        PreviewRow(_("The value"), since, _("Can be proposed again"), quote=masked(text).text),
        PreviewRow(_("Recall"), _("No agent can recall it"), _("Still none: it has to be proposed")),
    ]


def of_archiving(record: MemoryRecord) -> list[PreviewRow]:
    """Return what archiving does: to the record and to recall."""
    readers = len(people.readers(record.workspace_id, timezone.now()))
    return [
        named_record(record, _("Archived. It can be restored")),
        PreviewRow(_("Recall"), _can_recall(readers), _("No agent can recall it")),
    ]


def of_restoring(record: MemoryRecord) -> list[PreviewRow]:
    """Return what restoring does: to the record, to recall, and to what says something else."""
    readers = len(people.readers(record.workspace_id, timezone.now()))
    rivals = admission.contradicted(record.workspace_id, record.topic, record.value_key, record.holds)
    return [
        named_record(record, _("Active, trusted")),
        PreviewRow(_("Recall"), _("No agent can recall it"), _can_recall(readers)),
        *(_conflict(rival) for rival in rivals),
    ]


def of_resolution(conflict: RecordConflict, answer: str, old: Interval, new: Interval) -> list[PreviewRow]:
    """Return what an answer makes of the two sides of a conflict; `old` and `new`: when each then holds."""
    older, newer = conflict.older, conflict.newer
    gone = _("Retracted, for good, and its value rejected")
    stays = _("Stays, and is no longer in dispute")
    after = {
        Answer.KEEP_OLD: (stays, gone),
        Answer.KEEP_NEW: (gone, stays),
        Answer.REMOVE_BOTH: (gone, gone),
        Answer.KEEP_BOTH: (_holding(old), _holding(new)),
    }[Answer(answer)]
    silent = [
        row
        for side, becomes in zip((older, newer), after, strict=True)
        if becomes == gone
        for row in _silenced(side)
    ]
    return [named_record(older, after[0]), named_record(newer, after[1]), *silent]


def _holding(holds: Interval) -> str:
    return _("Stays, and holds %(when)s") % {"when": holds_in_words(holds)}


def named_record(record: MemoryRecord, after: str) -> PreviewRow:
    lifecycle, trust = standing_in_words(record)
    return PreviewRow(
        _("Record"),
        f"{lifecycle}, {trust}".capitalize(),
        after,
        what_id=str(record.id),
        what_url=reverse("memory_record", args=[record.id]),
        quote=masked(record.content).text,
    )


def _silenced(record: MemoryRecord) -> list[PreviewRow]:
    """What rests on it, directly or through others, falls silent with it: how much, then the nearest by name."""
    silent = lineage.silenced_by(record.workspace_id, [record.id])
    if not silent:
        return []
    number, withheld = len(silent), _("Withheld: its source was withdrawn")
    what = ngettext("%(n)d record rests on it", "%(n)d records rest on it", number) % {"n": number}
    return [
        PreviewRow(what, _("Recalled"), withheld),
        *(named_record(one, withheld) for one in silent[:NAMED]),
    ]


def _rows(
    proposal: Proposal, arguments: Arguments, keys: list[ValueKey], replacing: UUID | None
) -> Iterator[PreviewRow]:
    twin = admission.twin(proposal.workspace_id, keys)
    yield _more_evidence(twin, arguments) if twin else _record(proposal, arguments)
    yield _recall(proposal.workspace_id, known=twin is not None)
    topic = topic_of(arguments.get("subject"), arguments.get("predicate"))
    for rival in admission.contradicted(proposal.workspace_id, topic, keys[0].digest, validity(arguments)):
        if rival.id != replacing:
            yield _conflict(rival)


def _record(proposal: Proposal, arguments: Arguments) -> PreviewRow:
    after = _("Active, trusted. Source: %(source)s") % {
        "source": source_in_words(arguments.get("provenance"))
    }
    if proposal.status == Status.QUARANTINED:
        return PreviewRow(_("Held record"), _("In quarantine: no agent reads it"), after)
    return PreviewRow(_("New record"), _("Does not exist"), after)


def _more_evidence(twin: MemoryRecord, arguments: Arguments) -> PreviewRow:
    says_so = _("Record %(id)s, which says the same") % {"id": twin.id}
    after = _("The same record with one more source: %(source)s")
    return PreviewRow(
        says_so, _("Active, trusted"), after % {"source": source_in_words(arguments.get("provenance"))}
    )


def _recall(scope: UUID, *, known: bool) -> PreviewRow:
    readers = len(people.readers(scope, timezone.now()))
    after = _can_recall(readers)
    return PreviewRow(_("Recall"), after if known else _("No agent can recall it"), after)


def _can_recall(readers: int) -> str:
    return ngettext("%(n)d agent can recall it", "%(n)d agents can recall it", readers) % {"n": readers}


def _conflict(rival: MemoryRecord) -> PreviewRow:
    """The record that says something else: what it says, who said it, and what becomes of the two."""
    by = rival.agent.name if rival.agent else _("a person")
    named = {"who": by, "source": source_in_words(rival.provenance)}
    return PreviewRow(
        _("A record that says something else"),
        _("Active, trusted. Said by %(who)s, source: %(source)s") % named,
        _("Stays, in conflict: agents get both, each marked as disputed, until people resolve it"),
        what_id=str(rival.id),
        what_url=reverse("memory_record", args=[rival.id]),
        quote=masked(rival.content).text,
    )


def source_in_words(provenance: dict[str, object] | None) -> str:
    """Return where something comes from, on one line, in the agent's own words where it gave some."""
    if not provenance:
        return _("none given; agents are told so")
    named = (provenance.get("kind"), provenance.get("title"), provenance.get("ref"))
    return ", ".join(str(part) for part in named if part)
