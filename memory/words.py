"""How pages call what memory knows: signals, verdicts, states, sources."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from memory.domain.masking import masked

if TYPE_CHECKING:
    from memory.domain.validity import Interval
    from memory.models import MemoryRecord


def signal_title(code: str) -> str:
    """Return a few words for a signal of the gate."""
    titles = {
        "credential": _("A secret stands in it"),
        "untrusted_source": _("The source is not trusted"),
        "model_instructions": _("It gives orders to a model"),
        "hidden_characters": _("It hides characters"),
        "look_alike": _("Letters pass for others"),
        "no_provenance": _("No source is given"),
        "set_aside": _("A reviewer put it into quarantine"),
        "supersedes": _("It takes the place of a record"),
        "conflict": _("It contradicts a trusted record"),
        "corroborates": _("A trusted record says the same"),
    }
    return titles.get(code, code.replace("_", " ").capitalize())


def reason_in_words(reason: str) -> str:
    """Return a reason of a recall verdict as a clause."""
    clauses = {
        "current": _("holds now"),
        "expired": _("has expired"),
        "no_provenance": _("no source is given"),
        "stale_policy": _("approved under another rule than today's"),
        "low_confidence": _("its confidence is under one half"),
        "disputed": _("another record contradicts it"),
        "not_valid_at": _("does not hold at this time"),
        "superseded": _("held then; another one took its place later"),
        "quarantined": _("in quarantine"),
        "inactive": _("no longer active"),
        "malformed": _("not a well-formed record"),
        "source_withdrawn": _("its source was withdrawn"),
    }
    return clauses.get(reason, reason.replace("_", " "))


def standing_in_words(record: MemoryRecord) -> tuple[str, str]:
    """Return lifecycle and trust of a record in words."""
    return stands_in_words(record.lifecycle, record.trust)


def stands_in_words(lifecycle: str, trust: str) -> tuple[str, str]:
    """Return a lifecycle and a trust in words."""
    lifecycles = {
        "active": _("active"),
        "superseded": _("superseded"),
        "archived": _("archived"),
        "retracted": _("retracted"),
        "discarded": _("discarded"),
        "erased": _("erased"),
    }
    trusts = {"trusted": _("trusted"), "quarantined": _("in quarantine")}
    return lifecycles.get(lifecycle, lifecycle), trusts.get(trust, trust)


def answer_in_words(answer: str) -> str:
    """Return an answer to a conflict in words."""
    answers = {
        "keep_old": _("Keep the old one"),
        "keep_new": _("Keep the new one"),
        "keep_both": _("Keep both, each for its time"),
        "remove_both": _("Remove both"),
    }
    return answers.get(answer, answer)


def in_words(moment: datetime) -> str:
    """Return a moment of the world as a sentence says it, in UTC."""
    return f"{date_format(moment.astimezone(UTC), 'j M Y H:i')} UTC"


def holds_in_words(holds: Interval) -> str:
    """Return when something holds as a clause: "from …", "until …", both, or always."""
    if holds.start and holds.end:
        return _("from %(start)s until %(end)s") % {
            "start": in_words(holds.start),
            "end": in_words(holds.end),
        }
    if holds.start:
        return _("from %(start)s on") % {"start": in_words(holds.start)}
    return _("until %(end)s") % {"end": in_words(holds.end)} if holds.end else _("always")


def source_of(provenance: dict[str, Any] | None) -> tuple[str, str]:
    """Return kind and reference of a source as a page may show them."""
    if not provenance:
        return _("none given"), ""
    named = (provenance.get("title"), provenance.get("ref"))
    return masked(str(provenance.get("kind", ""))).text, masked(
        ", ".join(str(part) for part in named if part)
    ).text


def source_in_words(provenance: dict[str, Any] | None) -> str:
    """Return a source in one line, as a page may show it."""
    kind, ref = source_of(provenance)
    return f"{kind}, {ref}" if ref else kind


def rests_on(line: int) -> str:
    """Return for what line of a file another one has to wait."""
    return _(
        "It rests on line %(line)d, which is not remembered here yet. "
        "Import the same file again once that is decided."
    ) % {"line": line}
