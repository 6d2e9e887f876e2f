"""The defects: what is broken, where, and the tests that must notice."""

from __future__ import annotations

from typing import NamedTuple


class Defect(NamedTuple):
    """In `file` the text `old`, which stands there once, becomes `new`; one of `tests` must fail then."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


DECIDE = ("tests/db/review/test_decide.py",)
PROPOSE = ("tests/db/review/test_propose.py",)
PERMITS = ("tests/db/review/test_permits.py",)
DOOR = ("tests/api/test_door.py",)
CALLS = ("tests/api/test_proposals.py",)
GUARDS = ("tests/db/audit/test_guards.py",)
STOPS = ("tests/db/access/test_agents.py",)
WEBHOOKS = ("tests/db/review/test_webhooks.py",)

DEFECTS = (
    Defect(
        "an owner may approve",
        "review/domain/independence.py",
        "        if person in self.conflicts:\n            return SelfApproval",
        "        if False:\n            return SelfApproval",
        DECIDE,
    ),
    Defect(
        "past owners are forgotten",
        "review/queries/cases.py",
        "        owners_then={person for revision in revisions for person in _owners_at(owned, revision.created_at)},",
        "        owners_then=(),",
        DECIDE,
    ),
    Defect(
        "whoever minted the token may approve",
        "review/queries/cases.py",
        "        minters={token.minted_by_id},",
        "        minters=(),",
        ("tests/db/review/test_conflicts.py",),
    ),
    Defect(
        "one person counts twice",
        "review/domain/decision.py",
        "    if person in _approved_by(case):\n        raise SamePerson",
        "    if False:\n        raise SamePerson",
        DECIDE,
    ),
    Defect(
        "expiry is closed instead of half-open",
        "review/domain/status.py",
        "expires_at is not None and now >= expires_at",
        "expires_at is not None and now > expires_at",
        (*DECIDE, "tests/unit/review/test_status.py"),
    ),
    Defect(
        "the posted binding is not compared",
        "review/domain/decision.py",
        "    if not binding == case.binding == case.recomputed or revision != case.revision:",
        "    if case.binding != case.recomputed:",
        DECIDE,
    ),
    Defect(
        "the stored text is not hashed again",
        "review/domain/decision.py",
        "    if not binding == case.binding == case.recomputed or revision != case.revision:",
        "    if binding != case.binding or revision != case.revision:",
        DECIDE,
    ),
    Defect(
        "any base can be approved on",
        "review/services/decide.py",
        "    if ballot.verdict == Verdict.APPROVE and not shown.base.startswith(nonce.REVIEWED):",
        "    if False:",
        DECIDE,
    ),
    Defect(
        "a refusal leaves no entry",
        "review/services/settle.py",
        "            refused(refusal)",
        "            pass",
        DECIDE,
    ),
    Defect(
        "a transition does not look at the state it leaves",
        "review/services/transitions.py",
        '    as_read = {"status": proposal.status, "revision": proposal.revision, "binding": proposal.binding}',
        "    as_read: dict[str, object] = {}",
        ("tests/db/review/test_transitions.py",),
    ),
    Defect(
        "a permit can be spent again",
        "review/services/spend_permit.py",
        "Permit.objects.filter(pk=permit.pk, spent_at__isnull=True)",
        "Permit.objects.filter(pk=permit.pk)",
        PERMITS,
    ),
    Defect(
        "other bytes are redeemed",
        "review/services/issue_permit.py",
        "    if text is not None and text != revision.arguments:",
        "    if False:",
        PERMITS,
    ),
    Defect(
        "a changed rule does not void an approval",
        "review/services/issue_permit.py",
        "    if resolved(proposal.workspace_id, proposal.tool).digest != revision.rule_digest:",
        "    if False:",
        PERMITS,
    ),
    Defect(
        "an idempotency key takes any body",
        "review/services/propose.py",
        "    if found.body_digest != draft.body_digest:",
        "    if False:",
        PROPOSE,
    ),
    Defect(
        "there is no cool-down after a rejection",
        "review/services/propose.py",
        "COOL_DOWN = timedelta(minutes=15)",
        "COOL_DOWN = timedelta(minutes=0)",
        PROPOSE,
    ),
    Defect(
        "anybody can be acted for",
        "review/services/propose.py",
        "    if account is None or not access.may_act_for(agent.id, account.person_id, now):",
        "    if account is None:",
        PROPOSE,
    ),
    Defect(
        "the memory of another workspace is recalled",
        "memory/models.py",
        "trusted = self.filter(workspace_id=scope, trust=Trust.TRUSTED)",
        "trusted = self.filter(trust=Trust.TRUSTED)",
        ("tests/db/memory",),
    ),
    Defect(
        "what is held is recalled",
        "memory/models.py",
        "trusted = self.filter(workspace_id=scope, trust=Trust.TRUSTED)",
        "trusted = self.filter(workspace_id=scope)",
        ("tests/db/memory",),
    ),
    Defect(
        "a doubled header is a token",
        "review/access/tokens.py",
        "    match = _SHAPE.fullmatch(header_values[0]) if len(header_values) == 1 else None",
        "    match = _SHAPE.match(header_values[0]) if header_values else None",
        DOOR,
    ),
    Defect(
        "an expired token opens the door",
        "review/access/tokens.py",
        "    return token.revoked_at is None and now < token.expires_at",
        "    return token.revoked_at is None",
        DOOR,
    ),
    Defect(
        "doubled keys are read",
        "huqan_site/lib/strict_json.py",
        "    DuplicateKey,\n    ForbiddenKey,\n    IntegerOutOfRange,",
        "    ForbiddenKey,\n    IntegerOutOfRange,",
        DOOR,
    ),
    Defect(
        "an agent reads the proposals of another",
        "review/queries/visible.py",
        "    rows = Proposal.objects.filter(agent=agent).select_related",
        "    rows = Proposal.objects.select_related",
        CALLS,
    ),
    Defect(
        "who stopped an agent lifts the stop",
        "review/access/services/agents.py",
        "    if person and stopper and queries.himself(person.id) == queries.himself(stopper):",
        "    if False:",
        STOPS,
    ),
    Defect(
        "an owner who lost his role still answers for his agent",
        "review/access/queries.py",
        "    return Ownership.objects.filter(_holding(now), Exists(roles), Exists(accounts))",
        "    return Ownership.objects.filter(_holding(now), Exists(accounts))",
        STOPS,
    ),
    Defect(
        "a permit outlives the stop of its agent",
        "review/services/withdraw.py",
        "    Permit.objects.filter(pk__in=[permit.pk for permit in voided]).update(voided_at=now)\n",
        "",
        ("tests/db/review/test_stop.py",),
    ),
    Defect(
        "a webhook leads inside",
        "review/webhooks/targets.py",
        "    if not target.is_named_in(allowed) and not all(map(is_public, found)):",
        "    if False:",
        ("tests/unit/review/test_targets.py",),
    ),
    Defect(
        "whoever connects resolves the name again",
        "review/webhooks/sending.py",
        "        sock = _connected(self._addresses, self.port)",
        "        sock = super()._new_conn()",
        WEBHOOKS,
    ),
    Defect(
        "an earlier secret signs no more after a rotation",
        "review/webhooks/outbox.py",
        "    if webhook.earlier_until is not None and now < webhook.earlier_until:",
        "    if False:",
        WEBHOOKS,
    ),
)
