"""Spending a permit: the executor shows it with what it is about to run, once (I26)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from huqan_site.lib.canonical_json import canonical
from huqan_site.lib.keyring import Keyring
from huqan_site.lib.problems import Refusal
from review.access.actors import AgentActor
from review.audit.actions import Action
from review.domain import permit as sealed
from review.domain.diff import drift
from review.domain.refusals import ArgumentsDrifted, BadPermit, NotRunning, PermitSpent
from review.domain.status import Status
from review.models import Permit, Proposal
from review.queries.cases import current_revisions, rebound
from review.services.issue_permit import REPORTED
from review.services.refuse import record_refused_permit
from review.services.settle import settle
from review.services.transitions import agent_at_work, lock, record


def spend(token: str, arguments: Mapping[str, Any], *, by: AgentActor) -> Permit:
    """Return the permit that `token` is, now spent by its audience on exactly `arguments`.

    Raises: AgentStopped, BadPermit (not ours, not for this agent, out of time, voided), PermitSpent,
    ArgumentsDrifted (with `diff`), NotRunning once the outcome was reported.
    """
    now = timezone.now()
    claims = sealed.unseal(token, keys=Keyring(settings.HUQAN_KEYS_DIR).public_keys("permit"), now=now)
    text = canonical(dict(arguments))

    def refused(refusal: Refusal) -> None:
        _record_refusal(claims, refusal, by)

    return settle(lambda: _spend(claims, text, by, now), refused=refused)


def _spend(claims: Mapping[str, Any], text: str, by: AgentActor, now: datetime) -> Permit:
    agent_at_work(by.agent.id)
    permit = _permit_of(claims, by)
    if permit is None or claims["aud"] != by.agent.name:
        raise BadPermit
    proposal = lock(permit.proposal_id)  # who reports how it went, or voids it, does before this or after it
    permit.refresh_from_db(fields=["spent_at", "voided_at"])
    if permit.voided_at is not None:
        raise BadPermit
    _compare(proposal, claims, text)
    if permit.spent_at is None and proposal.status != Status.RUNNING:
        raise NotRunning(REPORTED, proposal_status=proposal.status)
    if not Permit.objects.filter(pk=permit.pk, spent_at=None, voided_at=None).update(spent_at=now):
        raise PermitSpent
    permit.spent_at = now
    record(proposal, Action.PERMIT_REDEEMED, by, after={"jti": str(permit.jti)})
    return permit


def _compare(proposal: Proposal, claims: Mapping[str, Any], text: str) -> None:
    """Recompute the binding from the stored text (I2): what is about to run is that text, and the permit is for it."""
    revision = current_revisions([proposal])[proposal.id]
    if rebound(proposal, revision).digest() != claims["bind"]:
        raise ArgumentsDrifted(diff=[])
    if text != revision.arguments:
        raise ArgumentsDrifted(diff=drift(revision.arguments, text))


def _permit_of(claims: Mapping[str, Any], by: AgentActor) -> Permit | None:
    rows = Permit.objects.select_related("proposal__workspace", "proposal__agent")
    return rows.filter(pk=UUID(claims["jti"]), proposal__workspace_id=by.agent.workspace_id).first()


def _record_refusal(claims: Mapping[str, Any], refusal: Refusal, by: AgentActor) -> None:
    permit = _permit_of(claims, by)
    if permit is not None:
        record_refused_permit(permit.proposal, refusal, by, jti=str(permit.jti))
