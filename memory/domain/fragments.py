"""What of a text is looked for, to see whether it is still somewhere: pieces that no storage writes differently."""

from __future__ import annotations

import re

LEAST, MOST = (
    12,
    48,
)  # characters of a piece: below it would be found by chance, above it may be cut by a page
PIECES = 4  # of one text
_PLAIN = re.compile(r"""[^\W_][^\x00-\x1f"'\\,(){}\x7f]*""")


def fragments(text: str) -> set[str]:
    """Return a few pieces of `text`, spread over it; none where it is too short to be told from others.

    No piece holds a sign that JSON, SQL or a row written as text would escape.
    """
    runs = [run.strip() for run in _PLAIN.findall(text)]
    pieces = [run[at : at + MOST] for run in runs for at in range(0, len(run), MOST)]
    long = [piece for piece in pieces if len(piece) >= LEAST]
    return set(long[:: max(1, len(long) // PIECES)][:PIECES])


def spellings(piece: str) -> set[bytes]:
    """Return how files may hold `piece`: in UTF-8, and with the escapes that JSON has for what is not ASCII."""
    escaped = "".join(char if char.isascii() else _escape(char) for char in piece)
    return {piece.encode(), escaped.encode()}


def _escape(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
