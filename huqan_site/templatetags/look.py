"""What every page shows the same way: text that cannot act, digests in fours, times, signs.

Nothing here reads the database or decides anything. Every tag escapes what it is given; none takes HTML.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from huqan_site.lib import text_safety
from review.access import wording

register = template.Library()

EMPTY = SafeString()
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
CHUNK = 50


class Mark(NamedTuple):
    """A stretch [start, end) of a text, in code points, and how it is marked.

    `kind` is "ins" or "del" (a changed word of a diff) or "why" (a numbered reason why the text is held).
    """

    start: int
    end: int
    kind: str
    number: int | None = None


class Piece(NamedTuple):
    """A part of a segment that lies wholly inside one mark, or in none."""

    segment: text_safety.Segment
    text: str
    mark: Mark | None
    opens: bool


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str, style: str = "") -> SafeString:
    """Return the sign `name` of components/sprite.html; it is never the only carrier of a meaning."""
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="#i-{}"></use></svg>', style, name)


@register.simple_tag
def safe_text(text: str) -> SafeString:
    """Return `text` in stored order with everything that hides or acts shown as a visible code point."""
    return marked_text(text, ())


@register.simple_tag
def marked_text(text: str, marks: Iterable[Mark | tuple[Any, ...]]) -> SafeString:
    """Return `text` as `safe_text` does, with `marks` set into it: sorted and apart, as Mark or as its plain tuple."""
    pieces = _pieces(text, [Mark(*mark) for mark in marks])
    return format_html_join("", "{}", ((_marked(piece),) for piece in pieces))


@register.simple_tag
def diff_text(runs: Iterable[tuple[str, str]]) -> SafeString:
    """Return the runs ("same" | "del" | "ins", text) of one side of a diff as one safe text."""
    text, marks = "", []
    for kind, run in runs:
        if kind != "same":
            marks.append(Mark(len(text), len(text) + len(run), kind))
        text += run
    return marked_text(text, marks)


def _pieces(text: str, marks: Sequence[Mark]) -> Iterator[Piece]:
    edges = sorted({edge for mark in marks for edge in (mark.start, mark.end)})
    start, last = 0, None
    for segment in text_safety.segments(text):
        end = start + len(segment.text)
        for cut_start, cut_end in pairwise(_bounds(segment, start, end, edges)):
            mark = _mark_at(cut_start, marks)
            yield Piece(segment, text[cut_start:cut_end], mark, mark is not last)
            last = mark
        start = end


def _bounds(segment: text_safety.Segment, start: int, end: int, edges: Sequence[int]) -> list[int]:
    """Where a segment is cut: at the edges of marks, but a badge is never cut."""
    if segment.kind != "text":
        return [start, end]
    return [start, *edges[bisect_right(edges, start) : bisect_left(edges, end)], end]


def _mark_at(place: int, marks: Sequence[Mark]) -> Mark | None:
    at = bisect_right(marks, place, key=lambda mark: mark.start) - 1
    return marks[at] if at >= 0 and place < marks[at].end else None


def _marked(piece: Piece) -> SafeString:
    shown = _shown(piece)
    if piece.mark is None:
        return shown
    if piece.mark.kind == "why":
        number = format_html('<span class="number">{}</span>', piece.mark.number) if piece.opens else EMPTY
        return format_html('<mark class="why">{}{}</mark>', number, shown)
    element = "ins" if piece.mark.kind == "ins" else "del"
    return format_html('<{} class="word">{}</{}>', element, shown, element)


def _shown(piece: Piece) -> SafeString:
    match piece.segment.kind:
        case "text":
            return escape(piece.text)
        case "line_break":
            return format_html('<span class="line-end"></span>{}', "\n")
        case "code_point":
            return _badge(piece.text, piece.segment.label)
        case _:
            return format_html('<span class="code-point">{}</span>', piece.segment.label)


def _badge(run: str, label: str) -> SafeString:
    shown = f"U+{ord(run[0]):04X}" + (f" × {len(run)}" if len(run) > 1 else "")
    name = label.partition(" ")[2]
    return format_html(
        '<span class="code-point">{}<span class="visually-hidden"> {}</span></span>', shown, name
    )


@register.simple_tag
def code_point(label: str, name: str = "") -> SafeString:
    """Return the badge `label` ("U+202E", "412 spaces") and what it is, in words."""
    return format_html('<span class="code-point">{}</span>{}', label, f" {name}" if name else "")


@register.simple_tag
def digest(value: str, short: bool = False) -> SafeString:
    """Return the hex digest `value` in groups of four; `short` keeps the first and the last two groups."""
    return format_html('<span class="digest">{}</span>', fours(value, short=short))


def fours(value: str, *, short: bool = False) -> str:
    """Return `value` (hex, with or without "sha256:") in groups of four characters."""
    hexadecimal = value.removeprefix("sha256:")
    groups = [hexadecimal[at : at + 4] for at in range(0, len(hexadecimal), 4)]
    return " ".join([*groups[:2], "…", *groups[-2:]] if short and len(groups) > 5 else groups)


@register.filter
def in_chunks(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Return the rows of a list that may be very long in pieces that a browser can leave undrawn."""
    return (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))


@register.filter
def said(text: str) -> str:
    """Return a sentence that the domain says in the language of the page; never for what others wrote."""
    return wording.said(text)


@register.filter
def short_id(value: object) -> str:
    """Return the start and the random end of a UUID, as lists show it; pages give the whole id."""
    text = str(value)
    return f"{text[:8]}…{text[-4:]}" if len(text) == 36 else text


@register.simple_tag
def moment(value: datetime, style: str = "clock") -> SafeString:
    """Return `value` with its zone. Styles: "clock" (day only if not today), "full", "date", "exact",
    and "seconds" for a column whose head names the zone.
    """
    return _time(value, _written(value.astimezone(UTC), style))


def _time(value: datetime, words: str) -> SafeString:
    stamp = value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return format_html('<time datetime="{}">{}</time>', stamp, words)


def _written(at: datetime, style: str) -> str:
    today = timezone.now().astimezone(UTC)
    if style == "seconds":
        return date_format(at, "H:i:s")
    if style == "exact":
        return f"{date_format(at, 'j M Y H:i:s')} UTC"
    day = date_format(at, "j M" if at.year == today.year and style != "date" else "j M Y")
    if style == "date":
        return day
    clock = f"{date_format(at, 'H:i')} UTC"
    return clock if at.date() == today.date() and style == "clock" else f"{day} {clock}"


@register.simple_tag
def age(value: datetime) -> SafeString:
    """Return how old `value` is, short as lists have it ("23 h"), as a <time>."""
    return _time(value, span(timezone.now() - value))


@register.simple_tag
def time_left(value: datetime) -> SafeString:
    """Return the time until `value` ("41 min"), as a <time>."""
    return _time(value, span(value - timezone.now()))


@register.filter
def is_soon(value: datetime) -> bool:
    """Say whether `value` is less than an hour away, or has passed."""
    return value - timezone.now() < HOUR


@register.simple_tag
def distance(value: datetime) -> str:
    """Return the distance to `value` in words: "in 41 min", "6 min ago"."""
    ahead = value - timezone.now()
    if ahead >= timedelta(0):
        return _("in %(span)s") % {"span": span(ahead)}
    return _("%(span)s ago") % {"span": span(-ahead)}


def span(length: timedelta) -> str:
    """Return `length` in its largest whole unit: minutes under an hour, hours under a day, then days."""
    if length < HOUR:
        return _("%(count)d min") % {"count": max(length // timedelta(minutes=1), 0)}
    if length < DAY:
        return _("%(count)d h") % {"count": length // HOUR}
    days = length // DAY
    return ngettext("%(count)d day", "%(count)d days", days) % {"count": days}


@register.simple_tag
@lru_cache(maxsize=256)
def dots(given: int, required: int) -> SafeString:
    """Return one dot per vote that is needed, filled for each that was given."""
    signs = ["given"] * min(given, required) + ["open"] * max(required - given, 0)
    marks = format_html_join("", "{}", ((icon(sign),) for sign in signs))
    return format_html('<span class="dots" aria-hidden="true">{}</span>', marks)
