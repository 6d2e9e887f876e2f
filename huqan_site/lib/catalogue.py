"""A catalogue of translations: the .po file that people edit, and the .mo file that programs read.

Only what this console writes is read: single-line or continued quoted strings, plurals, contexts, comments.
Source: GNU gettext manual, "The Format of PO Files" and "The Format of GNU MO Files".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_LINE = re.compile(r'^(?:(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d+)\])? )?"(.*)"$')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
_ESCAPED = re.compile(r"\\(.)")
_PLAIN = {"n": "\n", "t": "\t"}
_MAGIC = 0x950412DE


@dataclass
class Message:
    """One text and its translations: one, or one for each plural form; empty where there is none yet.

    `marks` are the extracted comments ("#."), `places` the files it stands in, without line numbers.
    """

    id: str
    plural: str = ""
    context: str = ""
    translations: list[str] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=set)
    is_fuzzy: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.context, self.id

    @property
    def is_translated(self) -> bool:
        return bool(self.translations) and all(self.translations)


def read(text: str) -> list[Message]:
    """Return the messages of a .po file in their order, the header (with an empty id) among them."""
    blocks = (block for block in text.split("\n\n") if 'msgid "' in block)
    return [_message(block) for block in blocks if not block.lstrip().startswith("#~")]


def _message(block: str) -> Message:
    parts: dict[tuple[str, str], str] = {}
    message, key = Message(""), ("", "")
    for line in block.splitlines():
        if found := _LINE.match(line):
            key = (found[1], found[2] or "0") if found[1] else key
            parts[key] = parts.get(key, "") + _ESCAPED.sub(_unescaped, found[3])
        elif line.startswith("#. "):
            message.marks.add(line[3:])
        elif line.startswith("#: "):
            message.places |= set(line[3:].split())
        elif line.startswith("#,"):
            message.is_fuzzy = "fuzzy" in line
    message.id, message.context = parts[("msgid", "0")], parts.get(("msgctxt", "0"), "")
    message.plural = parts.get(("msgid_plural", "0"), "")
    message.translations = [said for (kind, _number), said in parts.items() if kind == "msgstr"]
    return message


def _unescaped(found: re.Match[str]) -> str:
    return _PLAIN.get(found[1], found[1])


def written(messages: Iterable[Message]) -> str:
    """Return the .po file of `messages`, in their order."""
    return "\n".join("\n".join(_lines(message)) + "\n" for message in messages)


def _lines(message: Message) -> Iterator[str]:
    yield from (f"#. {mark}" for mark in sorted(message.marks))
    yield from (f"#: {place}" for place in sorted(message.places))
    if message.is_fuzzy:
        yield "#, fuzzy"
    if message.context:
        yield f"msgctxt {_quoted(message.context)}"
    yield f"msgid {_quoted(message.id)}"
    if message.plural:
        yield f"msgid_plural {_quoted(message.plural)}"
        forms = message.translations or ["", ""]
        yield from (f"msgstr[{number}] {_quoted(said)}" for number, said in enumerate(forms))
    else:
        yield f"msgstr {_quoted(message.translations[0] if message.translations else '')}"


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(sign, sign) for sign in text) + '"'


def compiled(messages: Iterable[Message]) -> bytes:
    """Return the .mo file of the messages that are translated; the same messages give the same bytes."""
    pairs = sorted(_pair(message) for message in messages if message.is_translated and not message.is_fuzzy)
    ids, texts = [one for one, _ in pairs], [other for _, other in pairs]
    tables = 28
    start = tables + 16 * len(pairs)
    head = struct.pack("<7I", _MAGIC, 0, len(pairs), tables, tables + 8 * len(pairs), 0, start)
    places = list(_places([*ids, *texts], start))
    return head + b"".join(struct.pack("<2I", *place) for place in places) + b"\0".join([*ids, *texts, b""])


def _pair(message: Message) -> tuple[bytes, bytes]:
    name = f"{message.context}\4{message.id}" if message.context else message.id
    name += f"\0{message.plural}" if message.plural else ""
    return name.encode(), "\0".join(message.translations).encode()


def _places(texts: Iterable[bytes], start: int) -> Iterator[tuple[int, int]]:
    for text in texts:
        yield len(text), start
        start += len(text) + 1
