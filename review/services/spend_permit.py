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
from review.domain.refusals import ArgumentsDrifted, BadPermit, PermitSpent
from review.models import Permit
from review.services.refuse import record_refused_permit
from review.services.revisions import digest_of
from review.services.settle import settle
from review.services.transitions import agent_at_work, record


def spend(token: str, arguments: Mapping[str, Any], *, by: AgentActor) -> Permit:
    """Return the permit that `token` is, now spent by its audience on exactly `arguments`.

    Raises: AgentStopped, BadPermit (not ours, not for this agent, out of time, voided), PermitSpent,
    ArgumentsDrifted (with `diff`).
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
    if permit is None or claims["aud"] != by.agent.name or permit.voided_at is not None:
        raise BadPermit
    if digest_of(text) != permit.arguments_digest:
        approved = permit.proposal.revisions.get(number=permit.proposal.revision).arguments
        raise ArgumentsDrifted(diff=drift(approved, text))
    if not Permit.objects.filter(pk=permit.pk, spent_at=None, voided_at=None).update(spent_at=now):
        raise PermitSpent
    permit.spent_at = now
    record(permit.proposal, Action.PERMIT_REDEEMED, by, after={"jti": str(permit.jti)})
    return permit


def _permit_of(claims: Mapping[str, Any], by: AgentActor) -> Permit | None:
    rows = Permit.objects.select_related("proposal__workspace", "proposal__agent")
    return rows.filter(pk=UUID(claims["jti"]), proposal__workspace_id=by.agent.workspace_id).first()


def _record_refusal(claims: Mapping[str, Any], refusal: Refusal, by: AgentActor) -> None:
    permit = _permit_of(claims, by)
    if permit is not None:
        record_refused_permit(permit.proposal, refusal, by, jti=str(permit.jti))
