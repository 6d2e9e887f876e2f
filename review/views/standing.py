"""What became of the thing that a proposal changes: before it was decided, and once it was carried out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from review.audit.actions import Action
from review.domain.decision import OUTDATED, Case
from review.domain.status import OPEN
from review.effects import effect_of
from review.queries.versions import happened_since, made_for

if TYPE_CHECKING:
    from review.access.models import Person
    from review.audit.models import Entry
    from review.models import Proposal, Revision


def outdated_notice(
    proposal: Proposal, revision: Revision, arguments: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a notice of what happened since to what an open proposal would change, if anything did."""
    happened = happened_since(revision, proposal.tool, arguments) if proposal.status in OPEN else []
    if not happened:
        return []
    title = _("Meanwhile: %(events)s") % {"events": "; ".join(map(_event, happened))}
    return [{"tone": "amber", "sign": "warning", "title": title, "sentence": OUTDATED}]


def three_way(proposal: Proposal, revision: Revision, arguments: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what an open proposal would change as it was, as it is and as it would be, if that is not the same."""
    effect = effect_of(proposal.tool) if proposal.status in OPEN else None
    if effect is None or not happened_since(revision, proposal.tool, arguments):
        return []
    then = made_for(revision, proposal.tool, arguments)
    return [row._asdict() for row in effect.three_way(proposal, arguments, then)] if then else []


def _event(entry: Entry) -> str:
    did = {
        Action.MEMORY_CORROBORATED: _("another source was added"),
        Action.MEMORY_SUPERSEDED: _("it was replaced"),
        Action.MEMORY_RETRACTED: _("it was retracted"),
        Action.MEMORY_ARCHIVED: _("it was archived"),
        Action.MEMORY_RESTORED: _("it was restored"),
        Action.MEMORY_QUARANTINED: _("it was put into quarantine"),
        Action.MEMORY_RELEASED: _("it was released"),
        Action.MEMORY_DISCARDED: _("it was discarded"),
        Action.MEMORY_ERASED: _("it was erased"),
        Action.TOMBSTONE_LIFTED: _("it was lifted"),
        Action.CONFLICT_RESOLVED: _("it was resolved"),
    }.get(Action(entry.action), entry.action)
    at = entry.time.strftime("%H:%M UTC")
    return _("%(did)s at %(at)s, by %(who)s") % {
        "did": did,
        "at": at,
        "who": entry.account or _("the console"),
    }


def erased_notice(proposal: Proposal, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a notice that what `proposal` said was erased, when and by which proposal, if it was."""
    if proposal.erased_at is None:
        return []
    sentence = (
        _("Its reasons, words and evidence are gone. What it wrote stays, and so do its digests.")
        if arguments
        else _(
            "Its arguments, reasons, words and evidence are gone. Its digests stay, and the trail verifies."
        )
    )
    return [
        {
            "tone": "neutral",
            "sign": "note",
            "title": _("Erased on %(date)s")
            % {"date": f"{date_format(proposal.erased_at, 'j M Y, H:i')} UTC"},
            "sentence": sentence,
            "link_url": reverse("proposal", args=[proposal.erased_by]),
            "link_label": _("by this proposal"),
        }
    ]


def way_back_notice(proposal: Proposal, case: Case, person: Person, now: datetime) -> list[dict[str, Any]]:
    """Return the way back from what was carried out, for whoever may begin it."""
    effect = effect_of(proposal.tool)
    way = effect.way_back(proposal) if effect else None
    if way is None or case.electorate.membership(person.id, now) is None:
        return []
    return [
        {
            "tone": "neutral",
            "sign": "note",
            "title": way.title,
            "sentence": way.sentence,
            "link_url": way.url,
            "link_label": way.label,
        }
    ]
