"""What a text gives away before anybody looks at what memory already knows.

Each rule answers with at most one signal; all are collected, the gate takes the strictest. What needs
the database (tombstones, conflicts, corroboration) is asked elsewhere. Source: design 3, "Admission".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from huqan_site.lib.json_strings import strings
from huqan_site.lib.text_safety import Finding, inspect_value
from memory.domain.credentials import secrets_in
from memory.domain.model_instructions import instructions_in
from memory.domain.normalise import normalised
from memory.domain.validity import BadTime, parse_time
from review.domain.gate import Outcome, Signal, Span

Arguments = Mapping[str, Any]

UNTRUSTED_SOURCES = frozenset({"web", "document", "third_party", "inference"})
HIDDEN = frozenset({"bidi_control", "zero_width", "tag_character", "control_character", "variation_selector"})
DISGUISED = frozenset({"mixed_script", "look_alike"})
# A page can point at this many places; a hostile text may have a hundred thousand.
MAX_SPANS = 100
_NAMED = 3


def examine(arguments: Arguments, *, risk: str, now: datetime) -> list[Signal]:
    """Return every signal that `arguments` of a memory write themselves give, in the order of the rules.

    `risk` is the proposal's ("low", "medium", "high"), `now` an aware time. No detail quotes a secret.
    """
    suspicious = inspect_value(arguments)
    return [
        *_expired(arguments, now),
        *_empty(arguments),
        *_credential(arguments),
        *_untrusted(arguments),
        *_instructions(arguments),
        *_hidden(suspicious),
        *_disguised(suspicious),
        *_unsourced(arguments, risk),
    ]


def _expired(arguments: Arguments, now: datetime) -> Iterator[Signal]:
    if arguments.get("expires_at") is None:
        return
    try:
        over = parse_time(arguments["expires_at"]) <= now
    except BadTime as bad:  # never read as "does not expire"
        yield Signal("invalid", Outcome.REJECT, bad.detail, (_whole(arguments, "expires_at"),))
        return
    if over:
        detail = "The content has already expired. Send a later expires_at, or none."
        yield Signal("expired_content", Outcome.REJECT, detail, (_whole(arguments, "expires_at"),))


def _empty(arguments: Arguments) -> Iterator[Signal]:
    for name in ("content", "text"):
        if name in arguments and not normalised(arguments[name]):
            detail = "There is nothing to remember: the text is empty or only white space. Send a sentence."
            yield Signal("invalid", Outcome.REJECT, detail, (_whole(arguments, name),))


def _credential(arguments: Arguments) -> Iterator[Signal]:
    spans = _spans(arguments, secrets_in)
    if spans:
        detail = f"The text holds {_listed(spans)}. Keep secrets in a vault and send where to find them."
        yield Signal("credential", Outcome.QUARANTINE, detail, spans)


def _untrusted(arguments: Arguments) -> Iterator[Signal]:
    kind = _source_kind(arguments)
    if arguments.get("untrusted"):
        detail = "It is marked as untrusted. Two people must vouch for it before it can be recalled."
        yield Signal("untrusted_source", Outcome.QUARANTINE, detail)
    elif kind in UNTRUSTED_SOURCES:
        detail = f"The source is of kind {kind}, which nobody here vouches for. Two people must do so first."
        yield Signal("untrusted_source", Outcome.QUARANTINE, detail)


def _instructions(arguments: Arguments) -> Iterator[Signal]:
    spans = _spans(arguments, instructions_in)
    if spans:
        detail = f"The text addresses a model; it {_listed(spans)}. Send only what is to be remembered."
        yield Signal("model_instructions", Outcome.QUARANTINE, detail, spans)


def _hidden(suspicious: Iterable[Finding]) -> Iterator[Signal]:
    findings = [finding for finding in suspicious if finding.code in HIDDEN]
    if findings:
        count = sum(finding.end - finding.start for finding in findings)
        counted = "1 character" if count == 1 else f"{count} characters"
        detail = f"{counted} cannot be seen: {_codes(findings)}. Send the text without."
        yield Signal("hidden_characters", Outcome.QUARANTINE, detail, _marked(findings))


def _disguised(suspicious: Iterable[Finding]) -> Iterator[Signal]:
    findings = [finding for finding in suspicious if finding.code in DISGUISED]
    if findings:
        places = "1 place" if len(findings) == 1 else f"{len(findings)} places"
        detail = f"Letters or signs pass for others in {places}: {_codes(findings)}. Write them as they are."
        yield Signal("look_alike", Outcome.QUARANTINE, detail, _marked(findings))


def _unsourced(arguments: Arguments, risk: str) -> Iterator[Signal]:
    if _source_kind(arguments):
        return
    if risk == "high":
        detail = "A write of high risk needs a source. Send provenance with at least its kind."
        yield Signal("no_provenance", Outcome.REJECT, detail)
    else:
        detail = "No source is given. If it is approved, every recall of it will be marked."
        yield Signal("no_provenance", Outcome.REVIEW, detail)


def _source_kind(arguments: Arguments) -> str:
    """The kind of the source in plain spelling ("Web " is the web too), empty where none is given."""
    kind = (arguments.get("provenance") or {}).get("kind") or ""
    return re.sub(r"[ -]", "_", normalised(kind))


def _spans(arguments: Arguments, detect: Callable[[str], Iterable[Any]]) -> tuple[Span, ...]:
    """What `detect` finds (kind, start, end) in every string and key, at most MAX_SPANS of it."""
    found = (
        Span(pointer, at.start, at.end, at.kind)
        for pointer, text in strings(arguments)
        for at in detect(text)
    )
    return tuple(found)[:MAX_SPANS]


def _marked(findings: Iterable[Finding]) -> tuple[Span, ...]:
    return tuple(Span(at.pointer, at.start, at.end, at.code) for at in findings)[:MAX_SPANS]


def _whole(arguments: Arguments, name: str) -> Span:
    return Span(f"/{name}", 0, len(arguments[name]), name)


def _listed(spans: tuple[Span, ...]) -> str:
    """The kinds with their places, the first few of them: "GitHub token at /content, 10 to 50"."""
    named = "; ".join(f"{span.kind} at {span.pointer}, {span.start} to {span.end}" for span in spans[:_NAMED])
    return named + (f"; and {len(spans) - _NAMED} more" if len(spans) > _NAMED else "")


def _codes(findings: Iterable[Finding]) -> str:
    return ", ".join(sorted({finding.code.replace("_", " ") for finding in findings}))
