"""An agent proposes a call. What the gate lets through waits for people, is held, or takes effect at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Count, F, QuerySet
from django.utils import timezone

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.problems import Refusal
from review.access import queries as access
from review.access.actors import AgentActor
from review.access.models import Agent
from review.audit import log
from review.audit.actions import Action
from review.audit.statements import first, insert, prepared
from review.domain.decision import refuse_unsatisfiable
from review.domain.gate import Outcome
from review.domain.independence import Conflicts
from review.domain.refusals import KeyReused, NotDelegated, RecentlyRejected, TooManyPending
from review.domain.status import Status
from review.effects import inner_name
from review.models import IdempotencyKey, Proposal
from review.queries.cases import Known, electorate_with, submitted_by
from review.services import take_effect
from review.services.refuse import record_refused
from review.services.revisions import Words, bind, digest_of, ends, lay, opened
from review.services.settle import settle
from review.services.transitions import agent_alone_at_work, record
from review.services.weigh import Weighed, weigh

COOL_DOWN = timedelta(minutes=15)
KEY_KEPT = timedelta(days=30)
LONGEST = 31_536_000  # seconds; no rule lets a proposal wait longer
RETURNED = (Status.PENDING, Status.CHANGES_REQUESTED)


@dataclass(frozen=True)
class Draft:
    """What an agent asks for, as its request said it. `arguments` have passed the strict reader."""

    tool: str
    arguments: Mapping[str, Any]
    rationale: str = ""
    evidence: Sequence[Mapping[str, Any]] = field(default_factory=list)
    on_behalf_of: str | None = None
    tool_call_id: str | None = None
    run_id: str | None = None
    expires_in: int | None = None
    body_digest: str = ""
    key: str | None = None

    @property
    def idempotency_key(self) -> str | None:
        """The key sent, else run and call together when both are named."""
        if self.key is not None:
            return f"key:{self.key}"
        if self.run_id is not None and self.tool_call_id is not None:
            return canonical([self.run_id, self.tool_call_id])
        return None


class Proposed(NamedTuple):
    """`known` is what was laid down just now; None where an earlier proposal is the answer."""

    proposal: Proposal
    known: Known | None

    @property
    def replayed(self) -> bool:
        return self.known is None


def propose(draft: Draft, *, by: AgentActor) -> Proposed:
    """Return the proposal that `draft` makes, or the one that the same idempotency key made before.

    Raises: KeyReused, AgentStopped, TooManyPending, Invalid, Blocked, NotDelegated, Tombstoned, ExpiredContent,
    NoProvenance, Inactive, RecentlyRejected, Unsatisfiable. Each refused attempt is recorded.
    """
    now = timezone.now()
    tool, text = inner_name(draft.tool), canonical(dict(draft.arguments))

    def refused(refusal: Refusal) -> None:
        record_refused(
            refusal, tool=tool, text=text, by=by, workspace=by.agent.workspace_id, agent=by.agent.id
        )

    def work() -> Proposed:
        return _propose(draft, tool, text, by, now)

    try:
        return settle(work, refused=refused)
    except IntegrityError:
        if draft.idempotency_key is None:
            raise
        # Its key was used in the same moment, by one that is committed now: that one is the answer.
        return settle(work, refused=refused)


def _propose(draft: Draft, tool: str, text: str, by: AgentActor, now: datetime) -> Proposed:
    if earlier := _earlier(draft, by.agent, now):
        return Proposed(earlier, None)
    agent = agent_alone_at_work(by.agent.id)  # else two at once would both be the last
    _mind_the_limit(agent, now)
    principal = _principal(draft.on_behalf_of, agent)
    weighed = weigh(tool, draft.arguments, agent=agent, now=now)
    mind_the_cool_down(agent, tool, text, now)
    proposal = _new(draft, tool, agent, principal, weighed, now)
    known = _lay_first(proposal, draft, text, weighed, by, now)
    _remember(draft, proposal, now)
    take_effect.after_gate(proposal, draft.arguments, weighed, by, now)
    return Proposed(proposal, known)


def _earlier(draft: Draft, agent: Agent, now: datetime) -> Proposal | None:
    """Return what this key made before; kept with the canonical body, so that another one is told apart.

    After its time a key is free again, for any body.
    """
    if draft.idempotency_key is None:
        return None
    found = first(_used(agent.id, draft.idempotency_key))
    if found is None:
        return None
    if found.created_at <= now - KEY_KEPT:
        found.delete()
        return None
    if found.body_digest != draft.body_digest:
        raise KeyReused
    return found.proposal


@prepared
def _used(agent: UUID, key: str) -> QuerySet[IdempotencyKey]:
    keys = IdempotencyKey.objects.filter(agent=agent, key=key)
    return keys.select_related("proposal__workspace", "proposal__agent")


def _mind_the_limit(agent: Agent, now: datetime) -> None:
    if sum(_waiting(agent.id, now)) >= settings.HUQAN_MAX_OPEN_PROPOSALS:
        raise TooManyPending


@prepared
def _waiting(agent: UUID, now: datetime) -> QuerySet[Proposal, int]:
    """How many proposals of the agent wait for people: one row, none for nothing."""
    waiting = Proposal.objects.filter(agent=agent, status__in=RETURNED).live(now)
    return waiting.order_by().values("agent").annotate(n=Count("pk")).values_list("n", flat=True)


def _principal(username: str | None, agent: Agent) -> UUID:
    """Return whoever is acted for: only a person who granted it to this agent himself, else the agent.

    Who takes it back is recorded before this proposal, and counts, or after it.
    """
    if username is None:
        return agent.id
    account = access.account(username)
    if account is None or not access.may_act_for(agent.id, account.person_id, log.take_turn()):
        raise NotDelegated
    return account.person_id


def mind_the_cool_down(agent: Agent, tool: str, text: str, now: datetime) -> None:
    """Refuse the same call again so soon after people rejected it, as a proposal or as a revision of another.

    Raises: RecentlyRejected.
    """
    for rejected, its_tool in _rejected(agent.id, now - COOL_DOWN, digest_of(text)):
        if its_tool.casefold() == tool.casefold():
            raise RecentlyRejected(proposal=str(rejected))


@prepared
def _rejected(agent: UUID, since: datetime, arguments: str) -> QuerySet[Proposal, tuple[UUID, str]]:
    """Id and tool of what was rejected `since` then with exactly these arguments, the latest first."""
    lately = Proposal.objects.filter(agent=agent, status=Status.REJECTED, decided_at__gt=since)
    same = lately.filter(revisions__number=F("revision"), revisions__arguments_digest=arguments)
    return same.order_by("-decided_at").values_list("id", "tool")


def _new(draft: Draft, tool: str, agent: Agent, principal: UUID, weighed: Weighed, now: datetime) -> Proposal:
    return opened(
        tool,
        draft.arguments,
        weighed,
        workspace=agent.workspace,
        agent=agent,
        principal=principal,
        now=now,
        expires_in=draft.expires_in and min(draft.expires_in, LONGEST),
        run_id=draft.run_id,
        tool_call_id=draft.tool_call_id,
    )


def _lay_first(
    proposal: Proposal, draft: Draft, text: str, weighed: Weighed, by: AgentActor, now: datetime
) -> Known:
    proposal.expires_at = ends(proposal, weighed, now)
    binding = bind(proposal, 1, text, weighed, proposal.expires_at)
    proposal.binding = binding.digest()
    conflicts = submitted_by(proposal, by.token, now)
    electorate = electorate_with(proposal, conflicts)
    if weighed.outcome is not Outcome.ALLOW:
        refuse_unsatisfiable(weighed.deciding, electorate, now)
    insert(proposal)
    words = Words(draft.rationale, draft.evidence)
    revision = lay(proposal, binding, weighed, words=words, conflicts=conflicts, token=by.token, now=now)
    behalf = proposal.principal if proposal.principal != proposal.agent_id else None
    private = {"rationale": draft.rationale} if draft.rationale else None
    record(
        proposal,
        Action.PROPOSAL_PROPOSED,
        by,
        after={"arguments": digest_of(text), "gate": str(weighed.outcome)},
        policy=weighed.rule.digest,
        conflict_set=conflicts,
        on_behalf_of=behalf,
        private=private,
    )
    return Known(revision, electorate)


def require_deciders(proposal: Proposal, weighed: Weighed, conflicts: Conflicts, now: datetime) -> None:
    """Refuse what too few independent people could ever decide.

    Raises: Unsatisfiable.
    """
    refuse_unsatisfiable(weighed.deciding, electorate_with(proposal, conflicts), now)


def _remember(draft: Draft, proposal: Proposal, now: datetime) -> None:
    if draft.idempotency_key is not None and proposal.agent is not None:
        IdempotencyKey.objects.create(
            agent=proposal.agent,
            key=draft.idempotency_key,
            body_digest=draft.body_digest,
            proposal=proposal,
            created_at=now,
        )
