"""What memory knows against a value, or for it, as signals of the gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from memory.domain.admission import examine
from memory.domain.arguments import KEEP_BOTH, Arguments, conflict_of, record_of, validity, validity_of
from memory.domain.topics import topic_of
from memory.gateway.columns import as_arguments
from memory.gateway.values import keys_of
from memory.models import Lifecycle, MemoryRecord, Trust, ValueKey
from memory.queries import admission, conflicts, rejected
from memory.queries.lineage import sources_of
from review.domain.gate import Outcome, Signal, Span
from review.effects import Submission

Place = tuple[Span, ...]


def known(scope: UUID, arguments: Arguments, *, replacing: UUID | None = None) -> Iterator[Signal]:
    """Yield what the records and tombstones of the workspace say of these arguments, but for one they replace.

    Raises: Unavailable where a rejected value might not be recognised; Invalid for times that mean nothing.
    """
    keys = keys_of(scope, arguments["content"])
    whole = (Span("/content", 0, len(arguments["content"]), "value"),)
    yield from _sources(scope, arguments)
    yield from _rejected(scope, keys, whole)
    if admission.set_aside(scope, keys):
        yield Signal("set_aside", Outcome.QUARANTINE, _HELD_ELSEWHERE, whole)
    if twin := admission.twin(scope, keys):
        yield Signal("corroborates", Outcome.ALLOW, _CORROBORATES.format(twin.id), whole)
    topic = topic_of(arguments.get("subject"), arguments.get("predicate"))
    rivals = admission.contradicted(scope, topic, keys[0].digest, validity(arguments))
    yield from _against((rival for rival in rivals if rival.id != replacing), whole)


def superseding(scope: UUID, arguments: Arguments) -> Iterator[Signal]:
    """Yield what is against putting these arguments in the place of the record they name. Raises: as `known`."""
    record_id, place = record_of(arguments), (Span("/record", 0, 36, "record"),)
    yield from named(scope, record_id, lifecycle=Lifecycle.ACTIVE)
    yield Signal("supersedes", Outcome.REVIEW, _SUPERSEDES.format(record_id), place)
    twin = admission.twin(scope, keys_of(scope, arguments["content"]))
    if twin and twin.id == record_id:
        whole = (Span("/content", 0, len(arguments["content"]), "value"),)
        yield Signal("invalid", Outcome.REJECT, SAYS_THE_SAME, whole)
    yield from known(scope, arguments, replacing=record_id)


def named(scope: UUID, record_id: UUID, *, lifecycle: Lifecycle) -> Iterator[Signal]:
    """Yield what is against a change of the record with this id, which has to stand as `lifecycle`."""
    record, place = admission.trusted(scope, record_id), (Span("/record", 0, 36, "record"),)
    names = (("record", str(record_id)),)
    if record is None:
        yield Signal("not_found", Outcome.REJECT, _NOT_HERE.format(record_id), place, names)
    elif record.lifecycle != lifecycle:
        sentence = _STANDS.format(record_id, record.lifecycle, lifecycle.value)
        yield Signal("inactive", Outcome.REJECT, sentence, place, names)


def returning(scope: UUID, record_id: UUID) -> Iterator[Signal]:
    """Yield what is against bringing an archived record back. Raises: Unavailable."""
    yield from named(scope, record_id, lifecycle=Lifecycle.ARCHIVED)
    record, place = admission.trusted(scope, record_id), (Span("/record", 0, 36, "record"),)
    if record is None or record.lifecycle != Lifecycle.ARCHIVED:
        return
    keys = keys_of(scope, record.content)
    yield from _rejected(scope, keys, place)
    if admission.set_aside(scope, keys):
        yield Signal("inactive", Outcome.REJECT, _HELD_ELSEWHERE, place)
    twin = admission.twin(scope, keys)
    if twin and twin.id != record.id:
        yield Signal("invalid", Outcome.REJECT, SAID_AGAIN.format(twin.id), place)
    yield from _against(admission.contradicted(scope, record.topic, keys[0].digest, record.holds), place)


def releasing(submission: Submission) -> Iterator[Signal]:
    """Yield what is against trusting again the record that this puts, or has put, into quarantine.

    Raises: Unavailable.
    """
    scope, place = submission.workspace.id, (Span("/record", 0, 36, "record"),)
    record = admission.record(scope, record_of(submission.arguments))
    if record is None:
        yield Signal("not_found", Outcome.REJECT, _NOT_HERE.format(record_of(submission.arguments)), place)
        return
    is_held_for_it = record.held_by_id is not None and record.held_by_id == submission.proposal
    if record.lifecycle != Lifecycle.ACTIVE or (record.trust == Trust.TRUSTED) == is_held_for_it:
        yield Signal("inactive", Outcome.REJECT, _NOT_TO_HOLD.format(record.id), place)
        return
    yield Signal("set_aside", Outcome.QUARANTINE, _SET_ASIDE, place)
    yield from _in_its_text(record, submission)
    if is_held_for_it:
        yield from _said_meanwhile(record)


def _in_its_text(record: MemoryRecord, submission: Submission) -> Iterator[Signal]:
    """What the text gives away that would hold it if it came today. It may have expired: that is no reason."""
    given_away = examine(as_arguments(record), risk=submission.risk, now=submission.now)
    yield from (signal for signal in given_away if signal.outcome is Outcome.QUARANTINE)


def _said_meanwhile(record: MemoryRecord) -> Iterator[Signal]:
    scope, place = record.workspace_id, (Span("/record", 0, 36, "record"),)
    keys = keys_of(scope, record.content)
    yield from _rejected(scope, keys, place)
    yield from _against(admission.contradicted(scope, record.topic, keys[0].digest, record.holds), place)


def lifting(scope: UUID, tombstone_id: UUID) -> Iterator[Signal]:
    """Yield what is against lifting this tombstone."""
    found, place = rejected.named(scope, tombstone_id), (Span("/tombstone", 0, 36, "tombstone"),)
    names = (("tombstone", str(tombstone_id)),)
    if found is None:
        yield Signal("not_found", Outcome.REJECT, _NO_TOMBSTONE.format(tombstone_id), place, names)
    elif found.lifted_at is not None:
        yield Signal("inactive", Outcome.REJECT, _LIFTED.format(tombstone_id), place, names)


def resolving(scope: UUID, arguments: Arguments) -> Iterator[Signal]:
    """Yield what is against this answer to the conflict that it names. Raises: Invalid for times that mean nothing."""
    conflict_id, place = conflict_of(arguments), (Span("/conflict", 0, 36, "conflict"),)
    names = (("conflict", str(conflict_id)),)
    found = conflicts.named(scope, conflict_id)
    if found is None:
        yield Signal("not_found", Outcome.REJECT, _NO_CONFLICT.format(conflict_id), place, names)
    elif not found.is_open:
        yield Signal("inactive", Outcome.REJECT, _NOT_OPEN.format(conflict_id), place, names)
    old, new = validity_of(arguments, "old"), validity_of(arguments, "new")
    if arguments["answer"] == KEEP_BOTH:
        if old.overlaps(new):
            yield Signal("invalid", Outcome.REJECT, STILL_TOGETHER, (Span("/new", 0, 0, "times"),))
    elif "old" in arguments or "new" in arguments:
        yield Signal("invalid", Outcome.REJECT, _NO_TIMES, (Span("/answer", 0, 0, "answer"),))


_SET_ASIDE = "A reviewer put this record into quarantine. Until others release it no agent recalls it."
_HELD_ELSEWHERE = (
    "A reviewer put a record that says the same into quarantine. People decide on that one first."
)
_NOT_TO_HOLD = "Record {} is in quarantine already, or no longer active. Open its page to see how it stands."
_NO_CONFLICT = "There is no conflict {} here. Check the id and the workspace."
_NOT_OPEN = "Conflict {} is not open any more. Nothing is left to resolve."
STILL_TOGETHER = (
    "Both would still hold at one time and contradict each other. Say until when the old one holds and from when "
    "the new one does, or the other way round."
)
_NO_TIMES = "Times belong to keeping both. Leave them out, or keep both."
_NO_TOMBSTONE = "There is no tombstone {} here. Check the id."
_LIFTED = "Tombstone {} was lifted before. The value can be proposed."
SAYS_THE_SAME = "The record says this already, but for its spelling. Send what it should say instead."
_SUPERSEDES = "It takes the place of record {}, which no agent reads from then on."
SAID_AGAIN = "Record {} was written meanwhile and says the same. Nothing is left to bring back."
_NOT_HERE = "There is no record {} here. Check the id and the workspace of your credential."
_STANDS = "Record {} is {}; this takes one that is {}. Query the memory and name such a record."
_TOMBSTONED = (
    "This value was rejected before and stays rejected; tombstone {} names it. "
    "Only people can lift it, by a proposal."
)
_CORROBORATES = "Trusted record {} says the same. It gets one more source; there is no second record."
_CONFLICT = (
    "Record {} is active and says something else about the same subject. Approving keeps both, in conflict."
)
_INACTIVE = "Record {}, which this is derived from, is not active. Query the memory and name the active one."
_UNKNOWN = (
    "There is no record {} here to derive this from. Check the id and the workspace of your credential."
)


def _rejected(scope: UUID, keys: Sequence[ValueKey], place: Place) -> Iterator[Signal]:
    if tombstone := admission.tombstone(scope, keys):
        names = (("tombstone", str(tombstone.id)),)
        yield Signal("tombstoned", Outcome.REJECT, _TOMBSTONED.format(tombstone.id), place, names)


def _against(rivals: Iterable[MemoryRecord], place: Place) -> Iterator[Signal]:
    for rival in rivals:
        yield Signal("conflict", Outcome.REVIEW, _CONFLICT.format(rival.id), place)


def _sources(scope: UUID, arguments: Arguments) -> Iterator[Signal]:
    named = sources_of(arguments.get("provenance"))
    missing = admission.missing_sources(scope, named)
    for code, sentence, ids in (
        ("not_found", _UNKNOWN, missing.unknown),
        ("inactive", _INACTIVE, missing.inactive),
    ):
        for id_ in ids:
            place = Span(f"/provenance/derived_from/{named.index(id_)}", 0, 36, "record")
            yield Signal(code, Outcome.REJECT, sentence.format(id_), (place,), (("record", str(id_)),))
