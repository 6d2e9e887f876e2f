"""The verifier that an executor copies, and the console's own reading of a permit, against one table."""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import math
import re
import runpy
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from huqan_site.lib.canonical_json import canonical
from review.domain import permit as sealed
from review.domain.refusals import BadPermit

ROOT = Path(__file__).parents[3]
FILE = ROOT / "docs" / "permit_verifier.py"
VERIFIER = runpy.run_path(str(FILE))
VECTOR = json.loads((ROOT / "tests" / "data" / "permit.json").read_text())
VECTORS = json.loads((ROOT / "tests" / "data" / "binding.json").read_text())["vectors"]
KEY = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(VECTOR["seed_hex"]))
OTHER = Ed25519PrivateKey.from_private_bytes(b"\1" * 32)
NOW = 1_796_119_200
ARGUMENTS = {"to": "o.demir@kuzey.example", "amount": 18400, "urgent": None, "share": 0.1}
HEADER = {"alg": "EdDSA", "kid": "test-1", "typ": "huqan-permit+jwt"}
CLAIMS = {
    "iss": "https://console.example",
    "aud": "mailer",
    "jti": "0190a1b2-0000-7000-8000-0000000000d1",
    "iat": NOW,
    "nbf": NOW,
    "exp": NOW + 300,
    "ws": "0190a1b2-0000-7000-8000-000000000001",
    "prop": "0190a1b2-0000-7000-8000-0000000000aa",
    "rev": 1,
    "agent": "0190a1b2-0000-7000-8000-0000000000b1",
    "tool": "mail.send",
    "bind": "b" * 64,
    "args": hashlib.sha256(canonical(ARGUMENTS).encode()).hexdigest(),
}


def encoded(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def jwks(*keys: tuple[str, Ed25519PrivateKey], use: str = "permit") -> dict[str, Any]:
    return {
        "keys": [
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "use": use,
                "kid": kid,
                "x": encoded(key.public_key().public_bytes_raw()),
            }
            for kid, key in keys
        ]
    }


KEYS = jwks(("test-1", KEY), ("test-0", OTHER))


def signed(header: Any = None, claims: Any = None, key: Ed25519PrivateKey = KEY) -> str:
    """A token over these parts; a text is taken as it stands, an object is written as JSON."""
    parts = [
        encoded((part if isinstance(part, str) else json.dumps(part)).encode())
        for part in (HEADER if header is None else header, CLAIMS if claims is None else claims)
    ]
    return f"{'.'.join(parts)}.{encoded(key.sign('.'.join(parts).encode()))}"


def without(members: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key != name}


def unsigned(header: dict[str, Any]) -> str:
    return f"{signed(header).rpartition('.')[0]}."


def respelled(token: str) -> str:
    """The same octets in another spelling: a bit that means nothing is set in the last character."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return token[:-1] + alphabet[alphabet.index(token[-1]) ^ 1]


def flipped(token: str) -> str:
    at = len(token) - 20
    return token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]


CLAIMS_TEXT = json.dumps(CLAIMS)
GOOD: dict[str, str] = {
    "as the console makes it": signed(),
    "signed by an earlier key that is kept": signed({**HEADER, "kid": "test-0"}, key=OTHER),
    "shorter than it may be": signed(claims={**CLAIMS, "exp": NOW + 5}),
    "from a clock 30 seconds ahead": signed(claims={**CLAIMS, "nbf": NOW + 30, "exp": NOW + 330}),
    "over for less than 30 seconds": signed(claims={**CLAIMS, "nbf": NOW - 329, "exp": NOW - 29}),
}
BAD: dict[str, str] = {
    "nothing": "",
    "no token at all": "permit",
    "two parts": ".".join(signed().split(".")[:2]),
    "four parts": f"{signed()}.e30",
    "a JWE of five parts": f"{signed()}.e30.e30",
    "no signature": f"{signed().rpartition('.')[0]}.",
    "a signature of another key": signed(key=OTHER),
    "a bit of the signature turned": flipped(signed()),
    "claims of another token": ".".join(
        [*signed().split(".")[:1], signed(claims={**CLAIMS, "rev": 2}).split(".")[1], signed().split(".")[2]]
    ),
    "alg none": unsigned({**HEADER, "alg": "none"}),
    "alg none, signed": signed({**HEADER, "alg": "none"}),
    "alg HS256": signed({**HEADER, "alg": "HS256"}),
    "alg in other letters": signed({**HEADER, "alg": "eddsa"}),
    "alg Ed25519": signed({**HEADER, "alg": "Ed25519"}),
    "typ JWT": signed({**HEADER, "typ": "JWT"}),
    "typ in other letters": signed({**HEADER, "typ": "HUQAN-PERMIT+JWT"}),
    "no typ": signed(without(HEADER, "typ")),
    "no alg": signed(without(HEADER, "alg")),
    "no kid": signed(without(HEADER, "kid")),
    "a kid nobody knows": signed({**HEADER, "kid": "test-2"}),
    "a kid that is a path": signed({**HEADER, "kid": "../../dev/null"}),
    "a kid that is no text": signed({**HEADER, "kid": ["test-1"]}),
    "the kid of another key": signed({**HEADER, "kid": "test-0"}),
    "a key that it brings along": signed({**HEADER, "jwk": KEYS["keys"][1]}, key=OTHER),
    "an address of keys": signed({**HEADER, "jku": "https://evil.example/keys"}),
    "a critical extension": signed({**HEADER, "crit": ["b64"], "b64": False}),
    "one header member more": signed({**HEADER, "cty": "JWT"}),
    "a header member twice": signed(json.dumps(HEADER)[:-1] + ', "alg": "none"}'),
    "a header that is a list": signed([HEADER]),
    "a header that is no JSON": signed("EdDSA"),
    "claims that are a list": signed(claims=[CLAIMS]),
    "claims that are no JSON": signed(claims="{"),
    "claims twice": signed(claims=CLAIMS_TEXT[:-1] + f', "aud": "mailer", "exp": {NOW + 300}}}'),
    "claims in a deep nest": signed(claims="[" * 100_000),
    "padded base64": signed().replace(".", "=.", 1),
    "base64 with + and /": signed().replace("-", "+").replace("_", "/")
    if set("-_") & set(signed())
    else "+.+.+",
    "base64 in another spelling": respelled(signed()),
    "white space around": f" {signed()}\n",
    "white space within": signed().replace(".", ".\n", 1),
    "letters that look the same": signed().replace("e", "\u0435", 1),
    "over for 30 seconds": signed(claims={**CLAIMS, "nbf": NOW - 330, "exp": NOW - 30}),
    "over since yesterday": signed(claims={**CLAIMS, "nbf": NOW - 86_700, "exp": NOW - 86_400}),
    "not valid for 31 seconds yet": signed(claims={**CLAIMS, "nbf": NOW + 31, "exp": NOW + 331}),
    "good for longer than 300 seconds": signed(claims={**CLAIMS, "exp": NOW + 301}),
    "good for ever": signed(claims={**CLAIMS, "exp": 10**15}),
    "over before it begins": signed(claims={**CLAIMS, "nbf": NOW + 20, "exp": NOW + 10}),
    "an exp that is a text": signed(claims={**CLAIMS, "exp": str(NOW + 300)}),
    "an exp that is a fraction": signed(claims={**CLAIMS, "exp": NOW + 299.5}),
    "an exp that is not a number": signed(claims=CLAIMS_TEXT.replace(f'"exp": {NOW + 300}', '"exp": NaN')),
    "an nbf that is true": signed(claims={**CLAIMS, "nbf": True}),
    "no exp": signed(claims=without(CLAIMS, "exp")),
    "no aud": signed(claims=without(CLAIMS, "aud")),
    "no args": signed(claims=without(CLAIMS, "args")),
    "one claim more": signed(claims={**CLAIMS, "scope": "all"}),
    "an aud that is a list": signed(claims={**CLAIMS, "aud": ["mailer"]}),
    "a jti that is null": signed(claims={**CLAIMS, "jti": None}),
    "a rev that is true": signed(claims={**CLAIMS, "rev": True}),
}
FOREIGN: dict[str, str] = {
    "for another executor": signed(claims={**CLAIMS, "aud": "poster"}),
    "for an executor in other letters": signed(claims={**CLAIMS, "aud": "Mailer"}),
    "for other arguments": signed(claims={**CLAIMS, "args": "0" * 64}),
    "for arguments in capitals": signed(claims={**CLAIMS, "args": CLAIMS["args"].upper()}),
    "of another console": signed(claims={**CLAIMS, "iss": "https://evil.example"}),
}


def verify(
    token: Any, *, arguments: Any = ARGUMENTS, keys: Any = KEYS, now: float = NOW, **asked: Any
) -> Any:
    return VERIFIER["verify"](
        token, keys=keys, audience="mailer", arguments=arguments, now=now, issuer="https://console.example"
    )


def console_reads(token: str) -> Any:
    public = {"test-1": KEY.public_key(), "test-0": OTHER.public_key()}
    return sealed.unseal(token, keys=public, now=datetime.fromtimestamp(NOW, UTC))


READERS: list[tuple[Callable[[str], Any], type[Exception]]] = [
    (verify, VERIFIER["Refused"]),
    (console_reads, BadPermit),
]


@pytest.mark.parametrize("token", GOOD.values(), ids=GOOD.keys())
def test_a_good_permit_is_read_by_both(token: str) -> None:
    assert verify(token)["jti"] == console_reads(token)["jti"] == CLAIMS["jti"]


@pytest.mark.parametrize("token", BAD.values(), ids=BAD.keys())
def test_a_bad_permit_is_refused_by_both(token: str) -> None:
    for read, refusal in READERS:
        with pytest.raises(refusal):
            read(token)


@pytest.mark.parametrize("token", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_permit_for_something_else_is_refused(token: str) -> None:
    with pytest.raises(VERIFIER["Refused"]):
        verify(token)
    assert console_reads(token)  # signed and in time: whom and what it is for, the console asks its own row


@pytest.mark.parametrize(
    "arguments",
    [
        {**ARGUMENTS, "amount": "18400"},
        {**ARGUMENTS, "amount": 18400.5},
        {**ARGUMENTS, "urgent": False},
        {**ARGUMENTS, "cc": "someone"},
        without(ARGUMENTS, "urgent"),
        {**ARGUMENTS, "share": math.nan},
        {**ARGUMENTS, "amount": 2**53},
        {**ARGUMENTS, "to": "\ud800"},
        {**ARGUMENTS, 1: "a name that is no text"},
        {**ARGUMENTS, "to": b"bytes"},
        {},
    ],
)
def test_other_arguments_are_refused(arguments: Any) -> None:
    with pytest.raises(VERIFIER["Refused"]):
        verify(signed(), arguments=arguments)


def test_numbers_that_are_equal_are_the_same_arguments() -> None:
    assert verify(signed(), arguments={**ARGUMENTS, "amount": 18400.0})


@pytest.mark.parametrize(
    "keys", [{}, {"keys": []}, jwks(("test-1", KEY), use="log"), jwks(("test-1", OTHER))]
)
def test_a_key_counts_only_under_its_id_and_for_permits(keys: Any) -> None:
    with pytest.raises(VERIFIER["Refused"]):
        verify(signed(), keys=keys)


def test_the_shared_vector_is_read() -> None:
    public = jwks(("test-1", KEY))
    assert public["keys"][0]["x"] == encoded(bytes.fromhex(VECTOR["pub_hex"]))
    digest = VERIFIER["arguments_digest"]
    arguments = [json.loads(base64.b64decode(one["arguments_raw_b64"])) for one in VECTORS]
    claims = json.loads(base64.urlsafe_b64decode(VECTOR["token"].split(".")[1] + "=="))
    found = [one for one in arguments if digest(one) == claims["args"]]
    told = VERIFIER["verify"](
        VECTOR["token"], keys=public, audience="executor:mail", arguments=found[0], now=claims["nbf"]
    )
    assert told == claims


@pytest.mark.parametrize(
    "value",
    [
        {
            "n": [
                0,
                -0.0,
                1,
                1.0,
                -1.5,
                0.1,
                1e-6,
                1e-7,
                1.5e-9,
                123456.789,
                5e-324,
                2**53 - 1,
                1 / 3,
                1e15,
                1e16,
            ]
        },
        {"n": [1e20, 1e21, 1.2345e22, 1.7976931348623157e308, 123456789012345680000.0, 1e-5, 0.000123]},
        {"s": ["", '\b\t\n\f\r"\\/', "\x00\x1f\x7f\x80", "é İ 漢 🙂 \u2028"]},
        {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\x80": 6, "ö": 7},
        {"deep": {"b": [True, False, None, {"a": {}}], "a": []}},
    ],
)
def test_it_writes_the_canonical_text_that_the_console_writes(value: Any) -> None:
    assert VERIFIER["_canonical"](value) == canonical(value)


def test_it_needs_cryptography_and_nothing_else() -> None:
    tree = ast.parse(FILE.read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    roots = {re.split(r"\.", str(name))[0] for name in imported}
    assert roots - set(sys.stdlib_module_names) == {"cryptography"}
