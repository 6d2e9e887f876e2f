"""The lens for suspicious text: what a reader would not see, or would take for something else.

Nothing is stripped or repaired. `inspect` names what is there, `segments` cuts a text so that a page
can show each such place as a badge while everything else stays as it was.
Codes: bidi_control, zero_width, tag_character, variation_selector, control_character, mixed_script,
look_alike, not_nfc, blank_run.
Sources: UTS 39 (mixed scripts, confusables), UTS 51 (emoji sequences), CVE-2021-42574 (bidi).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from huqan_site.lib.canonical_json import JSON
from huqan_site.lib.json_strings import strings
from huqan_site.lib.look_alikes import LETTERS, SIGNS, script


class Finding(NamedTuple):
    """One suspicious stretch. Offsets are code points in the string that `pointer` names."""

    code: str
    start: int
    end: int
    pointer: str = ""


class Segment(NamedTuple):
    """A piece of a text for display. `kind`: text, code_point, blank_run or line_break."""

    kind: str
    text: str
    label: str = ""


def inspect(text: str) -> list[Finding]:
    """Everything suspicious in `text`, by place. Neighbours with one code make one finding."""
    findings = [*_hidden(text), *_blank_runs(text)]
    if not text.isascii():
        findings += [*_words_in_disguise(text), *_signs_in_disguise(text), *_decomposed(text)]
    return sorted(findings, key=lambda finding: (finding.start, finding.end, finding.code))


def inspect_value(value: JSON) -> list[Finding]:
    """`inspect` for every string and key of a JSON value; a key's pointer ends with `#`."""
    return [
        finding._replace(pointer=pointer) for pointer, text in strings(value) for finding in inspect(text)
    ]


# Characters that cannot be seen

_CLASSES = {
    "bidi_control": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "zero_width": "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a",
    "variation_selector": "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "tag_character": "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff",
    "control_character": r"\x00-\x08\x0b-\x1f\x7f-\x9f",
}
_UNSEEN = re.compile(f"[{''.join(_CLASSES.values())}]+")
_BY_CODE = re.compile("|".join(f"(?P<{code}>(?:(?!\r\n)[{body}])+)" for code, body in _CLASSES.items()))
_JOINERS = "\u200c\u200d"
# Scripts whose spelling needs joiners (Unicode core specification, 23.2).
_JOINING = frozenset(
    {
        *("ARABIC", "SYRIAC", "MONGOLIAN", "NKO", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA"),
        *("TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "KHMER", "MYANMAR", "TIBETAN"),
    }
)
_VIRAMA = 9  # the combining class of the sign after which a joiner shapes the letter before it
_EMOJI_OUTSIDE_SYMBOLS = "\u203c\u2049\u2139\u3030\ufe0f"
# The flags of England, Scotland and Wales: the only tag sequences in general use (UTS 51, RGI).
_FLAG_TAGS = frozenset(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)


def _hidden(text: str) -> Iterator[Finding]:
    for run in _UNSEEN.finditer(text):
        # One character more than the run, so that CR LF at its end is seen as a line break.
        for match in _BY_CODE.finditer(text, run.start(), run.end() + 1):
            if not _belongs(text, match):
                yield Finding(str(match.lastgroup), *match.span())


def _belongs(text: str, match: re.Match[str]) -> bool:
    """Whether an unseen character is part of how its neighbours are properly written."""
    run, (before, after) = match[0], _neighbours(text, match)
    if run in _FLAG_TAGS:
        return before == "\U0001f3f4"
    if len(run) > 1 or not before:
        return False
    if run in _JOINERS:
        return _joins_letters(before, after) or (_is_emoji(before) and _is_emoji(after))
    if run in "\ufe0e\ufe0f":
        return _is_emoji(before) or (before in "0123456789#*" and after == "\u20e3")
    return match.lastgroup == "variation_selector" and run < "\ufe00" and script(before) == "MONGOLIAN"


def _joins_letters(before: str, after: str) -> bool:
    if script(before) not in _JOINING:
        return False
    return unicodedata.combining(before) == _VIRAMA or (bool(after) and script(after) in _JOINING)


def _is_emoji(character: str) -> bool:
    if not character or character.isascii():
        return False
    return (
        unicodedata.category(character) in ("So", "Sm")
        or character in _EMOJI_OUTSIDE_SYMBOLS
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def _neighbours(text: str, match: re.Match[str]) -> tuple[str, str]:
    """The characters before and behind a match, empty at the ends of the text."""
    start, end = match.span()
    return text[max(start - 1, 0) : start], text[end : end + 1]


# Words and signs that look like others

_WORD = re.compile("[^\\W_](?:[^\\W_]|[\u0300-\u036f])*")
_CJK_TEXT = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_STYLED_WORD = re.compile("[\u2102-\u2138\u24b6-\u24e9\U0001d400-\U0001d7ff]{2,}")
_WIDE_WORD = re.compile("[\uff21-\uff3a\uff41-\uff5a]{2,}")
_SIGN = re.compile(f"[{re.escape(''.join(SIGNS))}]")
_WIDE_SIGN = re.compile("[\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff5e]")
# Written without spaces, so a foreign word may touch their letters.
_UNSPACED = frozenset({"CJK", "THAI", "LAO", "KHMER", "MYANMAR"})


class _Word(NamedTuple):
    start: int
    end: int
    letters: frozenset[str]
    scripts: frozenset[str]

    @property
    def script(self) -> str | None:
        return next(iter(self.scripts)) if len(self.scripts) == 1 else None


_LATIN = frozenset({"LATIN"})
_NO_LETTERS: frozenset[str] = frozenset()


def _words(text: str) -> Iterator[_Word]:
    for match in _WORD.finditer(text):
        if match[0].isascii():
            if not match[0].isdigit():
                yield _Word(*match.span(), _NO_LETTERS, _LATIN)
            continue
        letters = frozenset(character for character in match[0] if character.isalpha())
        scripts = frozenset(filter(None, map(script, letters)))
        if scripts:
            yield _Word(*match.span(), letters, scripts)


def _words_in_disguise(text: str) -> Iterator[Finding]:
    for single, words in groupby(_words(text), key=lambda word: word.script):
        phrase = list(words)
        if single is None:
            yield from (Finding("mixed_script", *word[:2]) for word in phrase if _is_mixed(word))
        elif single != "LATIN" and all(map(_passes_for_latin, phrase)):
            yield from (Finding("look_alike", *word[:2]) for word in phrase if not _is_symbol(word))
    for pattern in (_STYLED_WORD, _WIDE_WORD)[: 1 if _CJK_TEXT.search(text) else 2]:
        yield from (Finding("look_alike", *match.span()) for match in pattern.finditer(text))


def _is_mixed(word: _Word) -> bool:
    spaced = word.scripts - _UNSPACED
    if len(spaced) < 2:
        return False
    greek = [letter for letter in word.letters if script(letter) == "GREEK"]
    # A unit or variable, such as μs or Δt, is not a disguise.
    return not (spaced == {"LATIN", "GREEK"} and len(greek) == 1 and greek[0] not in LETTERS)


def _passes_for_latin(word: _Word) -> bool:
    """Whether every letter has a Latin twin. Real words can be like that ("роса"), so a neighbour of
    the same script that has none vouches for its whole phrase."""
    return all(letter in LETTERS for letter in word.letters)


def _is_symbol(word: _Word) -> bool:
    """A small Greek letter alone, as in "α = 0.05"; omicron is never one."""
    return word.end - word.start == 1 and word.script == "GREEK" and word.letters <= set("αικνρυχ")


def _signs_in_disguise(text: str) -> Iterator[Finding]:
    for pattern in (_SIGN, _WIDE_SIGN)[: 1 if _CJK_TEXT.search(text) else 2]:
        for match in pattern.finditer(text):
            before, after = _neighbours(text, match)
            if not (_is_native(match[0], before) or (before.isdigit() and after.isdigit())):
                yield Finding("look_alike", *match.span())


def _is_native(sign: str, before: str) -> bool:
    """Whether a sign stands behind a letter of its own script, as the Armenian full stop does."""
    return bool(before) and script(before) == unicodedata.name(sign).split(" ")[0]


def _decomposed(text: str) -> Iterator[Finding]:
    if unicodedata.is_normalized("NFC", text):
        return
    for match in re.finditer(r"\S+", text):
        if not unicodedata.is_normalized("NFC", match[0]):
            yield Finding("not_nfc", *match.span())


# Emptiness that pushes text out of sight

_MANY_BLANKS = 40
_MANY_LINES = 6
_BLANK = re.compile("(?:[ \t\n\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000]|\r(?=\n)){6,}")
_LINE_BREAK = re.compile("\r\n|[\n\u2028\u2029]")


def _blank_runs(text: str) -> Iterator[Finding]:
    for match in _BLANK.finditer(text):
        if len(match[0]) >= _MANY_BLANKS or _lines(match[0]) >= _MANY_LINES:
            yield Finding("blank_run", *match.span())


def _lines(blank: str) -> int:
    return len(_LINE_BREAK.findall(blank))


# Display


def segments(text: str) -> list[Segment]:
    """Cut `text` for display; the pieces' texts, joined, are `text` again.

    A character that hides or deceives is a `code_point` labelled by name ("U+202E right-to-left
    override"; a run of one character counts itself), a long blank is labelled by its size ("412
    spaces"). The label is for the page, the character itself must not reach it unescaped.
    """
    pieces: list[Segment] = []
    position = 0
    for start, end, kind in sorted(_cuts(text), key=lambda cut: (cut[0], -cut[1])):
        if start < position:  # a line break inside a long blank
            continue
        if start > position:
            pieces.append(Segment("text", text[position:start]))
        pieces.append(Segment(kind, text[start:end], _LABELS[kind](text[start:end])))
        position = end
    return [*pieces, Segment("text", text[position:])] if position < len(text) else pieces


def code_point_name(character: str) -> str:
    """`U+202E right-to-left override`."""
    name = unicodedata.name(character, "") or _CONTROL_NAMES.get(character, "control character")
    return f"U+{ord(character):04X} {name.lower()}"


_CONTROL_NAMES = {
    "\0": "null", "\a": "bell", "\b": "backspace", "\v": "line tabulation", "\f": "form feed",
    "\r": "carriage return", "\x1b": "escape", "\x7f": "delete", "\x85": "next line",
}  # fmt: skip


def _cuts(text: str) -> Iterator[tuple[int, int, str]]:
    for finding in inspect(text):
        if finding.code == "blank_run":
            yield finding.start, finding.end, "blank_run"
        elif finding.code != "not_nfc":
            yield from _badges(text, finding)
    yield from ((*match.span(), "line_break") for match in _LINE_BREAK.finditer(text))


def _badges(text: str, finding: Finding) -> Iterator[tuple[int, int, str]]:
    start = finding.start
    for character, run in groupby(text[start : finding.end]):
        end = start + len(list(run))
        if finding.code != "mixed_script" or _stands_out(character):
            yield start, end, "code_point"
        start = end


def _stands_out(character: str) -> bool:
    """In a word of two scripts: a letter that is not from the Latin one."""
    return script(character) not in (None, "LATIN")


def _blank_label(blank: str) -> str:
    lines = _lines(blank)
    return f"{lines} line breaks" if lines >= _MANY_LINES else f"{len(blank)} spaces"


def _code_point_label(run: str) -> str:
    return code_point_name(run[0]) + (f", {len(run)} times" if len(run) > 1 else "")


_LABELS: dict[str, Callable[[str], str]] = {
    "blank_run": _blank_label,
    "code_point": _code_point_label,
    "line_break": lambda _: "line break",
}
