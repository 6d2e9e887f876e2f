"""What people and agents do with proposals, through the real services, in one line each."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from review.access.actors import AgentActor, PersonActor
from review.models import Proposal
from review.services import nonce
from review.services.decide import Ballot, Decided, decide
from review.services.propose import Draft, propose

MAIL = {"to": "o.demir@kuzey.example", "subject": "Contract draft", "amount": 18400}


def call(
    agent: AgentActor, tool: str = "payments.refund", arguments: dict[str, Any] | None = None, **more: Any
) -> Proposal:
    """`agent` proposes a call of `tool`; without another one, a refund that one person must approve."""
    return propose(
        Draft(tool, {"order": "20817"} if arguments is None else arguments, **more), by=agent
    ).proposal


def mail(agent: AgentActor, **more: Any) -> Proposal:
    """`agent` proposes a mail: high risk, two people."""
    return call(agent, "mail.send", MAIL, **more)


def ballot(person: PersonActor, proposal: Proposal, verdict: str = "approve", **changes: Any) -> Ballot:
    """Fill in the form that `person` is shown of `proposal` now; `changes` are what he sends instead."""
    shown = nonce.Shown(person.person.id, proposal.id, proposal.binding, base="reviewed:none", page="0" * 64)
    fields: dict[str, Any] = {
        "verdict": verdict,
        "revision": proposal.revision,
        "binding": proposal.binding,
        "nonce": nonce.issue(shown, now=timezone.now()),
        "reason": "Checked against the ticket.",
    }
    return Ballot(**{**fields, **changes})


def vote(person: PersonActor, proposal: Proposal, verdict: str = "approve", **changes: Any) -> Decided:
    """`person` opens `proposal` as it is now, and decides."""
    proposal.refresh_from_db()
    return decide(proposal.id, by=person, ballot=ballot(person, proposal, verdict, **changes))


def at(moment: datetime) -> Any:
    """Travel to `moment`."""
    import time_machine

    return time_machine.travel(moment, tick=False)
