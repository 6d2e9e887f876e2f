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
INDEPENDENCE = ("tests/unit/review/test_independence.py", "tests/db/review/test_independence.py")
POLICY = ("tests/unit/review/test_policy.py",)
GUARDS = ("tests/db/audit/test_guards.py",)
STOPS = ("tests/db/access/test_agents.py",)
IMPORTS = ("tests/db/memory/test_import.py",)
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
        "whoever minted the token may approve",
        "review/domain/independence.py",
        "        Reason.MINTER: minters,",
        "        Reason.MINTER: (),",
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
        "Permit.objects.filter(pk=permit.pk, spent_at=None, voided_at=None)",
        "Permit.objects.filter(pk=permit.pk, voided_at=None)",
        PERMITS,
    ),
    Defect(
        "a permit runs what was reported as over",
        "review/services/spend_permit.py",
        "if permit.spent_at is None and proposal.status != Status.RUNNING:",
        "if False:",
        PERMITS,
    ),
    Defect(
        "a permit is spent on text that is not the approved one any more",
        "review/services/spend_permit.py",
        'if rebound(proposal, revision).digest() != claims["bind"]:',
        "if False:",
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
        "    if status is Status.APPROVED and resolved(proposal.workspace_id, proposal.tool).digest != rule.digest:",
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
        "    if account is None or not access.may_act_for(agent.id, account.person_id, log.take_turn()):",
        "    if account is None:",
        PROPOSE,
    ),
    Defect(
        "what a file calls held is imported like anything else",
        "memory/domain/lines.py",
        'return asked | {"untrusted": True} if said.get(TRUST) == HELD else asked',
        "return asked",
        IMPORTS,
    ),
    Defect(
        "anybody may import",
        "memory/gateway/bring_in.py",
        "    require_manager(by, into.id, now)\n",
        "",
        IMPORTS,
    ),
    Defect(
        "the same file again is proposed again",
        "memory/gateway/bring_in.py",
        "begun.get(_digest(line)) or _said_here(line, into)",
        "None",
        IMPORTS,
    ),
    Defect(
        "a secret is exported",
        "memory/gateway/take_out.py",
        "if masked_value(line) == line",
        "if True",
        ("tests/db/memory/test_export.py",),
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
        "review/services/void_permits.py",
        "    Permit.objects.filter(pk__in=[permit.pk for permit in permits]).update(voided_at=now)\n",
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
    Defect(
        "a role counts for what was submitted in the moment it began",
        "review/domain/independence.py",
        "RoleTooNew() if held.since >= self.submitted_at",
        "RoleTooNew() if held.since > self.submitted_at",
        INDEPENDENCE,
    ),
    Defect(
        "a role from somebody in the conflict set counts",
        "review/domain/independence.py",
        "if held.granted_by in self.conflicts or held.granted_by == held.person:",
        "if held.granted_by == held.person:",
        INDEPENDENCE,
    ),
    Defect(
        "whoever made a link for a password may use it to approve",
        "review/domain/independence.py",
        "return NotEligible(_VOUCHED) if held.vouched_by & self.conflicts.keys() else None",
        "return None",
        (*INDEPENDENCE, "tests/db/review/test_one_person.py"),
    ),
    Defect(
        "a mail to an address that somebody else named proves who one is",
        "review/access/services/passwords.py",
        "link.user.address_vouched_by_id if link.asked_for else link.made_by_id",
        "link.made_by_id",
        ("tests/db/access/test_forgotten.py",),
    ),
    Defect(
        "managers' policy is decided by reviewers",
        "review/domain/independence.py",
        "return Role.MANAGER if self.kind == Kind.POLICY_CHANGE else Role.REVIEWER",
        "return Role.REVIEWER",
        (*INDEPENDENCE, "tests/db/review/test_policy_change.py"),
    ),
    Defect(
        "two accounts of one person are two people",
        "review/queries/identity.py",
        "return self.doubles.get(person, person)",
        "return person",
        ("tests/db/review/test_one_person.py",),
    ),
    Defect(
        "who edits the arguments is not their author",
        "review/services/revise.py",
        "    conflicts = submitted_by(proposal, token, now, author=author)",
        "    conflicts = submitted_by(proposal, token, now)",
        ("tests/db/review/test_edit.py", "tests/db/review/test_independence.py"),
    ),
    Defect(
        "whoever has left still counts for the quorum",
        "review/domain/decision.py",
        "approvers = frozenset(person for person in voted if case.electorate.objection(person, now) is None)",
        "approvers = frozenset(voted)",
        ("tests/unit/review/test_quorum.py", "tests/db/review/test_independence.py"),
    ),
    Defect(
        "one person fills the places of two groups",
        "review/domain/decision.py",
        "given = _assigned(rule.groups, electorate, approvers, now)",
        "given = {g.name: sum(g.name in electorate.groups(p, now) for p in approvers) for g in rule.groups}",
        ("tests/unit/review/test_quorum.py", "tests/unit/review/test_decision.py"),
    ),
    Defect(
        "an old sign-in will do",
        "review/domain/decision.py",
        "factor_at is None or now - factor_at > FRESH",
        "factor_at is None",
        ("tests/unit/review/test_decision.py",),
    ),
    Defect(
        "high risk needs no reason",
        "review/domain/decision.py",
        "return verdict != Verdict.APPROVE or rule.risk is Risk.HIGH",
        "return verdict != Verdict.APPROVE",
        ("tests/unit/review/test_decision.py",),
    ),
    Defect(
        "a policy that undoes another one can be approved",
        "review/domain/decision.py",
        "if case.overtaken and verdict is Verdict.APPROVE:",
        "if False:",
        ("tests/db/review/test_policy_change.py",),
    ),
    Defect(
        "any manager rewrites what another proposed",
        "review/services/revise_policy.py",
        "if proposal.tool != TOOL or not started_by(proposal, by.person.id):",
        "if proposal.tool != TOOL:",
        ("tests/db/review/test_policy_revision.py",),
    ),
    Defect(
        "a link for a password is made with a role that was lost meanwhile",
        "review/access/services/passwords.py",
        "rules.require_manager_of_all(by, found.person, log.take_turn())",
        "pass",
        ("tests/db/access/test_lost_while_waiting.py",),
    ),
    Defect(
        "a policy lets medium risk through",
        "review/domain/policy.py",
        "if rule.route is Route.ALLOW and rule.risk is not Risk.LOW:",
        "if False:",
        POLICY,
    ),
    Defect(
        "a wildcard reaches what only its own rule may decide",
        "review/domain/policy.py",
        'if "*" not in pattern or name in FLOOR:',
        'if "*" not in pattern:',
        POLICY,
    ),
    Defect(
        "releasing can be let through or blocked",
        "review/domain/policy.py",
        "if rule.route is not Route.REVIEW:",
        "if False:",
        POLICY,
    ),
    Defect(
        "a held memory is released by fewer than the floor asks",
        "review/domain/policy.py",
        "if rule.approvals < least:",
        "if False:",
        POLICY,
    ),
    Defect(
        "a row of the log can be deleted",
        "review/audit/guards.py",
        'guards = [Guard(table, "DELETE", "TRUE", f"{table} is append-only: no row is deleted.")]',
        "guards = []",
        GUARDS,
    ),
    Defect(
        "a row of the log can be changed",
        "review/audit/guards.py",
        'guards.append(Guard(table, "UPDATE", _any(changed)',
        'guards.append(Guard(table, "UPDATE", "0 = 1"',
        GUARDS,
    ),
    Defect(
        "the lock of SQLite's writers is no lock",
        "review/audit/file_lock.py",
        "                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n                return descriptor",
        "                return descriptor",
        ("tests/unit/audit/test_file_lock.py", "tests/db/audit/test_transaction.py"),
    ),
    Defect(
        "a transaction of SQLite takes its lock late",
        "huqan_site/environment.py",
        '"transaction_mode": "IMMEDIATE"',
        '"transaction_mode": "DEFERRED"',
        ("tests/db/audit/test_transaction.py", "tests/db/site/test_doctor.py", "tests/unit/site"),
    ),
    Defect(
        "what contradicts a memory opens no conflict",
        "memory/gateway/write.py",
        "    open_against(record, proposal, by=by)\n",
        "",
        ("tests/db/memory/test_conflicts.py",),
    ),
    Defect(
        "who may not decide a side may resolve the conflict",
        "memory/resolution.py",
        "return [conflict.older.proposal_id, conflict.newer.proposal_id] if conflict else []",
        "return []",
        ("tests/db/memory/test_conflicts.py",),
    ),
    Defect(
        "resolving a conflict has a softer rule than retracting",
        "review/domain/policy.py",
        "name = RULED_AS.get(tool.casefold(), tool.casefold())",
        "name = tool.casefold()",
        ("tests/db/memory/test_conflicts.py",),
    ),
    Defect(
        "a read of the past judges by today's validity",
        "memory/queries/verdicts.py",
        "    as_known(records, moment.known_at)\n",
        "",
        ("tests/db/memory/test_conflicts.py", "tests/db/memory/test_two_clocks.py"),
    ),
    Defect(
        "what was superseded answers for every time",
        "memory/models.py",
        'later = MemoryRecord.objects.filter(supersedes=OuterRef("pk"), valid_from__gt=as_of)',
        'later = MemoryRecord.objects.filter(supersedes=OuterRef("pk"))',
        ("tests/db/memory/test_two_clocks.py",),
    ),
    Defect(
        "the text of an entry is not hashed again",
        "review/audit/walk.py",
        "if leaf.hex() == row.leaf:",
        "if True:",
        ("tests/db/audit/test_verify.py",),
    ),
    Defect(
        "an entry may continue another one",
        "review/audit/walk.py",
        'members["prev"] == self.leaf == row.prev',
        'members["prev"] == row.prev',
        ("tests/db/audit/test_verify.py",),
    ),
    Defect(
        "a webhook gets a new secret that no entry tells of",
        "review/webhooks/services.py",
        '        record(Action.WEBHOOK_REGISTERED, webhook, by, after={"secret": "rotated"})\n',
        "",
        WEBHOOKS,
    ),
    Defect(
        "the form for a next vote comes without the comparison it is about",
        "templates/review/recorded.html",
        "#rail,#case,",
        "#rail,",
        (
            "tests/browser/test_deciding.py"
            "::test_a_revision_that_comes_before_the_page_has_fetched_the_rest_is_shown_with_its_form",
        ),
    ),
    Defect(
        "what comes next is only looked for among the nearest",
        "review/queries/queue.py",
        "first(near or viewer.needs_him)",
        "first(near)",
        ("tests/db/review/test_queue.py",),
    ),
    Defect(
        "whether somebody manages is looked up after whether he is a member",
        "review/access/services/rules.py",
        "    if Role.MANAGER not in held:",
        "    if not queries.is_manager(by.person.id, workspace, now):",
        ("tests/db/access/test_lost_while_waiting.py",),
    ),
)
