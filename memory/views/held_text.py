"""The held text with the reasons why it is held, numbered and marked where they stand."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from memory.domain.masking import Masked, masked
from memory.words import signal_title
from review.domain.gate import Outcome, Signal, Span

CONTENT = "/content"
MOST_POINTS = 8


def why_held(signals: Iterable[Signal]) -> list[Signal]:
    """Return the signals that hold a text, then what else a reader should weigh."""
    found = [signal for signal in signals if signal.outcome is Outcome.QUARANTINE]
    return found + [signal for signal in signals if signal.code in ("conflict", "no_provenance")]


def reasons(signals: Sequence[Signal], arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of "Why it is held", numbered as the marks in the text are."""
    return [
        {
            "number": number,
            "title": signal_title(signal.code),
            "detail": signal.detail,
            "points": _points(signal, arguments),
            "place": _place(signal.spans),
        }
        for number, signal in enumerate(signals, 1)
    ]


def text(content: str, signals: Sequence[Signal]) -> dict[str, Any]:
    """Return the text as the page shows it, its secrets said in words, and where each reason stands in it."""
    shown = masked(content)
    return {
        "value": shown.text,
        "marks": _marks(shown, signals),
        "length": len(content),
        "secret": shown.is_masked,
    }


def _marks(shown: Masked, signals: Sequence[Signal]) -> list[tuple[int, int, str, int]]:
    """Return the marks in order; where two overlap, the earlier one stays whole."""
    found = sorted(
        (shown.place(span.start), shown.place(span.end), "why", number)
        for number, signal in enumerate(signals, 1)
        for span in signal.spans
        if span.pointer == CONTENT and signal.outcome is Outcome.QUARANTINE
    )
    marks: list[tuple[int, int, str, int]] = []
    for start, end, kind, number in found:
        start = max(start, marks[-1][1] if marks else 0)
        if start < end:
            marks.append((start, end, kind, number))
    return marks


def _place(spans: Sequence[Span]) -> str:
    if not spans:
        return _("the whole text")
    first, more = spans[0], len(spans) - 1
    where = "" if first.pointer == CONTENT else f" {first.pointer}"
    place = _("characters %(start)d to %(end)d%(where)s") % {
        "start": first.start + 1,
        "end": first.end,
        "where": where,
    }
    return place + (_(", and %(n)d more") % {"n": more} if more else "")


def _points(signal: Signal, arguments: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the characters that hide in the text, as code points with their names."""
    if signal.code != "hidden_characters":
        return []
    content = arguments["content"]
    found = (
        content[at] for span in signal.spans if span.pointer == CONTENT for at in range(span.start, span.end)
    )
    return [
        {"label": f"U+{ord(one):04X}", "name": unicodedata.name(one, _("control character")).lower()}
        for one in list(dict.fromkeys(found))[:MOST_POINTS]
    ]
