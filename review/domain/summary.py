"""Our own words for what a call would do: one line for lists, and what the asking sentence says.

Address, amount and id come first, since a list may end the line with an ellipsis. The arguments themselves
are never shortened, and nothing that the agent wrote as explanation is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from string import Formatter
from typing import Any, NamedTuple

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.text_safety import Segment, segments

MAX_LINE = 160
MAX_TEXT = 120

_NAMING = (
    "to",
    "account",
    "amount",
    "order",
    "record",
    "id",
    "name",
    "url",
    "path",
    "command",
    "cmd",
    "query",
)


class Asking(NamedTuple):
    """The middle of "scout, owned by bob, asks to {verb} {what}."; the page sets `what` in bold."""

    verb: str
    what: str


class _Telling(NamedTuple):
    """How a call is told: templates over the texts of its arguments, each of which has to be there."""

    line: str
    verb: str
    what: str

    def fits(self, texts: Mapping[str, str]) -> bool:
        return all(name in texts for _, name, _, _ in Formatter().parse(self.line + self.what) if name)


_TELLINGS: Mapping[str, tuple[_Telling, ...]] = {
    "mail.send": (
        _Telling("Mail {to}: “{subject}”", "mail", "{to}"),
        _Telling("Mail {to}", "mail", "{to}"),
    ),
    "payments.refund": (
        _Telling(
            "Refund {amount} {currency} on order {order}", "refund", "{amount} {currency} on order {order}"
        ),
        _Telling("Refund {amount} on order {order}", "refund", "{amount} on order {order}"),
    ),
    "payments.payout": (
        _Telling("Pay out {amount} {currency} to {account}", "pay out", "{amount} {currency} to {account}"),
        _Telling("Pay out {amount} to {account}", "pay out", "{amount} to {account}"),
    ),
    "memory.write": (_Telling("Remember: {content}", "remember", "“{content}”"),),
    "memory.supersede": (
        _Telling("Replace: {content}", "replace what is remembered about", "{subject}"),
        _Telling("Replace: {content}", "replace the memory", "{record}"),
    ),
    "memory.learn": (_Telling("Learn: {text}", "learn the facts of", "“{text}”"),),
    "memory.retract": (_Telling("Retract {record}: {reason}", "retract the memory", "{record}"),),
    "memory.archive": (_Telling("Archive {record}", "archive the memory", "{record}"),),
    "memory.restore": (_Telling("Restore {record}", "restore the memory", "{record}"),),
    "memory.erase": (
        _Telling("Erase {record}", "erase the memory", "{record}"),
        _Telling("Erase all that carries one label", "erase all that carries the label", "{about}"),
    ),
    "memory.resolve": (
        _Telling("Resolve {conflict}: {answer}", "resolve the conflict", "{conflict} ({answer})"),
    ),
    "memory.release": (_Telling("Release or discard {record}", "release or discard the memory", "{record}"),),
    "tombstone.lift": (_Telling("Lift {tombstone}", "lift the tombstone", "{tombstone}"),),
    "policy.change": (_Telling("Change the policy", "change", "the policy"),),
    "facts.optimise": (_Telling("Tidy the facts", "tidy", "the facts"),),
}


def summarise(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return one line, at most 160 characters, that says what a call of `tool` would do."""
    texts = _texts(arguments)
    telling = _telling(tool, texts)
    if telling:
        return _shortened(telling.line.format(**texts), MAX_LINE)
    named = _named(texts)
    return _shortened(f"Call {_sized(tool, arguments)}{': ' + named if named else ''}", MAX_LINE)


def asking(tool: str, arguments: Mapping[str, Any]) -> Asking:
    """Return what the proposal's page says that its agent asks to do."""
    texts = _texts(arguments)
    telling = _telling(tool, texts)
    if telling:
        return Asking(telling.verb, telling.what.format(**texts))
    return Asking("call", _sized(tool, arguments))


def _telling(tool: str, texts: Mapping[str, str]) -> _Telling | None:
    return next((telling for telling in _TELLINGS.get(tool.casefold(), ()) if telling.fits(texts)), None)


def _named(texts: Mapping[str, str]) -> str:
    """The argument that most likely says on what: `id 42`."""
    return next((f"{name} {texts[name]}" for name in _NAMING if name in texts), "")


def _sized(tool: str, arguments: Mapping[str, Any]) -> str:
    count = sum(map(_places, arguments.values()))
    if count == 0:
        return f"{tool} without values"
    return f"{tool} with {count} value{'' if count == 1 else 's'}"


def _places(value: Any) -> int:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return sum(map(_places, parts)) or 1


def _texts(arguments: Mapping[str, Any]) -> dict[str, str]:
    """The arguments that can be told in a line, by name: texts, numbers, and lists by their first item."""
    told = ((name, _text(value)) for name, value in arguments.items())
    return {name: text for name, text in told if text}


def _text(value: Any) -> str:
    if isinstance(value, list) and value:
        first = _text(value[0])
        return first if len(value) == 1 or not first else f"{first} and {len(value) - 1} more"
    if isinstance(value, str):
        return _shortened(_visible(value), MAX_TEXT)
    return canonical(value) if isinstance(value, int | float) else ""


def _visible(text: str) -> str:
    """The text on one line, what hides in it as code points. Only as much is read as a line could show."""
    shown = "".join(map(_piece, segments(text[: 2 * MAX_TEXT])))
    return " ".join(shown.split()) + ("…" if len(text) > 2 * MAX_TEXT else "")


def _piece(segment: Segment) -> str:
    if segment.kind == "text":
        return segment.text
    if segment.kind != "code_point":
        return " "
    runs = ((character, len(list(run))) for character, run in groupby(segment.text))
    return "".join(f"[U+{ord(one):04X}{f' ×{count}' if count > 1 else ''}]" for one, count in runs)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
