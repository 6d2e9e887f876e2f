"""How an approved proposal of a kind takes effect.

Review knows only the shape. An app that carries out tools of its own registers them by a dotted path in
`settings.HUQAN_EFFECTS`; every other tool is an outside one: approved here, redeemed and run elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from review.access.actors import Actor
from review.access.models import Agent, Workspace
from review.audit.log import ObjectRef
from review.domain.gate import Signal
from review.domain.policy import FLOOR
from review.models import Proposal


@dataclass(frozen=True)
class Submission:
    """What an effect may look at when it says what stands against a proposal."""

    workspace: Workspace
    agent: Agent | None
    arguments: Mapping[str, Any]
    risk: str
    now: datetime
    proposal: UUID | None = None


class PreviewRow(NamedTuple):
    """One line of "What approving will do": the thing, how it stands, how it will stand.

    `what_id` and `what_url` are its id and its page, `quote` is the text it is about; empty where there is none.
    """

    what: str
    now: str
    after: str
    what_id: str = ""
    what_url: str = ""
    quote: str = ""


class Version(NamedTuple):
    """A thing as a revision was made for it: when that was submitted, and what the log said of its state by then."""

    at: datetime
    state: Mapping[str, Any]


class ThreeWay(NamedTuple):
    """One line of what became of a thing: when its change was proposed, as it is now, as the change would leave it."""

    what: str
    then: str
    now: str
    after: str


class WayBack(NamedTuple):
    """How what was carried out is undone: what the page says of it, the page to begin it on, and its link."""

    title: str
    sentence: str
    url: str
    label: str


class Effect(Protocol):
    """What an inner tool does. Every method runs in the caller's transaction and opens none."""

    schema: Mapping[str, Any]

    def signals(self, submission: Submission) -> list[Signal]:
        """Return all that the gate has to know; reads the database, writes nothing."""

    def hold(
        self, proposal: Proposal, arguments: Mapping[str, Any], signals: Sequence[Signal], actor: Actor
    ) -> None:
        """Store what is quarantined, with its text, out of every agent's reach."""

    def let_go(self, proposal: Proposal, actor: Actor) -> None:
        """Retire what is held for `proposal`: it was withdrawn, or revised into something that need not be held."""

    def apply(
        self, proposal: Proposal, arguments: Mapping[str, Any], actor: Actor, *, released: bool
    ) -> dict[str, Any]:
        """Carry it out and return the outcome: `{result, admission, record, facts}`."""

    def discard(
        self, proposal: Proposal, arguments: Mapping[str, Any], actor: Actor, reason: str, *, tombstone: bool
    ) -> None:
        """End a rejected proposal: what is held becomes discarded; the value is rejected for good if `tombstone`."""

    def tellable(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments as a line of a list may tell them: a secret in them is said in words."""

    def preview(self, proposal: Proposal, arguments: Mapping[str, Any]) -> list[PreviewRow]:
        """Return what `apply` would do now, for the page."""

    def base(self, proposal: Proposal, arguments: Mapping[str, Any]) -> str | None:
        """Return the canonical text that a diff starts from, or None where nothing stands yet."""

    def target(self, arguments: Mapping[str, Any]) -> ObjectRef | None:
        """Return the thing that it would change, as the log names it; None where it only adds.

        It counts for that thing as it stood when it was submitted: once it changed, approving is stale.
        """

    def three_way(
        self, proposal: Proposal, arguments: Mapping[str, Any], then: Version
    ) -> Iterable[ThreeWay]:
        """Return the three sides of an open change whose `target` is not what it was `then`; nothing without one."""

    def way_back(self, proposal: Proposal) -> WayBack | None:
        """Return how a person begins to undo what was carried out for `proposal`, if that can be undone now."""

    def origins(self, workspace: UUID, arguments: Mapping[str, Any]) -> list[UUID]:
        """Return the proposals that brought what this lets out again, or decides between.

        Nobody in the conflict set of one of them can approve this either (I7).
        """


class NeverHeld:
    """What the effects share of which nothing is ever held, and whose rejection leaves nothing behind."""

    def hold(
        self, proposal: Proposal, arguments: Mapping[str, Any], signals: Sequence[Signal], actor: Actor
    ) -> None:
        """No signal of it holds it."""

    def let_go(self, proposal: Proposal, actor: Actor) -> None:
        """Nothing was held."""

    def discard(
        self, proposal: Proposal, arguments: Mapping[str, Any], actor: Actor, reason: str, *, tombstone: bool
    ) -> None:
        """What stands stays as it is; it can be proposed again."""

    def three_way(
        self, proposal: Proposal, arguments: Mapping[str, Any], then: Version
    ) -> Iterable[ThreeWay]:
        """Its page says what happened; nothing more is to be compared."""
        return ()

    def way_back(self, proposal: Proposal) -> WayBack | None:
        """Another proposal, begun where this one was."""
        return None

    def origins(self, workspace: UUID, arguments: Mapping[str, Any]) -> list[UUID]:
        """It lets nothing out that people had decided to keep in."""
        return []


def told(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what lists and titles may tell of a call of `tool`; the page of a call shows the whole."""
    effect = effect_of(tool)
    return effect.tellable(arguments) if effect else arguments


@cache
def effect_of(tool: str) -> Effect | None:
    """Return the effect that carries out `tool`, or None for an outside tool."""
    path = settings.HUQAN_EFFECTS.get(tool)
    return import_string(path)() if path else None


def inner_name(tool: str) -> str:
    """Return the tool's own spelling: inner tools match casefolded, outside ones stay as they were sent."""
    folded = tool.casefold()
    return folded if folded in settings.HUQAN_EFFECTS or folded in FLOOR else tool
