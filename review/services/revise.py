"""A new revision: it passes the gate again, outdates every vote, and moves expiry by policy only (I5).

The proposing agent sends it, or a reviewer edits the arguments on the page. Who edits is an author from then on
and cannot approve any revision of the proposal; whoever could not before gains nothing by it, so an owner may.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.problems import FieldError, Refusal
from review.access.actors import AgentActor, PersonActor
from review.access.models import Agent
from review.access.queries import may_act_for
from review.audit import log
from review.audit.actions import Action
from review.domain import status
from review.domain.decision import says_something
from review.domain.gate import Outcome
from review.domain.independence import union
from review.domain.refusals import Blocked, Invalid, NotDelegated, ReasonRequired
from review.domain.sameness import same_key
from review.domain.summary import summarise
from review.effects import told
from review.models import Proposal
from review.queries.cases import conflicts_of, submitted_by
from review.queries.visible import must_be_visible
from review.services import take_effect
from review.services.expire import meet
from review.services.propose import mind_the_cool_down, require_deciders
from review.services.refuse import record_refused
from review.services.revisions import Words, bind, digest_of, ends, lay, put_in_place
from review.services.settle import settle
from review.services.transitions import agent_at_work, hold, lock, must_hold_deciding_role, record
from review.services.weigh import Weighed, weigh

Author = AgentActor | PersonActor
STARTED_BY_PERSON = "A person started this, so nobody else writes it. Reject it, or request changes."
TAKEN_BACK = (
    "The person this acts for does not let this agent do so any more. Withdraw it; propose anew without "
    "`on_behalf_of`."
)
UNCHANGED = "These are the arguments as they are. Change something, or decide on them."


def revise(
    proposal_id: UUID, *, by: Author, replaces: int, arguments: Mapping[str, Any], rationale: str = ""
) -> Proposal:
    """Return the proposal with a new current revision in place of number `replaces`.

    `by` is the proposing agent, or a person with the deciding role; he gives his reason as `rationale`.

    Raises: NotFound, NotEligible, AlreadyDecided, Expired, StaleRevision, ReasonRequired, AgentStopped,
    NotDelegated, and the gate's as for a proposal.
    """
    text = canonical(dict(arguments))

    def refused(refusal: Refusal) -> None:
        record_refused_revision(proposal_id, refusal, text, by)

    return settle(lambda: _revise(proposal_id, by, replaces, arguments, text, rationale), refused=refused)


def _revise(
    proposal_id: UUID, by: Author, replaces: int, arguments: Mapping[str, Any], text: str, rationale: str
) -> Proposal:
    proposal = _of_agent(proposal_id, by) if isinstance(by, AgentActor) else _of_person(proposal_id, by)
    now = timezone.now()
    mind_the_state(proposal, replaces, now)
    if isinstance(by, PersonActor):
        _mind_the_edit(proposal, text, rationale)
    agent = agent_at_work(_agent(proposal).id)
    weighed = weigh(proposal.tool, arguments, agent=agent, now=now, proposal=proposal.id)
    if isinstance(by, AgentActor):
        _mind_the_delegation(proposal, agent, now)
        mind_the_cool_down(agent, proposal.tool, text, now)
    advance(proposal, arguments, text, rationale, weighed, by, now)
    take_effect.after_gate(proposal, arguments, weighed, by, now)
    return proposal


def mind_the_state(proposal: Proposal, replaces: int, now: datetime) -> None:
    """Refuse another revision of what is over, held or approved, or of a revision that is not the current one.

    Raises: Expired, AlreadyDecided, StaleRevision.
    """
    status.revise(
        proposal.status,
        revision=proposal.revision,
        replaces=replaces,
        expires_at=proposal.expires_at,
        now=now,
    )


def advance(
    proposal: Proposal,
    arguments: Mapping[str, Any],
    text: str,
    rationale: str,
    weighed: Weighed,
    by: Author,
    now: datetime,
) -> None:
    """Within the caller's transaction: make `arguments` the current revision, by `by`, and write that down.

    Raises: Unsatisfiable, AlreadyDecided.
    """
    before = proposal.status
    _put_forward(proposal, arguments, text, rationale, weighed, by, now)
    record(
        proposal,
        Action.PROPOSAL_REVISED,
        by,
        before=before,
        after={"arguments": digest_of(text), "gate": str(weighed.outcome)},
        policy=weighed.rule.digest,
        conflict_set=conflicts_of(proposal, now),
        private={"rationale": rationale} if rationale else None,
    )


def _of_agent(proposal_id: UUID, by: AgentActor) -> Proposal:
    hold(by.agent.id)
    proposal = lock(proposal_id, agent_id=by.agent.id)
    log.take_turn()  # its owner, or the rule, is lost before this revision, and counts, or after it
    return proposal


def _of_person(proposal_id: UUID, by: PersonActor) -> Proposal:
    """Return the proposal for somebody with the deciding role, which he does not lose before the end of this.

    Raises: NotFound, NotEligible.
    """
    agent_id = Proposal.objects.filter(pk=proposal_id).values_list("agent_id", flat=True).first()
    if agent_id is not None:
        hold(agent_id)
    proposal = lock(proposal_id)
    now = log.take_turn()
    must_be_visible(proposal, by.person.id, now)
    must_hold_deciding_role(proposal, by, now)
    return proposal


def _mind_the_edit(proposal: Proposal, text: str, reason: str) -> None:
    """A person writes what an agent proposed, says why, and changes something: nothing is outdated for nothing."""
    if proposal.agent is None:
        raise Blocked(STARTED_BY_PERSON)
    if not says_something(reason):
        raise ReasonRequired
    if proposal.revisions.get(number=proposal.revision).arguments == text:
        raise Invalid(errors=[FieldError("/arguments", "unchanged", UNCHANGED)])


def _mind_the_delegation(proposal: Proposal, agent: Agent, now: datetime) -> None:
    """What is written from now on is not in the name of somebody who has taken that back."""
    if proposal.principal != agent.id and not may_act_for(agent.id, proposal.principal, now):
        raise NotDelegated(TAKEN_BACK)


def _agent(proposal: Proposal) -> Agent:
    assert proposal.agent is not None, "what a person started is revised by nobody"
    return proposal.agent


def _put_forward(
    proposal: Proposal,
    arguments: Mapping[str, Any],
    text: str,
    rationale: str,
    weighed: Weighed,
    by: Author,
    now: datetime,
) -> None:
    """Put the new revision in place with one conditional statement, then lay it down."""
    expires_at = ends(proposal, weighed, now)
    binding = bind(proposal, proposal.revision + 1, text, weighed, expires_at)
    proposal.submitted_at = now
    token, author = (by.token, None) if isinstance(by, AgentActor) else (None, by.person)
    conflicts = submitted_by(proposal, token, now, author=author)
    if weighed.outcome is not Outcome.ALLOW:
        require_deciders(proposal, weighed, union(conflicts_of(proposal, now), conflicts), now)
    words = Words(rationale, proposal.revisions.get(number=proposal.revision).evidence)
    put_in_place(
        proposal,
        binding,
        weighed,
        summary=summarise(proposal.tool, told(proposal.tool, arguments)),
        same_key=same_key(proposal.tool, arguments),
        submitted_at=now,
        expires_at=expires_at,
        reason=None,
        fields=[],
    )
    lay(
        proposal,
        binding,
        weighed,
        words=words,
        conflicts=conflicts,
        token=token,
        author=author,
        now=now,
    )


def record_refused_revision(proposal_id: UUID, refusal: Refusal, text: str, by: Author) -> None:
    """Write down who tried to write what into which proposal, if there is one in his workspace or of this agent."""
    rows = Proposal.objects.select_related("workspace", "agent").filter(pk=proposal_id)
    proposal = (rows.filter(agent=by.agent) if isinstance(by, AgentActor) else rows).first()
    if proposal is None:
        return
    meet(proposal, timezone.now())
    record_refused(
        refusal,
        tool=proposal.tool,
        text=text,
        by=by,
        workspace=proposal.workspace_id,
        agent=proposal.agent_id,
        proposal=proposal.id,
    )
