"""Redeeming an approved proposal: one signed permit for exactly the approved bytes, once (I26)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.ids import new_id
from huqan_site.lib.keyring import Keyring
from huqan_site.lib.problems import Refusal
from review.access.actors import AgentActor
from review.audit import log
from review.audit.actions import Action
from review.domain import permit as sealed
from review.domain.diff import drift
from review.domain.policy import Rule
from review.domain.refusals import (
    ArgumentsDrifted,
    Expired,
    NotApproved,
    NotFound,
    PermitSpent,
    PolicyChanged,
)
from review.domain.status import REDEEMED, Status, current
from review.models import Permit, Proposal, Revision
from review.queries.cases import rebound, rule_of
from review.queries.policies import resolved
from review.services.expire import meet
from review.services.rebind import rebinding
from review.services.refuse import record_refused_permit
from review.services.settle import settle
from review.services.transitions import agent_at_work, lock, move, record

REPORTED = (
    "How this call ended was reported, so nothing runs on its permit any more. Propose it again to run it."
)


def redeem(
    proposal_id: UUID,
    *,
    by: AgentActor,
    arguments: Mapping[str, Any] | None = None,
    binding: str | None = None,
    key: str | None = None,
) -> Permit:
    """Return the permit to run what was approved, and take the proposal to `running`.

    `arguments` or `binding` says what is about to run. The same `key` gets the same permit again until it is spent.

    Raises: AgentStopped, NotFound, NotApproved, Expired, PolicyChanged, ArgumentsDrifted, PermitSpent.
    """
    text = None if arguments is None else canonical(dict(arguments))

    def refused(refusal: Refusal) -> None:
        _record_refusal(proposal_id, refusal, by)

    with rebinding(proposal_id):
        return settle(lambda: _redeem(proposal_id, by, text, binding, key), refused=refused)


def _redeem(
    proposal_id: UUID, by: AgentActor, text: str | None, binding: str | None, key: str | None
) -> Permit:
    agent_at_work(by.agent.id)
    proposal = lock(proposal_id, workspace_id=by.agent.workspace_id)
    now = log.take_turn()  # a policy that changes is recorded before the permit, and counts, or after it
    revision = proposal.revisions.get(number=proposal.revision)
    rule = rule_of(revision)
    _mind_the_audience(proposal, rule, by)
    status = current(proposal.status, proposal.expires_at, now)
    if status is Status.EXPIRED:
        raise Expired(proposal_status=status)
    if status not in (Status.APPROVED, *REDEEMED):
        raise NotApproved(proposal_status=status)
    if status is Status.APPROVED and resolved(proposal.workspace_id, proposal.tool).digest != rule.digest:
        raise PolicyChanged
    _compare(proposal, revision, text, binding)
    if status in REDEEMED:
        return _same_again(proposal, by, key, now)
    issued = _issue(proposal, revision, rule, by, key, now)
    move(proposal, Status.RUNNING)
    record(proposal, Action.PERMIT_ISSUED, by, before=Status.APPROVED, after={"jti": str(issued.jti)})
    return issued


def _mind_the_audience(proposal: Proposal, rule: Rule, by: AgentActor) -> None:
    """The proposing agent or the rule's audience may redeem; for all others it does not exist."""
    if by.agent.id != proposal.agent_id and by.agent.name != rule.audience:
        raise NotFound


def _same_again(proposal: Proposal, by: AgentActor, key: str | None, now: datetime) -> Permit:
    permit = proposal.permit
    repeated = key is not None and permit.redeem_key == key and permit.redeemed_by_id == by.agent.id
    if not repeated or permit.spent_at or permit.voided_at or permit.expires_at <= now:
        raise PermitSpent
    if proposal.status != Status.RUNNING:
        raise PermitSpent(REPORTED)
    return permit


def _compare(proposal: Proposal, revision: Revision, text: str | None, binding: str | None) -> None:
    """Recompute the binding from the stored text, then hold what is about to run against it (I2).

    A repeated key is no way round this: it gets its permit again for the same bytes only.
    """
    if rebound(proposal, revision).digest() != proposal.binding or binding not in (None, proposal.binding):
        raise ArgumentsDrifted(diff=[])
    if text is not None and text != revision.arguments:
        raise ArgumentsDrifted(diff=drift(revision.arguments, text))


def _issue(
    proposal: Proposal, revision: Revision, rule: Rule, by: AgentActor, key: str | None, now: datetime
) -> Permit:
    assert proposal.expires_at is not None and proposal.agent is not None  # an approved call has both
    begins, ends = sealed.lifetime(now, proposal.expires_at)
    jti = new_id()
    audience = rule.audience or proposal.agent.name
    claims = {
        "iss": settings.HUQAN_BASE_URL,
        "aud": audience,
        "jti": str(jti),
        "iat": int(begins.timestamp()),
        "nbf": int(begins.timestamp()),
        "exp": int(ends.timestamp()),
        "ws": str(proposal.workspace_id),
        "prop": str(proposal.id),
        "rev": proposal.revision,
        "agent": str(proposal.agent_id),
        "tool": proposal.tool,
        "bind": proposal.binding,
        "args": revision.arguments_digest,
    }
    kid, signing_key = Keyring(settings.HUQAN_KEYS_DIR).signing_key("permit")
    return Permit.objects.create(
        jti=jti,
        proposal=proposal,
        token=sealed.seal(claims, kid=kid, key=signing_key),
        audience=audience,
        arguments_digest=revision.arguments_digest,
        redeem_key=key,
        redeemed_by=by.agent,
        issued_at=begins,
        expires_at=ends,
    )


def _record_refusal(proposal_id: UUID, refusal: Refusal, by: AgentActor) -> None:
    proposal = (
        Proposal.objects.select_related("workspace", "agent")
        .filter(pk=proposal_id, workspace_id=by.agent.workspace_id)
        .first()
    )
    if proposal is None:
        return
    meet(proposal, timezone.now())
    record_refused_permit(proposal, refusal, by)
