"""Permits: a compact JWS (RFC 7515) over what may run once, signed with Ed25519 (RFC 8037).

The header is fixed, so there is no algorithm to choose and none to confuse.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from review.domain.refusals import BadPermit

TYPE = "huqan-permit+jwt"
LIFETIME = timedelta(seconds=300)
LEEWAY = timedelta(seconds=30)
TEXTS = frozenset({"iss", "aud", "jti", "ws", "prop", "agent", "tool", "bind", "args"})
NUMBERS = frozenset({"iat", "nbf", "exp", "rev"})


def lifetime(now: datetime, proposal_ends: datetime) -> tuple[datetime, datetime]:
    """Return when a permit issued `now` begins and ends: at most 300 s, never after its proposal."""
    return now, min(now + LIFETIME, proposal_ends)


def seal(claims: Mapping[str, Any], *, kid: str, key: Ed25519PrivateKey) -> str:
    """Return the compact JWS of `claims`."""
    header = {"alg": "EdDSA", "kid": kid, "typ": TYPE}
    signed = f"{_part(header)}.{_part(claims)}"
    return f"{signed}.{_encode(key.sign(signed.encode()))}"


def unseal(token: str, *, keys: Mapping[str, Ed25519PublicKey], now: datetime) -> dict[str, Any]:
    """Return the claims of a permit that one of `keys` signed and that holds at `now`.

    Raises: BadPermit, whatever is wrong; a forger learns nothing from which.
    """
    try:
        header, claims, signature = token.split(".")
        head = _members(header)
        keys[_kid(head)].verify(_decode(signature), f"{header}.{claims}".encode())
        body = _members(claims)
    except (ValueError, KeyError, InvalidSignature, binascii.Error, RecursionError) as wrong:
        raise BadPermit from wrong
    if not _is_whole(body) or not _holds(body, now):
        raise BadPermit
    return body


def _kid(head: Mapping[str, Any]) -> str:
    if set(head) != {"alg", "kid", "typ"} or head["alg"] != "EdDSA" or head["typ"] != TYPE:
        raise ValueError("not the fixed header")
    return str(head["kid"])


def _is_whole(claims: Mapping[str, Any]) -> bool:
    if set(claims) != TEXTS | NUMBERS:
        return False
    return all(isinstance(claims[name], str) for name in TEXTS) and all(
        type(claims[name]) is int for name in NUMBERS
    )


def _holds(claims: Mapping[str, Any], now: datetime) -> bool:
    begins, ends = claims["nbf"], claims["exp"]
    moment, leeway = now.timestamp(), LEEWAY.total_seconds()
    if not 0 <= ends - begins <= LIFETIME.total_seconds():
        return False
    return bool(begins - leeway <= moment < ends + leeway)


def _part(members: Mapping[str, Any]) -> str:
    return _encode(json.dumps(members, separators=(",", ":"), sort_keys=True).encode())


def _members(part: str) -> dict[str, Any]:
    members = json.loads(_decode(part), object_pairs_hook=_once)
    if not isinstance(members, dict):
        raise ValueError("not an object")
    return members


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("the same member twice")
    return dict(pairs)


def _encode(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _decode(part: str) -> bytes:
    octets = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if _encode(octets) != part:
        raise ValueError("not base64url in its one spelling")
    return octets
