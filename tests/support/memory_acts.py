"""What people and agents do with memory, through the real services, in one line each."""

from __future__ import annotations

import json
from typing import Any

from django.utils import timezone

from memory.gateway.ask import ask
from memory.models import MemoryRecord
from memory.queries.recall import Question, recall
from memory.queries.verdicts import Moment
from memory.search import Mode
from review.access.actors import AgentActor, PersonActor
from review.models import Proposal
from review.services import nonce
from review.services.decide import Ballot, decide
from review.services.propose import Draft, propose
from review.services.revise import revise

TICKET = {"kind": "user", "ref": "ticket-1"}
WEB = {"kind": "web", "ref": "https://page.example/a"}


def remember(agent: AgentActor, content: str, **arguments: Any) -> Proposal:
    """`agent` asks that `content` be remembered. Without another one, the source is a ticket."""
    arguments = {"content": content, "provenance": TICKET, **arguments}
    return propose(Draft("memory.write", arguments), by=agent).proposal


def doubtful(agent: AgentActor, content: str, **arguments: Any) -> Proposal:
    """`agent` brings something from the web: it is held."""
    return remember(agent, content, provenance=WEB, **arguments)


def reword(agent: AgentActor, proposal: Proposal, content: str, **arguments: Any) -> Proposal:
    """`agent` revises its proposal."""
    arguments = {"content": content, "provenance": TICKET, **arguments}
    return revise(proposal.id, by=agent, replaces=proposal.revision, arguments=arguments)


def answer(
    person: PersonActor,
    proposal: Proposal,
    verdict: str,
    *,
    tombstone: bool = False,
    reason: str = "Because.",
) -> Proposal:
    """`person` decides on what the proposal says now."""
    proposal.refresh_from_db()
    shown = nonce.Shown(person.person.id, proposal.id, proposal.binding, base="reviewed:none", page="0" * 64)
    ballot = Ballot(
        verdict=verdict,
        revision=proposal.revision,
        binding=proposal.binding,
        nonce=nonce.issue(shown, now=timezone.now()),
        reason=reason,
        tombstone=tombstone,
    )
    decided = decide(proposal.id, by=person, ballot=ballot).proposal
    decided.refresh_from_db()
    return decided


def approve(proposal: Proposal, *people: PersonActor) -> Proposal:
    """Each of `people` approves, one after the other."""
    for person in people:
        proposal = answer(person, proposal, "approve")
    return proposal


def reject(proposal: Proposal, person: PersonActor, *, tombstone: bool = False) -> Proposal:
    return answer(person, proposal, "reject", tombstone=tombstone)


def known(agent: AgentActor, content: str, by: PersonActor, **arguments: Any) -> MemoryRecord:
    """A trusted record that says `content`: `agent` proposed it, `by` approved it."""
    proposal = approve(remember(agent, content, **arguments), by)
    assert proposal.outcome is not None
    return MemoryRecord.objects.get(id=proposal.outcome["record"])


def recalled(agent: AgentActor, query: str = "", mode: Mode = Mode.RECENCY, **moment: Any) -> list[str]:
    """The contents that `agent` gets for `query`; everything it can get without one."""
    question = Question(query, mode, limit=100)
    found = recall(agent.agent.workspace_id, question, Moment(timezone.now(), **moment))
    return [hit.judged.record.content for hit in found.hits]


def arguments_of(proposal: Proposal) -> dict[str, Any]:
    """The arguments of the current revision."""
    read: dict[str, Any] = json.loads(proposal.revisions.get(number=proposal.revision).arguments)
    return read


def retracting(agent: AgentActor, record: MemoryRecord, reason: str = "It moved.") -> Proposal:
    """`agent` asks that `record` be retracted."""
    return propose(Draft("memory.retract", {"record": str(record.id), "reason": reason}), by=agent).proposal


def asked(
    person: PersonActor, tool: str, record: MemoryRecord, reason: str = "It moved.", **terms: Any
) -> Proposal:
    """`person` begins a change of `record` from its page."""
    return ask(tool, record.id, by=person, reason=reason, terms=terms)
