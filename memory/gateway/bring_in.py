"""Importing: every line of a file becomes a proposal of whoever imports it, which others decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from huqan_site.lib.canonical_json import JSON, canonical
from huqan_site.lib.problems import Refusal
from memory.domain.arguments import WRITE
from memory.domain.lines import Line
from memory.gateway.sources import NotHereYet, Told
from memory.gateway.values import keys_of
from memory.queries import admission
from review.access.actors import PersonActor
from review.access.models import Workspace
from review.access.services.rules import require_manager
from review.audit import log
from review.audit.actions import Action
from review.audit.refusals import Unavailable
from review.services.propose_own import begun_before, propose_own
from review.services.refuse import record_refused
from review.services.revisions import digest_of
from review.services.settle import settle
from review.services.weigh import weigh_own

BATCH = 100  # lines in one transaction: others get their turn between two


class Fate(StrEnum):
    PROPOSED = "proposed"
    HELD = "held"
    KNOWN = "known"
    REFUSED = "refused"
    WAITING = "waiting"


class File(NamedTuple):
    """The file that is imported: its name, and SHA-256 of its bytes in hexadecimal."""

    name: str
    digest: str


class Became(NamedTuple):
    """What became of a line: its number, the proposal that it made or made before, or why it was refused.

    `rests_on` is the line for which one has to wait.
    """

    line: int
    fate: Fate
    proposal: UUID | None = None
    refusal: Refusal | None = None
    rests_on: int | None = None


def bring_in(
    lines: Sequence[Line], *, into: Workspace, by: PersonActor, file: File
) -> Iterator[list[Became]]:
    """Propose what `lines` ask to remember, and yield what became of them, a batch after each commit.

    `by` manages the workspace. He is the author of every proposal, so others decide, whatever the policy lets agents
    write by themselves. A line that stands here already changes nothing; one that the gate refuses is recorded as
    refused, and the others go on. One that rests on another line waits until that is remembered here: then the same
    file brings it in, with the id that its source has here.

    Raises: NotFound, NotManager, Unavailable. Each refused attempt is recorded.
    """

    def refused(refusal: Refusal) -> None:
        record_refused(refusal, tool=WRITE, text=file.digest, by=by, workspace=into.id)

    told = Told(lines)
    for start in range(0, len(lines), BATCH):
        batch = lines[start : start + BATCH]
        yield settle(partial(_bring_in, batch, told, into, by, file), refused=refused)


def _bring_in(
    batch: Sequence[Line], told: Told, into: Workspace, by: PersonActor, file: File
) -> list[Became]:
    now = log.take_turn()  # what is known, and who manages, stays so until the end
    require_manager(by, into.id, now)
    found = [_at_home(line, told, into) for line in batch]
    digests = [_digest(one) for one in found if isinstance(one, Line)]
    begun = begun_before(WRITE, digests, workspace=into, now=now)
    became = [one if isinstance(one, Became) else _line(one, begun, into, by, file, now) for one in found]
    _note(became, into, by, file)
    return became


def _at_home(line: Line, told: Told, into: Workspace) -> Line | Became:
    try:
        return told.at_home(line, into.id)
    except NotHereYet as source:
        return Became(line.number, Fate.WAITING, rests_on=source.line)


def _line(
    line: Line, begun: dict[str, UUID], into: Workspace, by: PersonActor, file: File, now: datetime
) -> Became:
    """Bring in one line; when it is refused, undo what it wrote, record that, and let the others go on."""
    try:
        with transaction.atomic():
            return _brought(line, begun, into, by, file, now)
    except Unavailable:
        raise
    except Refusal as refusal:
        record_refused(refusal, tool=WRITE, text=canonical(dict(line.arguments)), by=by, workspace=into.id)
        return Became(line.number, Fate.REFUSED, refusal=refusal)


def _brought(
    line: Line, begun: dict[str, UUID], into: Workspace, by: PersonActor, file: File, now: datetime
) -> Became:
    weighed = weigh_own(WRITE, line.arguments, workspace=into, now=now)
    if known := begun.get(_digest(line)) or _said_here(line, into):
        return Became(line.number, Fate.KNOWN, known)
    why = f"Line {line.number} of {file.name}{', disputed where it comes from' if line.disputed else ''}"
    run = f"import-{file.digest[:16]}"
    made = propose_own(WRITE, line.arguments, weighed, workspace=into, by=by, reason=why, now=now, run_id=run)
    begun[_digest(line)] = made.id
    return Became(line.number, Fate.HELD if weighed.held else Fate.PROPOSED, made.id)


def _said_here(line: Line, into: Workspace) -> UUID | None:
    """The proposal behind a record that says this already, from the very same source."""
    keys = keys_of(into.id, line.arguments["content"])
    return admission.said_by(into.id, keys, line.arguments.get("provenance"))


def _digest(line: Line) -> str:
    return digest_of(canonical(dict(line.arguments)))


def _note(became: Sequence[Became], into: Workspace, by: PersonActor, file: File) -> None:
    """Record the batch, unless nothing came of it."""
    fates = Counter(one.fate for one in became)
    if fates[Fate.KNOWN] + fates[Fate.WAITING] == len(became):
        return
    counted: dict[str, JSON] = {fate.value: fates[fate] for fate in Fate}
    log.record(
        Action.MEMORY_IMPORTED,
        actor=by.audit(),
        workspace=into.id,
        object=log.ObjectRef("import", file.digest),
        after={"first": became[0].line, "last": became[-1].line, **counted},
        private={"file": file.name},
    )
