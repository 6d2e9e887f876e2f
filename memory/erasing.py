"""What an approved `memory.erase` does, and all that the gate has to know about it. Only people start it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.domain.arguments import MEMORY_ERASE, Arguments, record_of
from memory.effects import Masked
from memory.gateway.erase import erase
from memory.gateway.reach import Reach, of_label, of_record
from memory.preview import named_record
from memory.queries import erasures
from review.access.actors import Actor
from review.audit.log import ObjectRef
from review.domain.gate import Outcome, Signal, Span
from review.domain.status import Status
from review.effects import NeverHeld, PreviewRow, Submission, WayBack
from review.models import Proposal

SHOWN = 20  # of what goes, by name; the rest is counted


class MemoryErase(Masked, NeverHeld):
    """The effect of `memory.erase {record or about, reason}`: what it reaches has no text any more, anywhere."""

    schema = MEMORY_ERASE

    def signals(self, submission: Submission) -> list[Signal]:
        if reached(submission.workspace.id, submission.arguments):
            return []
        name = "record" if "record" in submission.arguments else "about"
        place = (Span(f"/{name}", 0, len(submission.arguments[name]), name),)
        return [Signal("not_found", Outcome.REJECT, NOTHING, place)]

    def apply(
        self, proposal: Proposal, arguments: Arguments, actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        counts = erase(proposal, reached(proposal.workspace_id, arguments), by=actor)
        return {"result": "succeeded", **counts}

    def preview(self, proposal: Proposal, arguments: Arguments) -> list[PreviewRow]:
        return rows(reached(proposal.workspace_id, arguments))

    def base(self, proposal: Proposal, arguments: Arguments) -> str | None:
        """What stands is in the preview; it has no arguments of its own to compare with."""
        return None

    def target(self, arguments: Arguments) -> ObjectRef | None:
        return ObjectRef("record", record_of(arguments)) if "record" in arguments else None

    def way_back(self, proposal: Proposal) -> WayBack | None:
        """Say that there is none, and where it stands what was erased."""
        if proposal.status != Status.EXECUTED or erasures.named(proposal.id) is None:
            return None
        return WayBack(
            _("Erased for good"),
            _("There is no way back. The certificate says what went, what was searched and what remains."),
            reverse("erasure_certificate", args=[proposal.id]),
            _("Certificate"),
        )


NOTHING = (
    "There is nothing here to erase: it is not in this workspace, or was erased before. Check what you named."
)


def reached(scope: UUID, arguments: Arguments) -> Reach:
    """Return what an erasure with these checked arguments reaches now."""
    if "record" in arguments:
        return of_record(scope, record_of(arguments))
    return of_label(scope, arguments["about"])


def rows(reach: Reach) -> list[PreviewRow]:
    """Return what erasing does: to each record, to what was written about it, to what stays beside it."""
    return [*_records(reach), *_written(reach), *_staying(reach)]


def _records(reach: Reach) -> Iterator[PreviewRow]:
    gone = list(reach.records.values())
    yield from (
        named_record(record, _("Erased for good; its value stays rejected")) for record in gone[:SHOWN]
    )
    if (rest := len(gone) - SHOWN) > 0:
        what = ngettext("%(n)d more record", "%(n)d more records", rest) % {"n": rest}
        yield PreviewRow(what, _("With their text"), _("Erased for good"))


def _written(reach: Reach) -> Iterator[PreviewRow]:
    counts, now = reach.counts(), _("Kept")
    told = (
        ("proposals", _("Proposals: arguments, words and evidence")),
        ("proposals_about_it", _("Proposals that wrote what stays: only words and evidence")),
        ("revisions", _("Revisions of these")),
        ("reasons", _("Reasons that people gave for decisions on them")),
        ("comments", _("Comments of people on them")),
        ("evidence", _("Sources that said the same")),
        ("private_texts", _("Private texts of the audit trail")),
    )
    for kind, what in told:
        if counts[kind]:
            after = _("%(n)d erased; digests remain, and the trail still verifies") % {"n": counts[kind]}
            yield PreviewRow(what, now, after)
    for id_ in sorted(reach.proposals)[:SHOWN]:
        yield PreviewRow(
            _("Proposal"),
            now,
            _("Its page says that it was erased"),
            str(id_),
            reverse("proposal", args=[id_]),
        )


def _staying(reach: Reach) -> Iterator[PreviewRow]:
    silent = reach.derived()
    for record in silent[:SHOWN]:
        yield named_record(record, _("Stays, and is withheld: its source was withdrawn"))
    known = {record.id for record in silent}
    for record in [one for one in reach.siblings() if one.id not in known][:SHOWN]:
        yield named_record(record, _("Stays"))
    yield PreviewRow(
        _("Backups and exports made before"),
        _("Hold the text"),
        _("Hold it until they are destroyed. A restore erases it again before anybody reads"),
    )
