"""Text as search terms: folded, split, without stop words, stemmed. One text, one list, on every machine.

Folding makes all spellings of a word meet: case, accents, and the four Turkish letters İ, I, ı, i.
Stemming is Snowball's, in the language of the record. A query may meet records of either language, so
it is read in both, and a Turkish stem is marked: the Turkish reading of an English word ("maintenance":
"main") finds nothing in English records.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, get_args

import snowballstemmer

Language = Literal["en", "tr"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

#: Kept with stored tokens. Raise it with any change that can alter one token of one text.
TOKENIZER_VERSION = 2

_LONGEST_STEMMED = 40  # no word of either language; longer runs are keys or noise and stay as they are
_LONGEST_KEPT = 200  # far under what any index takes as one term; of longer runs only a digest is kept
_WITHOUT_DECOMPOSITION = str.maketrans(
    {"ı": "i", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "’": "'"}
)
_WORD = re.compile(r"(?:(?<=[^\W_])')?[^\W_]+(?:(?<=\d)\.(?=\d)[^\W_]+)*")
_TURKISH_LETTERS = re.compile("[ğĞşŞıİöÖçÇüÜ]")
_TURKISH_ENDING = re.compile(r"\w+(?:l[ae]r(?:i|in|i?n?d[ae]n?|imiz\w*)|m[ae]k|[iu]yor\w*)")
_UP_TO_FIRM_VOWEL = re.compile("[^ae]*[ae]|[^ae]+")
_FRONT, _BACK = str.maketrans("ou", "öü"), str.maketrans("i", "ı")

_ENGLISH_STOP_WORDS = """
a about all am an and any are aren as at be because been before being between both but by can could
couldn did didn do does doesn doing don during each few for from had hadn has hasn have having he her
here hers herself him himself his how i if in into is isn it its itself just me more most my myself no
nor not of on only or other our ours ourselves shan she should shouldn so some such than that the their
theirs them themselves then there these they this those through to too until very was wasn we were weren
what when where which while who whom why will with would wouldn you your yours yourself yourselves
"""
_TURKISH_STOP_WORDS = """
acaba ama ancak artik asla aslinda bana bazi belki ben beni benim bile bir biri birkac birsey biz bize
bizi bizim boyle bu buna bunda bundan bunlar bunu bunun burada cok cunku da daha de defa degil diye eger
en fakat gibi hangi hatta hem hep hepsi her hic icin ile ise iste kadar ki kim kimse mi mu nasil ne neden
nerede nereye nicin niye o ona ondan onlar onlari onu onun olan olarak oldu oldugu olup oysa oyle sanki
sen seni senin siz sizi sizin sonra sey tum tumu uzere ve veya ya yani yok zaten
"""
# After an apostrophe these are endings, not words: the port's, İstanbul'da, 7443'ten.
_ENDINGS_AFTER_APOSTROPHE = """
s t d m ll re ve a e i u ya ye yi yu na ne ni nu in un nin nun da de ta te dan den tan ten nda nde ndan
nden la le yla yle lar ler ki daki deki taki teki dir dur tir tur
"""

_STOP_WORDS: dict[Language, frozenset[str]] = {
    "en": frozenset(_ENGLISH_STOP_WORDS.split()),
    "tr": frozenset(_TURKISH_STOP_WORDS.split()),
}
_ENDINGS = frozenset(_ENDINGS_AFTER_APOSTROPHE.split())
_TELLING: dict[Language, frozenset[str]] = {
    "en": _STOP_WORDS["en"] - _STOP_WORDS["tr"],
    "tr": _STOP_WORDS["tr"] - _STOP_WORDS["en"],
}


def fold(text: str) -> str:
    """`text` without case, accents or compatibility forms: "İSTANBUL", "ıstanbul" and "Istanbul" are one.

    Marks go before normalising too: reordering a long run of them takes quadratic time in NFKD.
    """
    if text.isascii():
        return text.lower()
    spelled_out = unicodedata.normalize("NFKD", _without_marks(text)).casefold()
    return _without_marks(spelled_out).translate(_WITHOUT_DECOMPOSITION)


def _without_marks(text: str) -> str:
    return "".join(character for character in text if not unicodedata.combining(character))


def detect_language(text: str) -> Language:
    """Turkish where its small words and endings outnumber English ones, or its letters break a tie."""
    words = _words(text)
    english = sum(word in _TELLING["en"] for word in words)
    turkish = sum(word in _TELLING["tr"] or _TURKISH_ENDING.fullmatch(word) is not None for word in words)
    if turkish == english:
        return "tr" if _TURKISH_LETTERS.search(text) else "en"
    return "tr" if turkish > english else "en"


def tokenise(text: str, lang: Language | None = None) -> list[str]:
    """The search terms of a record's text, in order and with repeats; none holds white space.

    `lang` is the language of the text; None detects it. Time is linear in the length of the text.
    """
    lang = lang or detect_language(text)
    return [_term(word, lang) for word in _telling_words(text, lang)]


def query_terms(text: str, lang: Language | None = None) -> tuple[str, ...]:
    """The distinct terms of a query, sorted: each word as records of either language would hold it.

    `lang` (None detects it) says which words are only stop words.
    """
    words = set(_telling_words(text, lang or detect_language(text)))
    return tuple(sorted({_term(word, reading) for word in words for reading in LANGUAGES}))


def _telling_words(text: str, lang: Language) -> Iterator[str]:
    return (word for word in _words(text) if word not in _STOP_WORDS[lang])


def _words(text: str) -> list[str]:
    """Runs of letters and digits; numbers and versions stay whole (7443, v1.2.3)."""
    found = _WORD.findall(fold(text))
    return [word.removeprefix("'") for word in found if not (word[0] == "'" and word[1:] in _ENDINGS)]


def _term(word: str, lang: Language) -> str:
    if len(word) > _LONGEST_KEPT:
        return f"long:{hashlib.sha256(word.encode()).hexdigest()}"
    if len(word) > _LONGEST_STEMMED or not word.isalpha():
        return word
    return _stem(word, lang)


class _Stemmers(threading.local):
    """Snowball's stemmers keep their place in the word, so each thread has its own."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")
        self.turkish = snowballstemmer.stemmer("turkish")


_stemmers = _Stemmers()


@lru_cache(maxsize=65_536)
def _stem(word: str, lang: Language) -> str:
    if lang == "en":
        stem: str = _stemmers.english.stemWord(word)
        return stem
    return f"tr:{_turkish_stem(word)}"


def _turkish_stem(word: str) -> str:
    """Stem until nothing changes: Snowball shortens the bare noun too (sunucular: sunucu: sunuc)."""
    shorter = fold(_stemmers.turkish.stemWord(_with_vowel_harmony(word)))
    return word if shorter == word or len(shorter) < 2 else _turkish_stem(shorter)


def _with_vowel_harmony(word: str) -> str:
    """Undo folding as far as the stemmer's vowel harmony needs it: `sinirlar` is read as `sınırlar`.

    Folding has made ı, ö, ü into i, o, u. Each follows the next firm vowel (a, e), at the end the last one.
    Both spellings of a word so get one stem.
    """
    vowel, pieces = "", []
    for piece in _UP_TO_FIRM_VOWEL.findall(word):
        vowel = piece[-1] if piece[-1] in "ae" else vowel
        pieces.append(piece.translate({"a": _BACK, "e": _FRONT}.get(vowel, {})))
    return "".join(pieces)
