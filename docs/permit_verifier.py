"""Check a permit of the Huqan review console before you run what it permits.

One file for an executor to copy. It needs Python 3.9 or later and `cryptography`, and nothing of the console.

    keys = json.load(urlopen("https://console.example/.well-known/huqan-keys.json"))
    claims = verify(permit, keys=keys, audience="mailer", arguments=arguments)

It returns the claims, or raises `Refused`: then run nothing. Read the keys over TLS, keep them for some minutes, and
read them again when a permit names a key that you do not know: keys are rotated.

What it cannot know is whether the permit was used before, or was taken back meanwhile. Spend it at the console
(`POST /api/v1/permits/redeem`); or, where the console cannot be reached, refuse every `jti` that you have seen, for
six minutes at least.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

TYPE = "huqan-permit+jwt"
LONGEST = 300  # seconds from nbf to exp
LEEWAY = 30  # seconds that two clocks may differ
MAX_TOKEN = 8000  # characters
MAX_INTEGER = 2**53 - 1
TEXTS = ("iss", "aud", "jti", "ws", "prop", "agent", "tool", "bind", "args")
NUMBERS = ("iat", "nbf", "exp", "rev")


class Refused(Exception):
    """The permit does not permit this. The sentence is for your log; treat every refusal as no."""


def verify(
    permit: str,
    *,
    keys: Mapping[str, Any],
    audience: str,
    arguments: Mapping[str, Any],
    issuer: str | None = None,
    now: float | None = None,
) -> dict[str, Any]:
    """Return the claims of `permit`, if it lets `audience` run exactly `arguments` now.

    `keys` is the console's JWK set, `audience` your agent's name there, `arguments` what you are about to run, as
    parsed JSON; `issuer` the console's address, where you use more than one; `now` in seconds since 1970.

    Raises: Refused, whatever is wrong.
    """
    header, payload, signature = _parts(permit)
    _check_signature(header, payload, signature, keys)
    claims = _members(payload)
    _check_shape(claims)
    _check_time(claims, time.time() if now is None else now)
    if claims["aud"] != audience:
        raise Refused("The permit is for somebody else.")
    if issuer is not None and claims["iss"] != issuer:
        raise Refused("The permit is of another console.")
    if claims["args"] != arguments_digest(arguments):
        raise Refused("These are not the arguments that were approved.")
    return claims


def arguments_digest(arguments: Mapping[str, Any]) -> str:
    """Return SHA-256 of the canonical text of `arguments` (RFC 8785), 64 hex digits.

    Raises: Refused for what is no JSON that the console takes.
    """
    try:
        return hashlib.sha256(_canonical(dict(arguments)).encode()).hexdigest()
    except (ValueError, TypeError, RecursionError):  # a lone surrogate is a ValueError too
        raise Refused("The arguments are not JSON that the console takes.") from None


def _parts(permit: str) -> tuple[str, str, str]:
    if len(permit) > MAX_TOKEN or not permit.isascii():
        raise Refused("Not a permit.")
    parts = permit.split(".")
    if len(parts) != 3:
        raise Refused("Not a permit.")
    return parts[0], parts[1], parts[2]


def _check_signature(header: str, payload: str, signature: str, keys: Mapping[str, Any]) -> None:
    head = _members(header)
    # The header is fixed: no algorithm to choose, no key to bring along, nothing to ignore.
    if set(head) != {"alg", "kid", "typ"} or head["alg"] != "EdDSA" or head["typ"] != TYPE:
        raise Refused("The header is not that of a permit.")
    key = _key(keys, head["kid"])
    try:
        key.verify(_octets(signature), f"{header}.{payload}".encode())
    except InvalidSignature:
        raise Refused("The signature is not good.") from None


def _key(keys: Mapping[str, Any], kid: object) -> Ed25519PublicKey:
    wanted = {"kty": "OKP", "crv": "Ed25519", "use": "permit", "kid": kid}
    for key in keys.get("keys", ()):
        if all(key.get(name) == value for name, value in wanted.items()):
            return Ed25519PublicKey.from_public_bytes(_octets(key["x"]))
    raise Refused("No key of the console has this id. Read its keys again.")


def _check_shape(claims: Mapping[str, Any]) -> None:
    if set(claims) != {*TEXTS, *NUMBERS}:
        raise Refused("The claims are not those of a permit.")
    if any(not isinstance(claims[name], str) for name in TEXTS):
        raise Refused("A claim that is a text is not one.")
    if any(type(claims[name]) is not int for name in NUMBERS):
        raise Refused("A claim that is a whole number is not one.")


def _check_time(claims: Mapping[str, Any], now: float) -> None:
    begins, ends = claims["nbf"], claims["exp"]
    if not 0 <= ends - begins <= LONGEST:
        raise Refused("No permit of the console lasts that long.")
    if now < begins - LEEWAY:
        raise Refused("The permit does not hold yet.")
    if now >= ends + LEEWAY:
        raise Refused("The permit has run out.")


def _members(part: str) -> dict[str, Any]:
    try:
        members = json.loads(_octets(part).decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Refused("A part of the permit cannot be read.") from None
    if not isinstance(members, dict):
        raise Refused("A part of the permit is not an object.")
    return members


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("the same member twice")
    return dict(pairs)


def _octets(part: str) -> bytes:
    """Decode base64url in its one spelling: without padding, and with no bits set that mean nothing."""
    try:
        octets = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except ValueError:
        raise Refused("A part of the permit is not base64url.") from None
    if base64.urlsafe_b64encode(octets).rstrip(b"=").decode() != part:
        raise Refused("A part of the permit is not base64url in its one spelling.")
    return octets


def _canonical(value: Any) -> str:
    """Return the one text of a JSON value, RFC 8785."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_canonical, value))}]"
    if isinstance(value, dict):
        return _object(value)
    raise TypeError("not a JSON value")


def _object(value: Mapping[str, Any]) -> str:
    if any(not isinstance(name, str) for name in value):
        raise TypeError("a name is a text")
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return f"{{{','.join(f'{_canonical(name)}:{_canonical(value[name])}' for name in names)}}}"


def _integer(value: int) -> str:
    if abs(value) > MAX_INTEGER:
        raise ValueError("beyond what every reader keeps")
    return str(value)


def _number(value: float) -> str:
    """Return a number as ECMAScript spells it: the shortest digits that read back as the same number."""
    if not math.isfinite(value):
        raise ValueError("not a number in JSON")
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    if not text:
        return "0"
    point = len(digits) + int(exponent)  # where the decimal point stands, counted from the first digit
    return "-" * sign + _placed(text, point)


def _placed(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"
