"""Requests that nobody in his right mind sends: a mutator that starts from what the OpenAPI document allows.

Everything comes from one seed, so that a shot that hit can be fired again: `Mutator(document, ids, seed)`.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

REFUSED = [
    base64.b64decode(case["raw_b64"])
    for case in json.loads((Path(__file__).parents[1] / "data" / "refused_bodies.json").read_text())["bodies"]
]
TEXTS = [
    *(
        "",
        " ",
        "0",
        "null",
        "-1",
        "1e999",
        "%00",
        "%",
        "'",
        '"',
        "\\",
        "../" * 20,
        "{{7*7}}",
        "<script>",
        "a\tb",
    ),
    *(
        "\u0000",
        "\u202e",
        "\u200b" * 50,
        "\ud83d\ude00",
        "ı İ ß ﬁ",
        "\U000e0041",
        "e\u0301" * 300,
        "\ufeff",
        "\u2028",
    ),
    *(
        "x" * 300,
        "x" * 3000,
        "2026-02-30T00:00:00Z",
        "0000-00-00T00:00:00Z",
        "9999-12-31T23:59:59-23:59",
        "٣",
    ),
    *(
        "; DROP TABLE review_proposal",
        "(a+)+$",
        "*",
        ".*",
        "a:b OR c*",
        "NEAR(",
        "1" * 400,
        "Infinity",
        "\r\n",
    ),
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 1e308, 5e-324, -0.0, 2**53, 2**63, 2**64, [], {}, [[]], [{}], [None]),
    *(
        "",
        "x",
        {"": ""},
        {"__proto__": 1},
        {"constructor": {}},
        {"$ref": "http://127.0.0.1/x"},
        list(range(50)),
    ),
]
TOKENS = [
    *(
        b"\x00",
        b"\\ud800",
        b"\\udc00\\ud800",
        b"\\u0000",
        b"1e999",
        b"NaN",
        b"-Infinity",
        b"[[[[",
        b"{",
        b'"',
        b"\xff",
    ),
    *(
        b",",
        b"-0",
        b"9" * 400,
        b"0" * 50,
        b"1e-400",
        b"0.1" + b"0" * 90 + b"1",
        b"\xed\xa0\x80",
        b"\xf0\x9f",
        b"\\u00",
    ),
    *(
        b'"a":1,"a":2,',
        b'"__proto__":{},',
        b"/*",
        b"\x1f",
        b"\xc0\x80",
        b"\xef\xbb\xbf",
        b"true",
        b"\\",
        b"}{",
    ),
]
MEDIA = [
    *(
        "text/plain",
        "application/xml",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "",
    ),
    *(
        "application/json; charset=utf-16",
        "application/json;;;",
        "application/json; charset=\xff",
        "a/b/c",
        "json",
    ),
    *(
        "application/json, text/plain",
        "application/json; charset*=utf-8''x",
        "application/json; charset=",
        "x" * 900,
    ),
]
HEADERS: Mapping[str, Sequence[str]] = {
    "Idempotency-Key": [
        "",
        "k",
        "k" * 255,
        "k" * 256,
        "k" * 3000,
        "\xe9",
        "a\tb",
        "'",
        "null",
        "key:k",
        "[]",
    ],
    "Prefer": [
        "wait",
        "wait=",
        "wait=0",
        "wait=-1",
        "wait=abc",
        "wait=99999",
        "wait=1e1",
        "respond-async, wait=0",
    ],
    "If-None-Match": ["*", '"x"', "x" * 2000, 'W/"0"', '"', ",,,", "\xff"],
    "Authorization": [
        "",
        "Bearer",
        "Bearer x",
        "Bearer hqn_",
        "Basic x",
        "Bearer hqn_0_0",
        "Bearer \xff",
        "x" * 3000,
    ],
    "Accept": ["", "*/*", "text/html", "q=;;;", "\xff"],
    "Accept-Language": ["tr", "x" * 900, "\xff", "en;q=abc"],
    "Cookie": ["huqan_session=x", "=;=;=", "huqan_csrf=\xff", "a=" + "b" * 2000],
    "X-Forwarded-For": ["\xff", "127.0.0.1, x"],
    "X-Request-Id": ["", "x" * 2000, "\xff"],
    "Content-Encoding": ["gzip", "br", "identity", "\xff"],
    "Expect": ["100-continue"],
    "Range": ["bytes=0-"],
    "Origin": ["null"],
}
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "QUERY"]
LONGEST_TARGET = 3500  # bytes; longer ones never get past gunicorn


class Shot(NamedTuple):
    """One request. `target` and headers are ASCII and Latin-1 text, as they travel."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    def raw(self, host: str) -> bytes:
        """Return its bytes for a connection to `host`, which stays open."""
        lines = [f"{self.method} {self.target} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        lines += [f"Content-Length: {len(self.body)}", "", ""]
        return "\r\n".join(lines).encode("latin-1") + self.body


class Mutator:
    """Shots at every call of `document`, with `ids` of things that are there, by path parameter."""

    def __init__(
        self, document: Mapping[str, Any], ids: Mapping[str, Sequence[str]], authorization: str, seed: int
    ) -> None:
        self.chance = random.Random(seed)
        self._document, self._ids, self._authorization = document, ids, authorization
        self._all_ids = [one for named in ids.values() for one in named]
        self.calls = [
            (path, method.upper(), call)
            for path, methods in document["paths"].items()
            for method, call in methods.items()
        ]

    def shot(self, number: int) -> Shot:
        """Return the next shot; the calls take turns, so that none is left out."""
        path, method, call = self.calls[number % len(self.calls)]
        if self._rarely():
            method = self.chance.choice(METHODS)
        body = self._body(call) if "requestBody" in call or self._rarely() else b""
        headers = {"Authorization": self._authorization}
        if body or not self._rarely():
            headers["Content-Type"] = "application/json"
        if self.chance.random() < 0.3:
            name = self.chance.choice(sorted(HEADERS))
            headers[name] = self.chance.choice(HEADERS[name])
        if self._rarely():
            headers["Content-Type"] = self.chance.choice(MEDIA)
        return Shot(method, self._target(path, call), headers, body)

    def _rarely(self) -> bool:
        return self.chance.random() < 0.07

    # Where to.

    def _target(self, path: str, call: Mapping[str, Any]) -> str:
        target = re.sub(r"\{(\w+)\}", lambda part: self._id(part[1]), path)
        if self._rarely():
            target += self.chance.choice(["/", "//", "%2f", "%00", ";x", "/../me", "%ff", "?", "%u0041"])
        if (call["parameters"] and self.chance.random() < 0.6) or self._rarely():
            target += "?" + self._query([one["name"] for one in call["parameters"] if one["in"] == "query"])
        return target[:LONGEST_TARGET]

    def _id(self, name: str) -> str:
        known = self.chance.choice(self._ids.get(name, self._all_ids))
        if self.chance.random() < 0.8:
            return known
        return self.chance.choice(
            [known.upper(), known[:-1], known.replace("-", ""), "{" + known, _encoded(self._text()[:200])]
        )

    def _query(self, names: Sequence[str]) -> str:
        pairs = []
        for _ in range(self.chance.randint(1, 4)):
            name = self.chance.choice([*names, *names, "x", "token", "", "limit[]", "__proto__"])
            encode: Callable[[str], str] = _encoded if self.chance.random() < 0.8 else _as_it_is
            pairs.append(f"{encode(name)}={encode(self._text())}")
        return self.chance.choice(["&", "&", "&", ";", "&&"]).join(pairs)

    def _text(self) -> str:
        return self.chance.choice([*TEXTS, *(str(value) for value in VALUES), *self._all_ids])

    # What.

    def _body(self, call: Mapping[str, Any]) -> bytes:
        if self._rarely():
            return self.chance.choice(REFUSED)
        schema = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        value = self.example(schema)
        if self.chance.random() < 0.6:
            value = self._twisted(value)
        raw = self._written(value)
        for _ in range(self.chance.choice([0, 0, 0, 1, 2])):
            raw = self._mangled(raw)
        return raw

    def example(self, schema: Mapping[str, Any]) -> Any:
        """Return a value that `schema` allows, or nearly so."""
        if "$ref" in schema:
            schema = self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        if "examples" in schema and self.chance.random() < 0.8:
            return self.chance.choice(schema["examples"])
        for choices in ("enum", "anyOf"):
            if choices in schema:
                one = self.chance.choice(schema[choices])
                return one if choices == "enum" else self.example(one)
        kind = schema.get("type")
        if kind == "object" and "properties" in schema:
            required = set(schema.get("required", ()))
            return {
                name: self.example(member)
                for name, member in schema["properties"].items()
                if name in required or self.chance.random() < 0.5
            }
        if kind == "string":
            return self.chance.choice(["staging port", "payments.refund", "0" * 64, *self._all_ids])
        plain: dict[Any, Any] = {"integer": 5, "number": 0.5, "boolean": True, "array": [], "object": {}}
        return plain.get(kind)

    def _twisted(self, value: Any) -> Any:
        """`value` with one member, somewhere, that is something else."""
        if isinstance(value, dict) and value and self.chance.random() < 0.85:
            name = self.chance.choice(sorted(value))
            match self.chance.randrange(6):
                case 0:
                    return {one: member for one, member in value.items() if one != name}
                case 1:
                    return {**value, self._text(): self._something()}
                case _:
                    return {**value, name: self._twisted(value[name])}
        return self._something()

    def _something(self) -> Any:
        match self.chance.randrange(8):
            case 0:
                return _nested(self.chance.choice([2, 31, 32, 33, 200]), self.chance.random() < 0.5)
            case 1:
                return self._text() * self.chance.choice([1, 7, 50])
            case 2:
                return {self._text(): self._text() for _ in range(self.chance.choice([1, 40]))}
            case 3:
                return [self._text() for _ in range(self.chance.choice([1, 40]))]
            case 4 if self._rarely():
                return self.chance.choice(["x" * 131_000, "x" * 131_073, [0] * 9_990, [0] * 10_001])
            case _:
                return self.chance.choice([*VALUES, *TEXTS])

    def _written(self, value: Any) -> bytes:
        text = json.dumps(value, ensure_ascii=self.chance.random() < 0.5)
        if self._rarely():
            encoding = self.chance.choice(["utf-16", "utf-32", "utf-7", "latin-1", "utf-8-sig", "cp037"])
            return text.encode(encoding, "replace")
        return text.encode("utf-8", "surrogatepass")

    def _mangled(self, raw: bytes) -> bytes:
        place = self.chance.randrange(len(raw) + 1)
        match self.chance.randrange(7):
            case 0:
                return raw[:place]
            case 1:
                return raw[:place] + self.chance.randbytes(self.chance.randint(1, 8)) + raw[place:]
            case 2:
                return raw + raw[place:]
            case 3:
                return self.chance.choice(
                    [gzip.compress(raw), raw[::-1], raw + b"\x00", b" " * 70_000 + raw, b""]
                )
            case _:
                cut = place + self.chance.randint(0, 8)
                return raw[:place] + self.chance.choice(TOKENS) + raw[cut:]


def _encoded(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


def _as_it_is(text: str) -> str:
    """`text` in a query without the encoding that it needs, as far as a request line can carry it."""
    return re.sub(r"[^!-~]", "%zz", text).replace("#", "")


def _nested(depth: int, in_lists: bool) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if in_lists else {"a": value}
    return value
