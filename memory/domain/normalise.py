"""The tombstone key: which spellings are one value, so that a rejected one does not come back.

It joins what differs only in dress (case, width, spacing, hidden characters, look-alike letters, outer
punctuation) and nothing that differs in substance: 7443 and 7444, "may" and "may not", C# and C, -5
and 5, 10% and 10 stay apart. Source: design 3, "Tombstone key".
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from uuid import UUID

from huqan_site.lib.look_alikes import LETTERS


def key(workspace: UUID, value: str, secret: bytes) -> str:
    """64 hex digits: HMAC-SHA-256 under `secret` over workspace and normalised value.

    Keyed, because values are short and could be guessed from a plain digest. Each part is preceded
    by its length (8 bytes, big-endian), so that no two pairs run together.
    """
    parts = (workspace.bytes, normalised(value).encode())
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hmac.new(secret, framed, hashlib.sha256).hexdigest()


def normalised(value: str) -> str:
    """The one spelling that stands for `value`. Normalising it again changes nothing."""
    while (plainer := _undressed(value)) != value:
        value = plainer
    return value


def _undressed(value: str) -> str:
    value = _compatible(UNSEEN.sub("", value))
    value = _TURKISH_I.sub("i", value).casefold()
    value = _latinised(value)
    return _without_outer_signs(" ".join(value.split()))


# Default_Ignorable_Code_Point and the bidi controls (Unicode DerivedCoreProperties.txt).
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


@lru_cache(maxsize=4096)
def _is_raised(character: str) -> bool:
    """Super- and subscripts and fractions, which NFKC would bring down to the line: x² is not x2, and
    1½ is not 11⁄2."""
    return unicodedata.decomposition(character).startswith(("<super>", "<sub>", "<fraction>"))


def _compatible(value: str) -> str:
    if value.isascii():
        return value
    runs = ((raised, "".join(run)) for raised, run in groupby(value, _is_raised))
    return "".join(run if raised else unicodedata.normalize("NFKC", run) for raised, run in runs)


# I with a dot, i without, and the loose dot that lower-casing the former leaves behind.
_TURKISH_I = re.compile("\u0130|\u0131|i\u0307+")

# No two words of one language may meet. So where two letters of a script pass for the same Latin one
# (Cyrillic en and shha, u and straight u), or the two cases of a letter for different ones (Greek nu,
# upsilon), only one of them is joined. Greek mu is not: 5 μm is not 5 mm.
_APART = frozenset("\u041d\u04ae\u04af\u039c\u039d\u03c5")
_LATIN = str.maketrans(
    {letter.casefold(): twin.casefold() for letter, twin in LETTERS.items() if letter not in _APART}
)
_WORD = re.compile(r"[^\W\d_]+")
_LONE_GREEK = re.compile("[\u0370-\u03ff]")


def _latinised(value: str) -> str:
    """Letters of other scripts as their Latin twins; a lone Greek letter is a symbol and stays."""
    return value if value.isascii() else _WORD.sub(_latinised_word, value)


def _latinised_word(word: re.Match[str]) -> str:
    return word[0] if _LONE_GREEK.fullmatch(word[0]) else word[0].translate(_LATIN)


_QUOTES = "\"'`´“”„‟‘’‚‛«»‹›「」『』"
_BRACKETS = "()[]{}⟨⟩〈〉《》【】〔〕"
_OUTER = " ,;:!?" + _QUOTES + _BRACKETS  # and dots; an ellipsis is three of them by now
# One dot before a digit belongs to the number: .5 is not 5.
_LEADING = re.compile(rf"\A(?:[{re.escape(_OUTER)}]|\.\.+|\.(?!\d))++")


def _without_outer_signs(value: str) -> str:
    """Drop punctuation, quotes and brackets at both ends, unless there is nothing else."""
    return _LEADING.sub("", value, count=1).rstrip(_OUTER + ".") or value
