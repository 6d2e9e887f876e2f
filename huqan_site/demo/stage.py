"""How the demo's people and agents act: through the same services as everybody."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from huqan_site.demo.cast import Cast
from huqan_site.lib.canonical_json import digest
from review.access.actors import AgentActor
from review.models import Permit, Proposal
from review.queries.cases import current_revisions
from review.queries.policies import in_force
from review.queries.policy_changes import changes
from review.queries.visible import of_agent
from review.services import nonce
from review.services.decide import Ballot, decide
from review.services.issue_permit import redeem
from review.services.propose import Draft, propose
from review.services.propose_policy import Draft as PolicyDraft
from review.services.propose_policy import propose_policy
from review.services.report_outcome import report
from review.services.revise import revise
from review.services.spend_permit import spend
from review.services.withdraw import withdraw


@dataclass
class Turn:
    """A proposal as it goes through the hands of the cast: who made it, and the permit once there is one."""

    cast: Cast
    agent: AgentActor
    proposal: Proposal
    permit: Permit | None = None

    def arguments(self) -> str:
        """The canonical text as it stands now."""
        self.proposal = of_agent(self.agent.agent, self.proposal.id)
        return current_revisions([self.proposal])[self.proposal.id].arguments


Step = Callable[[Turn], None]


@dataclass(frozen=True)
class Scene:
    """What an agent proposes, and what happens to it. `key` makes it one proposal however often it is told."""

    key: str
    agent: str
    tool: str
    arguments: dict[str, Any]
    steps: tuple[Step, ...] = ()
    rationale: str = ""
    evidence: tuple[dict[str, str], ...] = ()
    run_id: str | None = None
    expires_in: int | None = None

    def play(self, cast: Cast) -> None:
        """Propose, and take the steps unless this was told before."""
        agent = cast.agents[self.agent]
        proposed = propose(self._draft(), by=agent)
        if proposed.replayed:
            return
        turn = Turn(cast, agent, proposed.proposal)
        for step in self.steps:
            step(turn)

    def _draft(self) -> Draft:
        return Draft(
            tool=self.tool,
            arguments=self.arguments,
            rationale=self.rationale,
            evidence=list(self.evidence),
            run_id=self.run_id,
            expires_in=self.expires_in,
            body_digest=digest(self.arguments),
            key=f"demo-{self.key}",
        )


@dataclass(frozen=True)
class PolicyScene:
    """A rule that a manager wants first in the policy of a workspace; told once, whatever became of it."""

    manager: str
    workspace: str
    rule: dict[str, Any]
    reason: str

    def play(self, cast: Cast) -> None:
        """Compare and propose it, unless a change of this policy was proposed before."""
        workspace = cast.workspaces[self.workspace]
        if changes(workspace.id).exists():
            return
        running = in_force(workspace.id)
        document = {**running.document, "rules": [self.rule, *running.document["rules"]]}
        draft = PolicyDraft(document, running.version, self.reason, compared=digest(document))
        propose_policy(workspace, draft, by=cast.people[self.manager])


def approves(name: str, reason: str = "", *, confirm: str = "") -> Step:
    return _decides(name, verdict="approve", reason=reason, confirm=confirm)


def rejects(name: str, reason: str) -> Step:
    return _decides(name, verdict="reject", reason=reason)


def asks_for_changes(name: str, reason: str, *fields: str) -> Step:
    return _decides(name, verdict="request_changes", reason=reason, fields=fields)


def revises(**changed: Any) -> Step:
    """The agent sends its proposal again, with `changed` arguments."""

    def step(turn: Turn) -> None:
        arguments = {**json.loads(turn.arguments()), **changed}
        revise(turn.proposal.id, by=turn.agent, replaces=turn.proposal.revision, arguments=arguments)

    return step


def withdraws(reason: str) -> Step:
    def step(turn: Turn) -> None:
        withdraw(turn.proposal.id, by=turn.agent, reason=reason)

    return step


def redeems(agent: str) -> Step:
    """Fetch the permit, and spend it on exactly what was approved."""

    def step(turn: Turn) -> None:
        by, arguments = turn.cast.agents[agent], json.loads(turn.arguments())
        turn.permit = redeem(turn.proposal.id, by=by, arguments=arguments)
        spend(turn.permit.token, arguments, by=by)

    return step


def reports(agent: str, result: str, detail: str | None = None) -> Step:
    def step(turn: Turn) -> None:
        assert turn.permit is not None
        by = turn.cast.agents[agent]
        report(turn.proposal.id, by=by, result=result, jti=turn.permit.jti, detail=detail)

    return step


def _decides(name: str, **filled: Any) -> Step:
    """The person sends the decision form, filled in like this, for the bytes that stand there."""

    def step(turn: Turn) -> None:
        person, text, now = turn.cast.people[name], turn.arguments(), timezone.now()
        shown = nonce.Shown(
            person=person.person.id,
            proposal=turn.proposal.id,
            binding=turn.proposal.binding,
            base=nonce.REVIEWED,
            page=hashlib.sha256(text.encode()).hexdigest(),
        )
        ballot = Ballot(
            revision=turn.proposal.revision,
            binding=turn.proposal.binding,
            nonce=nonce.issue(shown, now=now),
            factor_at=now,
            **filled,
        )
        decide(turn.proposal.id, by=person, ballot=ballot)

    return step
