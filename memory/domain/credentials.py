"""Credentials in a text: what kind and where, never what.

Known token formats are told by their shape. A password has none, so it is told by being assigned
(`password = …`) a value that no sentence would hold. Digests, UUIDs and prose about passwords pass.
Every pattern is bounded or starts at a token's edge, so that hostile text costs linear time, and is
tried only where one of its marks stands, so that ordinary text costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Secret(NamedTuple):
    """A credential at code points [start, end). `kind` is a few words for people."""

    kind: str
    start: int
    end: int


def secrets_in(text: str) -> list[Secret]:
    """The credentials in `text` by place; where two overlap, the one that starts first."""
    found: list[Secret] = []
    for secret in sorted([*_by_format(text), *_assigned(text)], key=lambda secret: secret.start):
        if not found or secret.start >= found[-1].end:
            found.append(secret)
    return found


class _Format(NamedTuple):
    kind: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]


_EDGE = r"(?<![A-Za-z0-9])"
_FORMATS = tuple(
    _Format(kind, tuple(marks.split(" ")), re.compile(pattern))
    for kind, marks, pattern in (
        (
            "private key",
            "-----BEGIN",
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[\s\S]*?(?:-----END[^-]{0,60}-----|\Z)",
        ),
        ("private key", "PuTTY AGE-", r"PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1[A-Z0-9]{50,60}"),
        ("AWS access key", "AKIA ASIA ABIA ACCA", _EDGE + r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
        ("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
        ("GitLab token", "gl", _EDGE + r"gl(?:pat|dt|rt|ptt|cbt|soat|ft|agent|imt)-[A-Za-z0-9_-]{20,255}"),
        ("Slack token", "xox", _EDGE + r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,255}"),
        ("Slack token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{10,255}"),
        ("Slack address", "hooks.slack.com", r"hooks\.slack\.com/services/[A-Za-z0-9_/]{20,120}"),
        ("Stripe key", "k_live_ k_test_", _EDGE + r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
        ("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,255}"),
        ("Google key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
        ("Google key", "GOCSPX- ya29.", r"(?:GOCSPX-|ya29\.)[A-Za-z0-9_-]{20,255}"),
        ("model provider key", "sk-", r"(?<![\w-])sk-(?=[A-Za-z_-]{0,250}\d)[A-Za-z0-9_-]{32,255}"),
        ("package registry token", "npm_ hf_", _EDGE + r"(?:npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{34})"),
        ("package registry token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,255}"),
        ("SendGrid key", "SG.", _EDGE + r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
        ("Shopify token", "shp", _EDGE + r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
        ("Twilio key", "SK", _EDGE + r"SK[a-f0-9]{32}(?![a-f0-9])"),
        ("DigitalOcean token", "_v1_", _EDGE + r"do[opr]_v1_[a-f0-9]{64}"),
        ("Vault token", "hvs.", _EDGE + r"hvs\.[A-Za-z0-9_-]{24,255}"),
        ("bot token", ":", _EDGE + r"\d{8,10}:[A-Za-z0-9_-]{35}(?![\w-])"),
        ("Huqan agent token", "hqn_", r"hqn_[A-Za-z0-9]{6,32}_[A-Za-z0-9_-]{16,128}"),
        ("storage key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/=]{86,88}"),
        ("JSON Web Token", "eyJ", r"(?<![\w.-])eyJ[\w-]{8,8000}+\.[\w-]{8,8000}+\.[\w-]{8,8000}+"),
        (
            "password in an address",
            "://",
            r"(?<![\w.+-])[A-Za-z][\w.+-]{1,20}://[^\s:/?#@]{0,128}+:(?![$<{*%\[])[^\s/@]{3,256}+@(?=[\w\[])",
        ),
        (
            "authorization header",
            "earer EARER asic ASIC",
            r"(?i:bearer|basic)\s{1,3}(?=[A-Za-z._~+/-]{0,250}\d)[A-Za-z0-9._~+/-]{20,512}={0,2}",
        ),
    )
)


SHORTEST = 11  # ab://:abc@h


def _by_format(text: str) -> Iterator[Secret]:
    if len(text) < SHORTEST:  # most keys and many values: spares two dozen looks at each
        return
    for form in _FORMATS:
        if any(mark in text for mark in form.marks):
            yield from (Secret(form.kind, *match.span()) for match in form.pattern.finditer(text))


_PASSWORDS = ("pass", "pwd", "parola", "şifre", "sifre")
_KEYS = ("secret", "token", "credential", "key")
# A name that goes on like this is not about the value: token_id, key-hash, secret_path.
_ABOUT = r"(?!id\b|ref|name|path|file|url|type|hash|digest|sha|fingerprint|expir|length|version)"
_GIVEN = (
    rf"(?:s|[_-]{_ABOUT}\w{{1,20}}|[a-zıişüöç]{{1,4}})?[\"'`\]]{{0,2}}"
    r"\s{0,5}(?:=>|:=|={1,3}|:|\bis\b|->)\s{0,5}[\"'`]?"
    r"(?P<value>[^\s\"'`,;]{6,512})"
)
_PASSWORD = re.compile(rf"(?i:(?:pass(?:word|wd|phrase|code)|pwd|(?<=[_-])pass|parola|şifre|sifre){_GIVEN})")
_KEY = re.compile(
    r"(?i:(?:secret|token|credential|(?:api|access|account|auth|client|encryption|master|private|service"
    rf"|signing)[ _-]?key){_GIVEN})"
)


def _assigned(text: str) -> Iterator[Secret]:
    lowered = text.lower()
    if any(name in lowered for name in _PASSWORDS):
        yield from _values(_PASSWORD, text, _could_be_password)
    if any(name in lowered for name in _KEYS):
        yield from _values(_KEY, text, _could_be_key)


def _values(pattern: re.Pattern[str], text: str, judge: Callable[[str], bool]) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        value = match["value"].rstrip(".:)]}>")
        if not _STAND_IN.match(value) and judge(value):
            start = match.start("value")
            yield Secret("password or key", start, start + len(value))


# What is there instead of a secret: a variable, placeholder, path, address, call, digest or algorithm.
_STAND_IN = re.compile(
    r"[$<{%*\[(/~.]|\w{1,20}://|[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)++\Z|[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++\Z"
    r"|\w++(?:\.\w++)*+\(|(?i:x{4}|your|example|changeme|placeholder|redacted|null|none)"
    r"|(?i:sha|md|base|argon|bcrypt|scrypt|pbkdf|hmac|blake|aes|rsa|utf|totp|fido)-?\d"
)


def _could_be_password(value: str) -> bool:
    """People's passwords are short, but hold a digit or sign where prose has a word."""
    return _has_digit_or_sign(value) and not _is_compound(value)


def _could_be_key(value: str) -> bool:
    """A generated value is long and mixed."""
    return len(value) >= 12 and len(set(value)) >= 8 and _has_letter(value) and _could_be_password(value)


def _has_letter(value: str) -> bool:
    return any(character.isalpha() for character in value)


def _has_digit_or_sign(value: str) -> bool:
    return any(character.isdigit() or character in "!@#$%^&*+?~|\\" for character in value)


# NIST-800-63B, Python3.11, item42-ops, 2026-11-30T10:00:00Z: words and numbers held together.
_JOINT = re.compile(r"[-_./:+]")
_JOINED = re.compile(r"[A-Za-z]{3,}\d*|[A-Za-z]{0,2}|v?\d+[A-Za-z]{0,2}|\d+T\d+")


def _is_compound(value: str) -> bool:
    parts = _JOINT.split(value)
    return len(parts) > 1 and all(map(_JOINED.fullmatch, parts))
