"""Letters of other scripts that pass for an ASCII letter, and signs that pass for ASCII signs.

Chosen by hand, with Unicode's confusables.txt as a hint only: that list also joins letters that no
reader mixes up, and 0 with O. Scripts are told apart by the first word of a character's name, which
for letters is the script.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_LETTERS = """
    Cyrillic  0405S 0406I 0408J 0410A 0412B 0415E 041aK 041cM 041dH 041eO 0420P 0421C 0422T 0423Y 0425X
              0430a 0435e 043eo 0440p 0441c 0443y 0445x 0455s 0456i 0458j 0474V 0475v 04aeY 04afy 04bah
              04bbh 04c0l 04cfl 0501d 050cG 051aQ 051bq 051cW 051dw
    Greek     037fJ 0391A 0392B 0395E 0396Z 0397H 0399I 039aK 039cM 039dN 039fO 03a1P 03a4T 03a5Y 03a7X
              03b1a 03b9i 03bak 03bdv 03bfo 03c1p 03c5u 03c7x 03f3j
    Armenian  053cL 054dU 054fS 0555O 0566q 0570h 0575j 0578n 057du 0581g 0585o
    Cherokee  13a0D 13a2T 13a5i 13a9Y 13aaA 13abJ 13acE 13b3W 13b7M 13bbH 13c0G 13c3Z 13cfb 13d2R 13d9V
              13daS 13deL 13dfC 13e2P 13e6K
    Coptic    2c8eH 2c92I 2c94K 2c98M 2c9aN 2c9eO 2c9fo 2ca2P 2ca3p 2ca4C 2ca5c 2ca6T 2ca8Y 2cacX
    Lisu      a4d0B a4d1P a4d3D a4d4T a4d6G a4d7K a4d9J a4daC a4dcZ a4ddF a4dfM a4e0N a4e1L a4e2S a4e3R
              a4e6V a4e7H a4eaW a4ebX a4ecY a4eeA a4f0E a4f2I a4f3O a4f4U
"""

LETTERS: dict[str, str] = {
    chr(int(entry[:4], 16)): entry[4] for entry in re.findall(r"\b[0-9a-f]{4}[A-Za-z]\b", _LETTERS)
}
"""Which ASCII letter a letter of another script passes for, capitals and small ones apart."""

SIGNS: dict[str, str] = {
    "\u2044": "/",  # fraction slash
    "\u2215": "/",  # division slash
    "\u2571": "/",  # box drawings light diagonal
    "\u29f8": "/",  # big solidus
    "\u2216": "\\",  # set minus
    "\u29f5": "\\",  # reverse solidus operator
    "\u29f9": "\\",  # big reverse solidus
    "\ufe68": "\\",  # small reverse solidus
    "\u2024": ".",  # one dot leader
    "\ua4f8": ".",  # Lisu letter tone mya ti
    "\u02d0": ":",  # modifier letter triangular colon
    "\u02f8": ":",  # modifier letter raised colon
    "\u0589": ":",  # Armenian full stop
    "\u05c3": ":",  # Hebrew punctuation sof pasuq
    "\u2236": ":",  # ratio
    "\ua789": ":",  # modifier letter colon
    "\u037e": ";",  # Greek question mark
    "\u2223": "|",  # divides
    "\u204e": "*",  # low asterisk
    "\u2217": "*",  # asterisk operator
    "\u02d7": "-",  # modifier letter minus sign
    "\ufe6b": "@",  # small commercial at
}
"""Which ASCII sign another sign passes for. Proper typography (dashes, minus, quotes) is not here."""

_CJK = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"})
_SCRIPTLESS = frozenset(
    {
        *("ANGSTROM", "BLACK-LETTER", "COMBINING", "DOUBLE-STRUCK", "FEMININE", "FULLWIDTH", "HALFWIDTH"),
        *("INFORMATION", "KELVIN", "MASCULINE", "MATHEMATICAL", "MICRO", "MODIFIER", "OHM", "PLANCK"),
        *("SCRIPT", "SUBSCRIPT", "SUPERSCRIPT"),
    }
)


@lru_cache(maxsize=4096)
def script(character: str) -> str | None:
    """The script of a letter or mark, such as `LATIN` or `CJK`; None where it has none of its own.

    Chinese, Japanese and Korean are one here: they are written together.
    """
    if unicodedata.category(character)[0] not in "LM":
        return None
    name = unicodedata.name(character, "").split(" ")[0]
    if not name or name in _SCRIPTLESS:
        return None
    return "CJK" if name in _CJK else name
