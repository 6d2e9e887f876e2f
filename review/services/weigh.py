"""Holding a call against policy and gate, for a first submission and for each revision alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from huqan_site.lib.problems import FieldError, Refusal
from review.access.models import Agent, Workspace
from review.domain import schemas
from review.domain.binding import Kind, kind_of
from review.domain.gate import Outcome, Signal, strictest
from review.domain.policy import STARTED_BY_PEOPLE, Route, Rule, tool_errors, validate_arguments
from review.domain.refusals import (
    Blocked,
    ExpiredContent,
    Inactive,
    Invalid,
    NoProvenance,
    NotFound,
    Tombstoned,
)
from review.effects import Effect, Submission, effect_of
from review.queries.policies import resolved
from review.queries.versions import version_for

RELEASE = "memory.release"
BLOCKED = "The policy of this workspace blocks this tool. A manager can propose another rule."
STARTED_BY_PERSON = "A person started this, so others decide it."
UNAVAILABLE = "The console does not carry out this tool. Nobody else may, so it cannot be proposed."
REFUSALS: Mapping[str, type[Refusal]] = {
    "tombstoned": Tombstoned,
    "expired_content": ExpiredContent,
    "no_provenance": NoProvenance,
    "inactive": Inactive,
    "not_found": NotFound,
}


@dataclass(frozen=True)
class Weighed:
    """What policy and gate say of a call. `deciding` is the rule whose quorum counts: the release's while held.

    `version` is that of the thing it would change, as it stood then; None where it only adds. `origins` are the
    proposals that brought what it lets out again or decides between; none for most.
    """

    rule: Rule
    deciding: Rule
    outcome: Outcome
    signals: tuple[Signal, ...]
    version: int | None = None
    origins: tuple[UUID, ...] = ()

    @property
    def held(self) -> bool:
        return self.outcome is Outcome.QUARANTINE

    def for_people(self, why: str) -> Weighed:
        """Return the same, with what could go through left to people, and `why`."""
        if self.outcome is not Outcome.ALLOW:
            return self
        signals = (*self.signals, Signal("policy_review", Outcome.REVIEW, why))
        return replace(self, outcome=Outcome.REVIEW, signals=signals)

    def gate(self) -> dict[str, Any]:
        """Return what is stored and shown of the gate."""
        version = {} if self.version is None else {"version": self.version}
        origins = {"origins": [str(origin) for origin in self.origins]} if self.origins else {}
        return {
            "outcome": str(self.outcome),
            "signals": [signal.members() for signal in self.signals],
            **version,
            **origins,
        }


def weigh(
    tool: str, arguments: Mapping[str, Any], *, agent: Agent, now: datetime, proposal: UUID | None = None
) -> Weighed:
    """Return what policy and gate say of `agent` calling `tool`.

    Raises: Invalid, Blocked, Tombstoned, ExpiredContent, NoProvenance, Inactive, NotFound.
    """
    rule = _rule(tool, agent)
    return _weighed(tool, rule, Submission(agent.workspace, agent, arguments, str(rule.risk), now, proposal))


def weigh_own(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    workspace: Workspace,
    now: datetime,
    proposal: UUID | None = None,
) -> Weighed:
    """Return what policy and gate say of a person who starts `tool`: what nobody need review, others still decide.

    Raises: Invalid, Blocked, Tombstoned, Inactive, NotFound.
    """
    rule = resolved(workspace.id, tool)
    if rule.route is Route.BLOCK:
        raise Blocked(BLOCKED)
    submission = Submission(workspace, None, arguments, str(rule.risk), now, proposal)
    return _weighed(tool, rule, submission).for_people(STARTED_BY_PERSON)


def _weighed(tool: str, rule: Rule, submission: Submission) -> Weighed:
    effect = effect_of(tool)
    _check_arguments(effect, rule, submission.arguments)
    signals = _signals(effect, rule, submission)
    outcome = strictest(signals)
    if outcome is Outcome.REJECT:
        raise refusal_of(signals)
    deciding = resolved(submission.workspace.id, RELEASE) if outcome is Outcome.QUARANTINE else rule
    return Weighed(
        rule,
        deciding,
        outcome,
        tuple(signals),
        version=version_for(tool, submission.arguments),
        origins=tuple(effect.origins(submission.workspace.id, submission.arguments)) if effect else (),
    )


def refusal_of(signals: list[Signal]) -> Refusal:
    """Return the refusal that the first rejecting signal stands for; `tombstoned` wins over all others."""
    rejecting = [signal for signal in signals if signal.outcome is Outcome.REJECT]
    worst = min(rejecting, key=lambda signal: signal.code != "tombstoned")
    kind = REFUSALS.get(worst.code)
    if kind is None:
        at = worst.spans[0].pointer if worst.spans else ""
        return Invalid(errors=[FieldError(f"/arguments{at}", worst.code, worst.detail)])
    refusal = kind(worst.detail)
    refusal.extra.update(worst.names)
    return refusal


def _rule(tool: str, agent: Agent) -> Rule:
    if errors := tool_errors(tool):
        raise Invalid(errors=errors)
    rule = resolved(agent.workspace_id, tool)
    if tool in STARTED_BY_PEOPLE or rule.route is Route.BLOCK:
        raise Blocked
    if kind_of(tool) is not Kind.TOOL_CALL and effect_of(tool) is None:
        raise Invalid(errors=[FieldError("/tool", "unavailable", UNAVAILABLE)])
    return rule


def _check_arguments(effect: Effect | None, rule: Rule, arguments: Mapping[str, Any]) -> None:
    own = schemas.errors(effect.schema, arguments, "/arguments") if effect else []
    if errors := own or validate_arguments(rule, arguments):
        raise Invalid(errors=errors)


def _signals(effect: Effect | None, rule: Rule, submission: Submission) -> list[Signal]:
    found = effect.signals(submission) if effect else []
    if rule.route is Route.REVIEW:
        found.append(
            Signal(
                "policy_review", Outcome.REVIEW, "The policy of this workspace has people review this tool."
            )
        )
    return found
