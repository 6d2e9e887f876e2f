"""Patterns a policy may use: the part of regular expressions whose cost is known before they run.

An agent chooses the text that a pattern meets, so `^(a+)+$` would let it stop the console. A pattern is read
here, the ways in which it could be tried are counted, and one with too many is refused when it is written.
The grammar is the common part of ECMA 262 and Python: characters, classes, groups, `|`, `^`, `$` and
quantifiers. Look-around, back-references and lazy quantifiers are left out.
"""

from __future__ import annotations

import re
from functools import lru_cache

MAX_TEXT = 1_024
"""The longest text (code points) that a pattern is tried on; a longer one is refused, whatever it holds."""

MAX_PATTERN = 256
MAX_WAYS = (MAX_TEXT + 1) ** 2

_TOKEN = re.compile(
    r"""(?P<opens>\((?:\?:)?) | (?P<closes>\)) | (?P<or>\|) | (?P<anchor>[\^$])
      | (?P<repeat>[*+?]|\{(?P<least>\d{1,4})(?P<range>,(?P<most>\d{0,4}))?\})
      | (?P<atom>\\[dDwWsS\\^$|?*+(){}\[\]./-] | \[\^?(?:\\[dDwWsS\\^$|?*+(){}\[\]./-]|[^\\\[\]])+\]
          | [^\\^$|?*+(){}\[\]])""",
    re.VERBOSE,
)


class Unbounded(ValueError):
    """Not in the grammar, or with too many ways to be tried; `str()` says which, for people."""


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return `pattern` ready to search with; `$` is the very end and `\\d` an ASCII digit, as in ECMA 262.

    Raises: Unbounded.
    """
    if len(pattern) > MAX_PATTERN:
        raise Unbounded(f"A pattern has at most {MAX_PATTERN} characters.")
    tokens = _tokens(pattern)
    starts = 1 if _is_anchored(tokens) else MAX_TEXT
    if _Reader(tokens).ways() * starts > MAX_WAYS:
        raise Unbounded("It could be tried in too many ways. Begin it with ^ and write {1,64} for + or *.")
    try:
        return re.compile("".join(r"\Z" if token[0] == "$" else token[0] for token in tokens), re.ASCII)
    except re.error:
        raise Unbounded("One of its classes has a range that runs backwards.") from None


def _tokens(pattern: str) -> list[re.Match[str]]:
    tokens: list[re.Match[str]] = []
    place = 0
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None:
            raise _misplaced(place)
        tokens.append(token)
        place = token.end()
    return tokens


def _misplaced(place: int) -> Unbounded:
    return Unbounded(f"What stands at character {place + 1} is not taken in a pattern at that place.")


def _is_anchored(tokens: list[re.Match[str]]) -> bool:
    """Whether every alternative of the whole begins with `^`, so that it is tried at one place only."""
    depth, firsts = 0, [0]
    for place, token in enumerate(tokens):
        depth += {"opens": 1, "closes": -1}.get(token.lastgroup or "", 0)
        if token.lastgroup == "or" and depth == 0:
            firsts.append(place + 1)
    return all(first < len(tokens) and tokens[first][0] == "^" for first in firsts)


class _Reader:
    """Counts the ways of a pattern while reading it: a sequence multiplies, `|` adds, repeating raises."""

    def __init__(self, tokens: list[re.Match[str]]) -> None:
        self._tokens = tokens
        self._place = 0

    def ways(self) -> int:
        count = self._choice()
        if self._place < len(self._tokens):
            raise _misplaced(self._tokens[self._place].start())
        return count

    def _choice(self) -> int:
        count = self._sequence()
        while self._next("or"):
            count += self._sequence()
        return count

    def _sequence(self) -> int:
        count = 1
        while token := self._next("opens", "atom", "anchor"):
            if token.lastgroup != "anchor":
                count = min(count * self._repeated(self._inner(token)), MAX_WAYS + 1)
        return count

    def _inner(self, token: re.Match[str]) -> int:
        if token.lastgroup == "atom":
            return 1
        count = self._choice()
        if not self._next("closes"):
            raise _misplaced(token.start())
        return count

    def _repeated(self, inner: int) -> int:
        repeat = self._next("repeat")
        if repeat is None:
            return inner
        least, most = _bounds(repeat)
        return min(sum(int(inner**times) for times in range(least, most + 1)), MAX_WAYS + 1)

    def _next(self, *kinds: str) -> re.Match[str] | None:
        if self._place == len(self._tokens) or self._tokens[self._place].lastgroup not in kinds:
            return None
        self._place += 1
        return self._tokens[self._place - 1]


def _bounds(repeat: re.Match[str]) -> tuple[int, int]:
    if repeat[0] in "*+?":
        return {"*": (0, MAX_TEXT), "+": (1, MAX_TEXT), "?": (0, 1)}[repeat[0]]
    least = int(repeat["least"])
    most = least if repeat["range"] is None else int(repeat["most"] or MAX_TEXT)
    if least > most or most > MAX_TEXT:
        raise _misplaced(repeat.start())
    return least, most
