"""Bring the Turkish catalogue up to date with the source, without any tool of gettext.

    ./run words

Writes django.po (new texts without a translation, those that are gone left out) and django.mo, and lists what is
still to be translated; it ends with 1 while something is.
"""

from __future__ import annotations

import os
import sys

import django

from huqan_site.lib.catalogue import Message, compiled, read, written
from tests.support.strings import ROOT, messages

LOCALE = ROOT / "huqan_site" / "locale" / "tr" / "LC_MESSAGES"
PO, MO = LOCALE / "django.po", LOCALE / "django.mo"
HEADERS = (
    "Project-Id-Version: huqan",
    "Language: tr",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=UTF-8",
    "Content-Transfer-Encoding: 8bit",
    "Plural-Forms: nplurals=2; plural=(n > 1);",
)
HEADER = Message("", translations=["".join(f"{line}\n" for line in HEADERS)])


def kept() -> list[Message]:
    """Return the catalogue as it is checked in, without its header."""
    return [message for message in read(PO.read_text(encoding="utf-8")) if message.id] if PO.exists() else []


def merged() -> list[Message]:
    """Return every text of the source with the translation that it has, in the order of places and texts."""
    known = {message.key: message for message in kept()}
    found = sorted(messages(), key=lambda message: (min(message.places), message.id))
    for message in found:
        before = known.get(message.key)
        if before and bool(before.plural) == bool(message.plural):
            message.translations, message.is_fuzzy = before.translations, before.is_fuzzy
    return found


def main() -> int:
    found = merged()
    PO.write_text(written([HEADER, *found]), encoding="utf-8")
    MO.write_bytes(compiled([HEADER, *found]))
    missing = [message for message in found if not message.is_translated or message.is_fuzzy]
    for message in missing:
        print(f"{min(message.places)}: {message.id!r}")
    print(f"{len(found)} texts, {len(missing)} to be translated.")
    return 1 if missing else 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "huqan_site.settings")
    django.setup()
    sys.exit(main())
