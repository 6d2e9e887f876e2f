"""A change that something else overtook: its record when it was proposed, as it is now, and as it would become."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.domain.arguments import Arguments
from memory.domain.masking import masked
from memory.models import MemoryRecord
from memory.queries import people
from memory.words import standing_in_words, stands_in_words
from review.effects import ThreeWay, Version


def rows(record: MemoryRecord, arguments: Arguments, then: Version, after: str) -> Iterator[ThreeWay]:
    """Yield how it stands, what it says, and from how many sources where that is not the same any more.

    `after` says how it would stand once it is carried out.
    """
    stood = stands_in_words(then.state["lifecycle"], then.state["trust"])
    yield ThreeWay(_("The record"), _joined(stood), _joined(standing_in_words(record)), after)
    yield _text(record, arguments)
    before, now = people.sources(record, then.at), people.sources(record)
    if before != now:
        yield ThreeWay(_("Who says so"), _number(before), _number(now), _number(now))


def _joined(stands: tuple[str, str]) -> str:
    return ", ".join(stands).capitalize()


def _text(record: MemoryRecord, arguments: Arguments) -> ThreeWay:
    """What is erased is erased on every side; what took the place of the record is what agents read now."""
    said = masked(record.content).text or _("Erased")
    successor = people.successor(record)
    now = masked(successor.content).text if successor else said
    what = _("What it says; now what replaced it") if successor else _("What it says")
    return ThreeWay(what, said, now, masked(arguments.get("content", record.content)).text or _("Erased"))


def _number(sources: int) -> str:
    return ngettext("%(n)d source", "%(n)d sources", sources) % {"n": sources}
