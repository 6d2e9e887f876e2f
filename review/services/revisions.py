"""Laying down one revision of a proposal, with all that its binding covers and who may not decide it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from huqan_site.lib.ids import new_id
from review.access.models import Agent, AgentToken, Person, Workspace
from review.audit.statements import insert
from review.domain.binding import FOREVER, Binding, kind_of, utc_seconds
from review.domain.policy import expiry
from review.domain.sameness import same_key
from review.domain.status import Status
from review.domain.summary import summarise
from review.effects import told
from review.models import Conflict, Proposal, Revision
from review.services.transitions import move
from review.services.weigh import Weighed


@dataclass(frozen=True)
class Words:
    """What the agent says about its own call. Nobody has checked it."""

    rationale: str = ""
    evidence: Sequence[Mapping[str, Any]] = field(default_factory=list)


def digest_of(text: str) -> str:
    """Return the 64 hex digits of SHA-256 of a canonical argument text."""
    return hashlib.sha256(text.encode()).hexdigest()


def opened(
    tool: str,
    arguments: Mapping[str, Any],
    weighed: Weighed,
    *,
    workspace: Workspace,
    principal: UUID,
    now: datetime,
    agent: Agent | None = None,
    **more: Any,
) -> Proposal:
    """Return a new proposal in its first revision, waiting or held as the gate says; it is not stored yet."""
    return Proposal(
        id=new_id(),
        workspace=workspace,
        agent=agent,
        principal=principal,
        tool=tool,
        kind=str(kind_of(tool)),
        summary=summarise(tool, told(tool, arguments)),
        same_key=same_key(tool, arguments),
        status=Status.QUARANTINED if weighed.held else Status.PENDING,
        revision=1,
        risk=str(weighed.rule.risk),
        risk_rank=weighed.deciding.risk.rank,
        approvals_required=weighed.deciding.people,
        created_at=now,
        submitted_at=now,
        **more,
    )


def bind(proposal: Proposal, number: int, text: str, weighed: Weighed, expires: datetime | None) -> Binding:
    """Return the binding of revision `number` of `proposal` with the canonical arguments `text`."""
    return Binding(
        workspace=proposal.workspace_id,
        proposal=proposal.id,
        revision=number,
        agent=proposal.agent_id,
        principal=proposal.principal,
        kind=kind_of(proposal.tool),
        tool=proposal.tool,
        tool_schema=weighed.rule.schema_digest,
        arguments=text,
        risk=str(weighed.rule.risk),
        policy=weighed.rule.digest,
        expires=expires,
    )


def ends(proposal: Proposal, weighed: Weighed, now: datetime) -> datetime | None:
    """Return when a revision submitted `now` runs out: by policy only (I5), never while it is held."""
    return None if weighed.held else expiry(weighed.rule, now, proposal.expires_in)


def put_in_place(proposal: Proposal, binding: Binding, weighed: Weighed, **changes: Any) -> None:
    """Make the revision that `binding` describes the current one, with no vote on it yet; one conditional statement.

    Raises: AlreadyDecided, when somebody else moved the proposal first.
    """
    move(
        proposal,
        Status.QUARANTINED if weighed.held else Status.PENDING,
        revision=binding.revision,
        binding=binding.digest(),
        risk=str(weighed.rule.risk),
        risk_rank=weighed.deciding.risk.rank,
        approvals_required=weighed.deciding.people,
        approvals_given=0,
        **changes,
    )


def lay(
    proposal: Proposal,
    binding: Binding,
    weighed: Weighed,
    *,
    words: Words,
    conflicts: Mapping[UUID, str],
    token: AgentToken | None,
    now: datetime,
    author: Person | None = None,
) -> Revision:
    """Store the revision that `binding` describes, and add `conflicts` to those of the proposal."""
    revision = Revision(
        proposal=proposal,
        number=binding.revision,
        arguments=binding.arguments,
        arguments_digest=digest_of(binding.arguments),
        binding=binding.digest(),
        bound_expiry=utc_seconds(binding.expires) if binding.expires else FOREVER,
        rule=weighed.rule.canonical,
        rule_digest=weighed.rule.digest,
        schema_digest=weighed.rule.schema_digest,
        deciding_digest=weighed.deciding.digest,
        gate=weighed.gate(),
        conflict_set={str(person): reason for person, reason in conflicts.items()},
        token=token,
        author_person=author,
        rationale=words.rationale,
        evidence=list(words.evidence),
        created_at=now,
    )
    insert(revision)
    _add_conflicts(proposal, conflicts)
    return revision


def _add_conflicts(proposal: Proposal, conflicts: Mapping[UUID, str]) -> None:
    """Add those of `conflicts` who are not in the set yet; why the others are stays as it was said first."""
    known = set(proposal.conflicts.values_list("person_id", flat=True)) if proposal.revision > 1 else ()
    new = (person for person in conflicts if person not in known)
    insert(*(Conflict(proposal=proposal, person_id=person, reason=conflicts[person]) for person in new))
