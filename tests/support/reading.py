"""What a person reads on a page: its texts, without what is code, somebody else's words or hidden in attributes."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "path", "rect", "source", "use", "wbr"}
NOT_READ = {"script", "style", "code", "pre", "kbd", "samp", "textarea"}
READ_ALOUD = ("placeholder", "aria-label", "title", "alt", "data-done")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        quiet = bool(self._open and self._open[-1][1]) or tag in NOT_READ or named.get("lang") == "en"
        quiet = quiet and tag != "html"
        if not quiet:
            self.texts += [named[name] or "" for name in READ_ALOUD if named.get(name)]
        if tag not in VOID:
            self._open.append((tag, quiet))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not (self._open and self._open[-1][1]):
            self.texts.append(data)


def texts(html: str) -> Iterator[str]:
    """Return the texts of a page, white space collapsed, in their order."""
    reader = _Reader()
    reader.feed(html)
    for text in reader.texts:
        if told := " ".join(text.split()):
            yield told
