"""Text that addresses a model instead of telling a fact: what a poisoned memory looks like.

Matching is done on a plain copy (lower case, look-alikes and accents undone, hidden characters out),
which remembers where each of its characters came from. Words spelled out letter by letter are put
together first. Source: OWASP Top 10 for LLM Applications, LLM01 and LLM04.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from huqan_site.lib.look_alikes import LETTERS
from memory.domain.model_phrases import IGNORES, REVEALS, SPELLED_OUT, WRITTEN, Phrase
from memory.domain.normalise import UNSEEN


class Instruction(NamedTuple):
    """A phrase aimed at a model, at code points [start, end). `kind` completes "The text …"."""

    kind: str
    start: int
    end: int


def instructions_in(text: str) -> list[Instruction]:
    """The phrases in `text` that address a model, by place."""
    plain = _plain(text)
    found = set(_found(plain, WRITTEN))
    for word in _spelled_out(plain):
        found |= set(_found(word, SPELLED_OUT))
    return sorted(found, key=lambda phrase: (phrase.start, phrase.end, phrase.kind))


class _Plain(NamedTuple):
    """`text` is what is matched; its character i was made from the original's character `origin[i]`."""

    text: str
    origin: Sequence[int]


def _plain(text: str) -> _Plain:
    if text.isascii():
        return _Plain(text.lower(), range(len(text)))
    pieces: list[str] = []
    origin: list[int] = []
    for index, character in enumerate(text):
        piece = _plain_letter(character)
        pieces.append(piece)
        origin.extend([index] * len(piece))
    return _Plain("".join(pieces), origin)


@lru_cache(maxsize=4096)
def _plain_letter(character: str) -> str:
    """A character in lower-case ASCII, as far as it has any: ş is s, ı is i, Cyrillic а is a."""
    if UNSEEN.match(character):
        return ""
    parts = unicodedata.normalize("NFKD", LETTERS.get(character, character))
    bare = "".join(LETTERS.get(part, part) for part in parts if not unicodedata.combining(part))
    return bare.lower().replace("ı", "i").replace("’", "'")


_SPELLED_OUT = re.compile(r"(?<![a-z0-9])[a-z0-9](?:[^a-z0-9]{1,3}+[a-z0-9](?![a-z0-9])){9,}+")


def _spelled_out(plain: _Plain) -> Iterator[_Plain]:
    """Stretches of single letters, such as "i g n o r e", without what stands between the letters."""
    for match in _SPELLED_OUT.finditer(plain.text):
        kept = [index for index in range(*match.span()) if plain.text[index].isalnum()]
        yield _Plain("".join(plain.text[i] for i in kept), [plain.origin[i] for i in kept])


# "Never ignore your rules" is no order to ignore them. "Why not ignore …" is.
_FORBIDDEN = re.compile(r"(?:\bnever|(?<!why )\bnot|\bcannot|n't)\s+\Z")
_LOOK_BACK = 12


def _found(plain: _Plain, phrases: Iterable[Phrase]) -> Iterator[Instruction]:
    for kind, marks, pattern in phrases:
        if any(mark in plain.text for mark in marks):
            for match in pattern.finditer(plain.text):
                if not (kind in (IGNORES, REVEALS) and _is_forbidden(plain.text, match.start())):
                    start, end = match.span()
                    yield Instruction(kind, plain.origin[start], plain.origin[end - 1] + 1)


def _is_forbidden(text: str, start: int) -> bool:
    return _FORBIDDEN.search(text[max(start - _LOOK_BACK, 0) : start]) is not None
