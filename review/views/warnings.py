"""The warnings above a diff: hidden characters, what changed since, what ends soon. None can be dismissed."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from huqan_site.lib import text_safety
from huqan_site.lib.json_strings import strings
from review.queries.bases import Base

if TYPE_CHECKING:
    from review.models import Proposal, Revision

HIDDEN = {"bidi_control", "zero_width", "tag_character", "variation_selector", "control_character"}
DISGUISED = {"mixed_script", "look_alike"}
SOON = timedelta(hours=1)
TOLD = 3  # of what happened since somebody looked


def warnings_of(
    proposal: Proposal, revision: Revision, arguments: Any, base: Base, now: datetime
) -> list[dict[str, Any]]:
    """Return the notices of one proposal, red ones first, neutral ones last."""
    return [
        *suspicious(arguments),
        *_changed_since(proposal, base),
        *_ends_soon(proposal, now),
        *_edited(revision),
    ]


def suspicious(arguments: Any) -> list[dict[str, Any]]:
    """Return a notice for each string that hides something, or passes for something else."""
    found: dict[str, list[text_safety.Finding]] = defaultdict(list)
    for finding in text_safety.inspect_value(arguments):
        found[finding.pointer].append(finding)
    texts = dict(strings(arguments))
    notices = [_notice(pointer, texts[pointer], findings) for pointer, findings in found.items()]
    return sorted(
        (notice for group in notices for notice in group), key=lambda notice: notice["tone"] != "red"
    )


def _notice(pointer: str, text: str, findings: list[text_safety.Finding]) -> list[dict[str, Any]]:
    codes = Counter(finding.code for finding in findings)
    hidden = [text[at] for f in findings if f.code in HIDDEN for at in range(f.start, f.end)]
    notices = []
    if hidden:
        title = ngettext("%(n)d hidden character in", "%(n)d hidden characters in", len(hidden)) % {
            "n": len(hidden)
        }
        shown = _("It is shown below in its place as a code point. Nothing was stripped.")
        notices.append(_warning("red", "eye", title, pointer, shown, _points(hidden)))
    if disguised := sum(codes[code] for code in DISGUISED):
        title = ngettext("%(n)d look-alike in", "%(n)d look-alikes in", disguised) % {"n": disguised}
        shown = _(
            "Letters of another script stand where a reader expects Latin ones. Read it letter by letter."
        )
        notices.append(_warning("red", "eye", title, pointer, shown, []))
    if codes["blank_run"]:
        title, shown = (
            _("Long blanks in"),
            _("They are collapsed below, with their count. What follows them is shown."),
        )
        notices.append(_warning("amber", "warning", title, pointer, shown, []))
    if codes["not_nfc"]:
        title, shown = (
            _("Letters composed of parts in"),
            _("It looks the same as another spelling and is not."),
        )
        notices.append(_warning("neutral", "note", title, pointer, shown, []))
    return notices


def _points(characters: list[str]) -> list[dict[str, str]]:
    return [
        {"label": f"U+{ord(one):04X}", "name": unicodedata.name(one, _("control character")).lower()}
        for one in dict.fromkeys(characters)
    ]


def _changed_since(proposal: Proposal, base: Base) -> list[dict[str, Any]]:
    if base.looked_at is None or base.revision is None:
        return []
    sentence = _("You looked at revision %(old)d at %(at)s UTC. Revision %(new)d is current.") % {
        "old": base.revision,
        "at": base.looked_at.strftime("%H:%M"),
        "new": proposal.revision,
    }
    notice = _warning("amber", "warning", _("Changed since you looked"), "", sentence, [])
    return [{**notice, "link_url": "#history", "link_label": _("See history")}]


def since_you_looked(history: list[dict[str, Any]], looked_at: datetime | None) -> list[dict[str, Any]]:
    """Return a notice of what others did to the revision since `looked_at`, as `parts.history` marks it."""
    new = [event for event in reversed(history) if event["new"]]
    if not new or looked_at is None:
        return []
    title = _("Since you last looked, at %(at)s UTC") % {"at": looked_at.strftime("%H:%M")}
    told = [f"{event['who']} {event['did']}" for event in new[:TOLD]]
    if (rest := len(new) - TOLD) > 0:
        told.append(ngettext("And %(n)d more.", "And %(n)d more.", rest) % {"n": rest})
    notice = _warning("neutral", "note", title, "", " ".join(told), [])
    return [{**notice, "link_url": "#history", "link_label": _("See history")}]


def _edited(revision: Revision) -> list[dict[str, Any]]:
    """A person wrote what would run."""
    if revision.author_person is None or revision.number == 1:
        return []
    title = _("%(who)s edited the arguments") % {"who": revision.author_person.name}
    sentence = _("Who edits is an author, and cannot approve any revision of this proposal.")
    return [_warning("neutral", "note", title, "", sentence, [])]


def _ends_soon(proposal: Proposal, now: datetime) -> list[dict[str, Any]]:
    left = proposal.expires_at - now if proposal.expires_at else None
    if left is None or not timedelta(0) < left < SOON:
        return []
    minutes = max(1, int(left.total_seconds() // 60))
    title = ngettext("Ends in %(n)d minute", "Ends in %(n)d minutes", minutes) % {"n": minutes}
    sentence = _("If nobody decides by %(at)s UTC it expires, and nothing runs.") % {
        "at": proposal.expires_at.strftime("%H:%M") if proposal.expires_at else ""
    }
    return [_warning("amber", "clock", title, "", sentence, [])]


def _warning(
    tone: str, sign: str, title: str, pointer: str, sentence: str, points: list[dict[str, str]]
) -> dict[str, Any]:
    return {
        "tone": tone,
        "sign": sign,
        "title": title,
        "pointer": pointer,
        "sentence": sentence,
        "points": points,
    }
