"""Sentences of the domain, said again in another language.

The domain speaks English and knows no translations, and so do the database and the log: a summary, a signal of the
gate or a reason is stored as it was said. A page looks the sentence up here, among those that the domain can say,
whether it comes fresh from a rule or out of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_PLACE = re.compile(r"%\((\w+)\)s")
_SENTENCES = re.compile(r"(?<=[.!?]) (?=\S)")
_BRACKETS = re.compile(r"\(([^()]+)\)")
_WORD = frozenset({"count", "tool"})
"""Places that hold one word."""

_FEW_WORDS = r"(?:(?!\. )\S)+(?: (?:(?!\. )\S)+){0,3}"
MAX_TEXT, MAX_SENTENCES = 2_000, 20
"""Longer than that nothing is that the domain says; it stays as it is."""

FEW_LETTERS = 6
"""A template with fewer of its own ("%(name)s does.") fits much; then only a few words may stand in a place."""

LONGEST_RUN = 4
"""Sentences that one text of the domain has at most."""


class _Pattern(NamedTuple):
    """What a template matches, and what is said in its place; `weight`: how much is written out, letters twice."""

    weight: int
    text: re.Pattern[str]
    translation: str


class Retelling:
    """Translations of what the domain says, by template: "You own %(agent)s."

    What stands in a place is kept as it is, unless its name is in `within`: then it is told again in turn.
    """

    def __init__(self, translations: Iterable[tuple[str, str]], within: Iterable[str] = ()) -> None:
        self._whole: dict[str, str] = {}
        self._within = frozenset(within)
        patterns = []
        for told, translation in translations:
            if _PLACE.search(told):
                patterns.append(_pattern(told, translation, self._within))
            else:
                self._whole[told.replace("%%", "%")] = translation.replace("%%", "%")
        self._patterns = sorted(patterns, key=lambda pattern: -pattern.weight)

    def of(self, text: str) -> str:
        """Return `text` said again; what no template fits, sentence by sentence, and else as it is."""
        if len(text) > MAX_TEXT or not text:
            return text
        return self._one(text) or self._by_sentence(text)

    def _one(self, text: str) -> str | None:
        if whole := self._whole.get(text):
            return whole
        if title := self._whole.get(text.removesuffix(".")):
            return f"{title}."
        for pattern in self._patterns:
            if found := pattern.text.fullmatch(text):
                return _filled(pattern.translation, self._places(found.groupdict()))
        return None

    def _places(self, found: Mapping[str, str]) -> dict[str, str]:
        return {name: self._inner(text) if name in self._within else text for name, text in found.items()}

    def _inner(self, text: str) -> str:
        """Words of ours in a place of a sentence: also each of a list, and those behind a name: "dana (owner)"."""
        if told := self._one(text):
            return told
        for sign in ("; ", ", "):
            if sign in text:
                return sign.join(map(self._inner, text.split(sign)))
        return _BRACKETS.sub(lambda part: f"({self.of(part[1])})", self.of(text))

    def _by_sentence(self, text: str) -> str:
        """The longest run of sentences that is known, from the first one on, then the next."""
        sentences = _SENTENCES.split(text)
        if len(sentences) > MAX_SENTENCES:
            return text
        told, start = [], 0
        while start < len(sentences):
            for end in range(min(start + LONGEST_RUN, len(sentences)), start, -1):
                run = " ".join(sentences[start:end])
                known = self._one(run) if run != text else None
                if known or end == start + 1:
                    told.append(known or run)
                    start = end
                    break
        return " ".join(told)


def _pattern(told: str, translation: str, within: frozenset[str]) -> _Pattern:
    """A name or value in a sentence holds no end of a sentence; else one sentence would take the next ones in."""
    parts = _PLACE.split(told)
    letters = sum(map(str.isalpha, "".join(parts[::2])))
    expression, seen = "", set()
    for at, part in enumerate(parts):
        if at % 2 == 0:
            expression += re.escape(part.replace("%%", "%"))
        else:
            expression += (
                f"(?P={part})" if part in seen else f"(?P<{part}>{_place(part, told, letters, within)})"
            )
            seen.add(part)
    return _Pattern(letters + sum(map(len, parts[::2])), re.compile(expression, re.DOTALL), translation)


def _place(name: str, told: str, letters: int, within: frozenset[str]) -> str:
    if name in _WORD:
        return r"\S+"
    if letters < FEW_LETTERS and told.startswith("%("):
        return _FEW_WORDS
    return ".*?" if name in within or not told.endswith(".") else r"(?:(?!\. ).)*?"


def _filled(translation: str, places: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: places[place[1]], translation).replace("%%", "%")
