"""The reader of every JSON body: one meaning per body, or none.

Two JSON readers may disagree about duplicate keys, large integers and broken text, and then what a
person approved is not what runs. So all of that is refused at the door, with a code and the remedy.
Limits are looked at before shape, on the raw bytes and without recursion.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

from huqan_site.lib.canonical_json import JSON
from huqan_site.lib.json_strings import strings
from huqan_site.lib.problems import Refusal

__all__ = ["JSON", "MAX_BYTES", "MAX_DEPTH", "MAX_STRING_BYTES", "MAX_VALUES", "Unreadable", "read"]

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_VALUES = 10_000
MAX_STRING_BYTES = 128 * 1024  # of UTF-8, once the escapes are undone
MAX_INTEGER = 2**53 - 1


class Unreadable(Refusal):
    """A body that is not read. `code` says which rule it breaks."""

    status = 400
    title = "The body cannot be read"


class TooLarge(Unreadable):
    code = "too_large"
    title = "The body is too large"
    detail = "The body goes past a limit. Send less in one request."


class BodyTooLarge(TooLarge):
    status = 413
    detail = "The body is larger than 256 KiB. Send less in one request."


class Malformed(Unreadable):
    code = "malformed"
    detail = "The body is not one JSON object in UTF-8. Send exactly one, without a byte order mark."


class DuplicateKey(Unreadable):
    code = "duplicate_key"
    detail = "An object has the same key twice. Send each key once."


class ForbiddenKey(Unreadable):
    code = "forbidden_key"
    detail = "The key `__proto__` is not taken. Use another name."


class IntegerOutOfRange(Unreadable):
    code = "integer_out_of_range"
    detail = "An integer lies beyond ±(2^53-1), where readers round it differently. Send it as a string."


class InexactNumber(Unreadable):
    code = "inexact_number"
    detail = "A number has no exact shortest form in binary64. Send fewer digits, or send it as a string."


class ForbiddenCharacter(Unreadable):
    code = "forbidden_character"
    detail = "A key or string holds U+0000 or half of a surrogate pair. Take it out."


# Where a body breaks several rules, the first of these answers.
_PRECEDENCE: tuple[type[Unreadable], ...] = (
    DuplicateKey,
    ForbiddenKey,
    IntegerOutOfRange,
    InexactNumber,
    ForbiddenCharacter,
)


def read(body: bytes) -> dict[str, JSON]:
    """The JSON object in `body`: strings exactly as sent, integers as int, the rest as float.

    Raises: a subclass of Unreadable, whose `code` is one of design 3 "Reader".
    """
    if len(body) > MAX_BYTES:
        raise BodyTooLarge
    _check_limits(body)
    faults: set[type[Unreadable]] = set()
    value = _parse(body, faults)
    if any(_is_forbidden(text) for _, text in strings(value)):
        faults.add(ForbiddenCharacter)
    for fault in _PRECEDENCE:
        if fault in faults:
            raise fault
    return value


def _parse(body: bytes, faults: set[type[Unreadable]]) -> dict[str, Any]:
    """Read `body` by the grammar alone; what the grammar allows and we do not goes to `faults`."""
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=lambda pairs: _object(pairs, faults),
            parse_int=lambda text: _integer(text, faults),
            parse_float=lambda text: _number(text, faults),
            parse_constant=lambda _: faults.add(InexactNumber),
        )
    except ValueError:
        raise Malformed from None
    if not isinstance(value, dict):
        raise Malformed
    return value


def _object(pairs: list[tuple[str, Any]], faults: set[type[Unreadable]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        faults.add(DuplicateKey)
    if "__proto__" in value:
        faults.add(ForbiddenKey)
    return value


def _integer(text: str, faults: set[type[Unreadable]]) -> int:
    # Length first: int() is slow on long digit strings and refuses those over 4,300.
    if len(text.lstrip("-")) > 16 or abs(int(text)) > MAX_INTEGER:
        faults.add(IntegerOutOfRange)
        return 0
    return int(text)


def _number(text: str, faults: set[type[Unreadable]]) -> float:
    value = float(text)
    if math.isinf(value):
        faults.add(InexactNumber)
        return value
    sent = _decimal_form(text)
    if sent.exponent >= 0 and abs(value) > MAX_INTEGER:
        faults.add(IntegerOutOfRange)
    elif sent != _decimal_form(repr(value)):
        faults.add(InexactNumber)
    return value


class _Decimal(NamedTuple):
    """A number as (-1)^negative · digits · 10^exponent, no zero at either end of `digits`.

    Two are equal exactly when the numbers are.
    """

    negative: bool
    digits: str
    exponent: int


def _decimal_form(text: str) -> _Decimal:
    """Read a JSON or `repr` number without decimal.Decimal, which gives up on very long exponents."""
    mantissa, _, exponent = text.lower().lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return _Decimal(False, "", 0)
    power = _exponent(exponent) - len(fraction) + len(digits) - len(significant)
    return _Decimal(text.startswith("-"), significant, power)


def _exponent(text: str) -> int:
    digits = text.lstrip("+-").lstrip("0")
    # Ten million is beyond any float and any mantissa that fits in a body, so more says nothing more.
    size = 10_000_000 if len(digits) > 7 else int(digits or "0")
    return -size if text.startswith("-") else size


_TOKEN = re.compile(
    rb"""(?P<string>"(?:[^"\\]++|\\.)*+"?) | (?P<opens>[\[{]) | (?P<closes>[\]}]) | (?P<colon>:)
       | (?P<bare>[^\s"\[\]{}:,]++)""",
    re.VERBOSE | re.DOTALL,
)


def _check_limits(body: bytes) -> None:
    """Count depth, values and string lengths in one pass over the bytes, well-formed or not."""
    depth = values = 0
    for token in _TOKEN.finditer(body):
        match token.lastgroup:
            case "closes":
                depth -= 1
                continue
            case "colon":
                values -= 1  # the string before it was a key
                continue
            case "opens":
                depth += 1
            case "string" if _text_bytes(token[0]) > MAX_STRING_BYTES:
                raise TooLarge("A string is longer than 128 KiB. Send less in one string.")
        values += 1
        if depth > MAX_DEPTH:
            raise TooLarge("The body is nested deeper than 32 levels. Flatten it.")
        if values > MAX_VALUES + 1:  # the last may yet turn out to be a key
            raise _too_many()
    if values > MAX_VALUES:
        raise _too_many()


def _too_many() -> TooLarge:
    return TooLarge("The body holds more than 10,000 values. Send less in one request.")


_ESCAPE = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u(....)|\\.", re.DOTALL)


def _text_bytes(token: bytes) -> int:
    """How many bytes of UTF-8 the string `token`, quotes and escapes included, stands for."""
    raw = token.removeprefix(b'"').removesuffix(b'"')
    if len(raw) <= MAX_STRING_BYTES:  # undoing escapes only shortens
        return len(raw)
    return len(_ESCAPE.sub(_stand_in, raw))


def _stand_in(escape: re.Match[bytes]) -> bytes:
    """As many bytes as the escaped character has in UTF-8."""
    if len(escape[0]) == 12:
        return b"...."
    if escape[1] is None:
        return b"."
    return b"." if escape[1] < b"0080" else b".." if escape[1] < b"0800" else b"..."


_SURROGATE = re.compile("[\ud800-\udfff]")


def _is_forbidden(text: str) -> bool:
    return "\0" in text or (not text.isascii() and _SURROGATE.search(text) is not None)
