"""Proposals as the rules see them: the case with its electorate, its conflicts and its votes.

Everything is read in a number of queries that does not depend on the number of proposals.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, Q, QuerySet

from review.access.models import AgentToken, Membership, Ownership, Person, User
from review.audit.statements import prepared
from review.domain import independence
from review.domain.binding import FOREVER, Binding, Kind
from review.domain.decision import Case, Vote, why_not
from review.domain.gate import Outcome
from review.domain.independence import Conflicts, Electorate, Reason, conflict_set, union
from review.domain.policy import Rule
from review.domain.status import OPEN, Status, current
from review.models import Conflict, Decision, PolicyVersion, Proposal, Revision
from review.queries.identity import Identities, identities
from review.queries.policies import RuleOf, changers, in_force, in_force_now, resolved_in
from review.queries.versions import outdated

RELEASE = "memory.release"


class Known(NamedTuple):
    """What an answer about a proposal needs beside its row: the current revision, and everyone who could decide."""

    revision: Revision
    electorate: Electorate


def case_of(proposal: Proposal, now: datetime) -> Case:
    """Return the case of one proposal."""
    return cases_of([proposal], now)[proposal.id]


def cases_of(proposals: Sequence[Proposal], now: datetime) -> dict[UUID, Case]:
    """Return the case of each of `proposals`, which are loaded with their agents."""
    known, revisions = identities(), current_revisions(proposals)
    arguments = {proposal: json.loads(revision.arguments) for proposal, revision in revisions.items()}
    read = _Read(
        revisions=revisions,
        arguments=arguments,
        electorates=_electorates(proposals, now, known),
        votes=_votes(proposals, known),
        rules=in_force_now(),
        overtaken=_overtaken(proposals, arguments),
        outdated=outdated(proposals, revisions, arguments),
    )
    return {proposal.id: _case(proposal, read) for proposal in proposals}


class _Read(NamedTuple):
    """What the database says of many proposals, by their ids."""

    revisions: Mapping[UUID, Revision]
    arguments: Mapping[UUID, Any]
    electorates: Mapping[UUID, Electorate]
    votes: Mapping[UUID, tuple[Vote, ...]]
    rules: RuleOf
    overtaken: Collection[UUID]
    outdated: Collection[UUID]


def asks_for_factor(proposal: Proposal, person: UUID, now: datetime) -> bool:
    """Whether an approval by `person` would get as far as being asked for a fresh factor."""
    case = case_of(proposal, now)
    open_now = current(case.status, case.expires_at, now) in (Status.PENDING, Status.QUARANTINED)
    return case.rule.step_up and open_now and why_not(case, person, now) is None


def current_revisions(proposals: Sequence[Proposal]) -> dict[UUID, Revision]:
    """Return the current revision of each of `proposals`."""
    return {row.proposal_id: row for row in _current(_ids(proposals))}


def _ids(proposals: Sequence[Proposal]) -> tuple[UUID, ...]:
    return tuple(proposal.id for proposal in proposals)


@prepared
def _current(proposals: tuple[UUID, ...]) -> QuerySet[Revision]:
    return Revision.objects.filter(proposal__in=proposals, number=F("proposal__revision"))


def rule_of(revision: Revision) -> Rule:
    """Return the rule that a revision is bound to."""
    return _rule(revision.rule)


@lru_cache(maxsize=1024)
def _rule(text: str) -> Rule:
    """Rules are few and revisions are many: each text is read, and what it hashes to worked out, once."""
    return Rule.read(json.loads(text))


def rebound(proposal: Proposal, revision: Revision) -> Binding:
    """Return the binding recomputed from what is stored: the text itself, never a digest of it (I2)."""
    rule = rule_of(revision)
    return Binding(
        workspace=proposal.workspace_id,
        proposal=proposal.id,
        revision=revision.number,
        agent=proposal.agent_id,
        principal=proposal.principal,
        kind=Kind(proposal.kind),
        tool=proposal.tool,
        tool_schema=rule.schema_digest,
        arguments=revision.arguments,
        risk=proposal.risk,
        policy=rule.digest,
        expires=None if revision.bound_expiry == FOREVER else proposal.expires_at,
    )


def electorates_of(proposals: Sequence[Proposal], now: datetime) -> dict[UUID, Electorate]:
    """Return for each proposal everyone with a role in its workspace, and who of them is not independent."""
    return _electorates(proposals, now, identities())


def _electorates(proposals: Sequence[Proposal], now: datetime, known: Identities) -> dict[UUID, Electorate]:
    memberships = _memberships({proposal.workspace_id for proposal in proposals}, known)
    conflicts = _conflicts(proposals, now, known)
    return {
        proposal.id: Electorate(
            kind=Kind(proposal.kind),
            agent=proposal.agent.name if proposal.agent else None,
            submitted_at=proposal.submitted_at,
            conflicts=conflicts[proposal.id],
            memberships=memberships[proposal.workspace_id],
        )
        for proposal in proposals
    }


def electorate_of(proposal: Proposal, now: datetime) -> Electorate:
    """Return the electorate of one proposal."""
    return electorates_of([proposal], now)[proposal.id]


def conflicts_of(proposal: Proposal, now: datetime) -> dict[UUID, Reason]:
    """Return who is in conflict with `proposal`: stored with its revisions, or by what the tables say now."""
    return _conflicts([proposal], now, identities())[proposal.id]


def not_independent_of(origins: Collection[UUID], now: datetime) -> Collection[UUID]:
    """Return who is in conflict with one of `origins`; nobody where there are none."""
    theirs = _conflicts_by_id(origins, now, identities()) if origins else {}
    return {person for conflicts in theirs.values() for person in conflicts}


def origins_of(revision: Revision) -> tuple[UUID, ...]:
    """Return the proposals that brought what `revision` lets out again or decides between, as the gate found them."""
    return tuple(UUID(named) for named in revision.gate.get("origins", ()))


def submitted_by(
    proposal: Proposal, token: AgentToken | None, now: datetime, *, author: Person | None = None
) -> dict[UUID, Reason]:
    """Return who is in conflict with a revision of `proposal` that is made now, with `token` or by `author`."""
    return conflict_set(
        owners_then=_owners_at(_ownerships([proposal])[proposal.agent_id], now),
        principals={proposal.principal} - {proposal.agent_id},
        authors={author.id} if author else (),
        minters={token.minted_by_id} if token else (),
    )


def electorate_with(proposal: Proposal, conflicts: Conflicts) -> Electorate:
    """Return the electorate of a proposal that is not stored yet."""
    known = identities()
    return Electorate(
        kind=Kind(proposal.kind),
        agent=proposal.agent.name if proposal.agent else None,
        submitted_at=proposal.submitted_at,
        conflicts=known.folded(conflicts),
        memberships=_memberships({proposal.workspace_id}, known)[proposal.workspace_id],
    )


def _case(proposal: Proposal, read: _Read) -> Case:
    revision = read.revisions[proposal.id]
    bound, now_in_force = rule_of(revision), read.rules(proposal.workspace_id, proposal.tool)
    held, release = proposal.status == Status.QUARANTINED, read.rules(proposal.workspace_id, RELEASE)
    return Case(
        status=Status(proposal.status),
        revision=proposal.revision,
        binding=proposal.binding,
        recomputed=rebound(proposal, revision).digest(),
        policy_bound=bound.digest,
        policy_now=now_in_force.digest,
        expires_at=proposal.expires_at,
        rule=release if held else bound,
        arguments=read.arguments[proposal.id],
        electorate=read.electorates[proposal.id],
        votes=read.votes[proposal.id],
        deciding_bound=revision.deciding_digest if held else "",
        deciding_now=release.digest if held else "",
        overtaken=proposal.id in read.overtaken,
        outdated=proposal.id in read.outdated,
    )


def _overtaken(proposals: Sequence[Proposal], arguments: Mapping[UUID, Any]) -> set[UUID]:
    """Return which of `proposals` are open changes of the policy, made for a version that no longer runs."""
    running = cache(in_force)
    changes = (one for one in proposals if one.kind == Kind.POLICY_CHANGE and one.status in OPEN)
    return {one.id for one in changes if arguments[one.id]["replaces"] != running(one.workspace_id).version}


def _votes(proposals: Sequence[Proposal], known: Identities) -> dict[UUID, tuple[Vote, ...]]:
    votes: dict[UUID, tuple[Vote, ...]] = defaultdict(tuple)
    for row in _decisions(_ids(proposals)):
        votes[row.proposal_id] += (Vote(known.one(row.person_id), row.binding, row.verdict),)
    return votes


@prepared
def _decisions(proposals: tuple[UUID, ...]) -> QuerySet[Decision]:
    return Decision.objects.filter(proposal__in=proposals)


def memberships_of(workspace: UUID) -> tuple[independence.Membership, ...]:
    """Return every membership there was in `workspace`; the rules judge which hold."""
    return _memberships({workspace}, identities())[workspace]


def _memberships(
    workspaces: Iterable[UUID], known: Identities
) -> dict[UUID, tuple[independence.Membership, ...]]:
    """Return every membership there was in each workspace; the rules judge which hold."""
    found: dict[UUID, tuple[independence.Membership, ...]] = defaultdict(tuple)
    asked = tuple(workspaces)
    vouched_by: dict[UUID, set[UUID]] = defaultdict(set)
    for person, voucher in _accounts(asked):
        vouched_by[known.one(person)] |= {known.one(voucher)} if voucher else set()
    for row in _ever_held(asked):
        found[row.workspace] += (_membership(row, vouched_by.get(known.one(row.person)), known),)
    return found


class _Held(NamedTuple):
    """A membership, and when the person who holds it, and the one that he turned out to be, were disabled."""

    workspace: UUID
    person: UUID
    role: str
    since: datetime
    until: datetime | None
    granted_by: UUID | None
    groups: list[str]
    disabled_at: datetime | None
    other_disabled_at: datetime | None


def _ever_held(workspaces: tuple[UUID, ...]) -> list[_Held]:
    return [_Held(*row) for row in _held_columns(workspaces)]


@prepared
def _held_columns(workspaces: tuple[UUID, ...]) -> QuerySet[Membership, tuple[Any, ...]]:
    """The members of `_Held`. Plain values: every proposal reads these, and a model each would cost half of it."""
    held = Membership.objects.filter(workspace__in=workspaces)
    disabled = ("person__disabled_at", "person__same_as__disabled_at")
    return held.values_list(*_Held._fields[:-2], *disabled)


@prepared
def _accounts(workspaces: tuple[UUID, ...]) -> QuerySet[User, tuple[UUID, UUID | None]]:
    """The person of each account that can sign in, and who vouched for it."""
    people = Membership.objects.filter(workspace__in=workspaces).values("person")
    accounts = User.objects.filter(Q(person__in=people) | Q(person__doubles__in=people), is_active=True)
    return accounts.values_list("person", "vouched_by")


def _membership(row: _Held, vouched_by: set[UUID] | None, known: Identities) -> independence.Membership:
    """`vouched_by` is None for somebody without an account that can sign in."""
    return independence.Membership(
        person=known.one(row.person),
        role=independence.Role(row.role),
        since=row.since,
        until=row.until,
        granted_by=row.granted_by and known.one(row.granted_by),
        groups=frozenset(row.groups),
        is_active=vouched_by is not None and row.disabled_at is None and row.other_disabled_at is None,
        vouched_by=frozenset(vouched_by or ()),
    )


def _conflicts(
    proposals: Sequence[Proposal], now: datetime, known: Identities
) -> dict[UUID, dict[UUID, Reason]]:
    """Return the union of what was stored with the revisions and what the tables say now.

    What has origins has all of theirs: those were decided before, so this goes one step back.
    """
    stored: dict[UUID, dict[UUID, Reason]] = defaultdict(dict)
    for row in _stored_conflicts(_ids(proposals)):
        stored[row.proposal_id][row.person_id] = Reason(row.reason)
    revisions: dict[UUID, list[Revision]] = defaultdict(list)
    for written in _revisions(_ids(proposals)):
        revisions[written.proposal_id].append(written)
    recomputed = _recomputed(proposals, revisions, now)
    inherited = _inherited(revisions, now, known)
    return {
        proposal.id: known.folded(
            union(stored[proposal.id], recomputed[proposal.id], inherited.get(proposal.id, {}))
        )
        for proposal in proposals
    }


def _inherited(
    revisions: Mapping[UUID, list[Revision]], now: datetime, known: Identities
) -> dict[UUID, dict[UUID, Reason]]:
    """Return for each proposal that has origins who is in conflict with one of them."""
    origins = {id_: named for id_, written in revisions.items() if (named := origins_of(written[-1]))}
    if not origins:
        return {}
    theirs = _conflicts_by_id({origin for named in origins.values() for origin in named}, now, known)
    return {
        id_: dict.fromkeys((person for one in named for person in theirs.get(one, ())), Reason.ORIGIN)
        for id_, named in origins.items()
    }


def _conflicts_by_id(
    proposals: Iterable[UUID], now: datetime, known: Identities
) -> dict[UUID, dict[UUID, Reason]]:
    return _conflicts(list(Proposal.objects.filter(pk__in=set(proposals))), now, known)


@prepared
def _stored_conflicts(proposals: tuple[UUID, ...]) -> QuerySet[Conflict]:
    return Conflict.objects.filter(proposal__in=proposals)


def _recomputed(
    proposals: Sequence[Proposal], revisions: Mapping[UUID, list[Revision]], now: datetime
) -> dict[UUID, dict[UUID, Reason]]:
    ownerships = _ownerships(proposals)
    rule_changers = _rule_changers(proposals, revisions)
    return {
        proposal.id: _conflict_set(
            proposal, ownerships[proposal.agent_id], revisions[proposal.id], rule_changers[proposal.id], now
        )
        for proposal in proposals
    }


@prepared
def _revisions(proposals: tuple[UUID, ...]) -> QuerySet[Revision]:
    columns = ("proposal", "created_at", "author_person", "token", "token__minted_by", "gate")
    return Revision.objects.filter(proposal__in=proposals).select_related("token").only(*columns)


def _conflict_set(
    proposal: Proposal, owned: list[Ownership], revisions: list[Revision], changers: set[UUID], now: datetime
) -> dict[UUID, Reason]:
    return conflict_set(
        owners_then={person for revision in revisions for person in _owners_at(owned, revision.created_at)},
        owners_now=_owners_at(owned, now),
        principals={proposal.principal} - {proposal.agent_id},
        authors={revision.author_person_id for revision in revisions if revision.author_person_id},
        minters={revision.token.minted_by_id for revision in revisions if revision.token},
        rule_changers=changers,
    )


def _ownerships(proposals: Sequence[Proposal]) -> Mapping[UUID | None, list[Ownership]]:
    found: dict[UUID | None, list[Ownership]] = defaultdict(list)
    for row in _ever_owned(tuple({proposal.agent_id for proposal in proposals if proposal.agent_id})):
        found[row.agent_id].append(row)
    return found


@prepared
def _ever_owned(agents: tuple[UUID, ...]) -> QuerySet[Ownership]:
    return Ownership.objects.filter(agent__in=agents)


def _owners_at(ownerships: Iterable[Ownership], at: datetime) -> set[UUID]:
    return {row.person_id for row in ownerships if row.since <= at and (row.until is None or at < row.until)}


def _rule_changers(
    proposals: Sequence[Proposal], revisions: Mapping[UUID, list[Revision]]
) -> dict[UUID, set[UUID]]:
    """Return who changed, since a proposal was submitted, a rule that applies to it: wrote or approved the change."""
    found: dict[UUID, set[UUID]] = defaultdict(set)
    versions = _versions_since(proposals)
    brought = changers(versions)
    for proposal in proposals:
        tools = _ruled_by(proposal, revisions[proposal.id])
        for version in versions:
            if _changes(version, proposal, tools):
                found[proposal.id] |= brought[version.id]
    return found


def _versions_since(proposals: Sequence[Proposal]) -> list[PolicyVersion]:
    if not proposals:
        return []
    workspaces = {proposal.workspace_id for proposal in proposals}
    return _newer_versions(tuple(workspaces), min(proposal.created_at for proposal in proposals))


@prepared
def _newer_versions(workspaces: tuple[UUID, ...], than: datetime) -> QuerySet[PolicyVersion]:
    newer = PolicyVersion.objects.filter(workspace__in=workspaces, created_at__gt=than)
    return newer.order_by("version").defer("document")


def _ruled_by(proposal: Proposal, revisions: Iterable[Revision]) -> tuple[str, ...]:
    """The tools whose rules apply: what was ever held is released under that of `memory.release`."""
    held = any(revision.gate["outcome"] == Outcome.QUARANTINE for revision in revisions)
    return (proposal.tool, RELEASE) if held else (proposal.tool,)


def _changes(version: PolicyVersion, proposal: Proposal, tools: Iterable[str]) -> bool:
    if version.workspace_id != proposal.workspace_id or not proposal.created_at < version.created_at:
        return False
    if proposal.decided_at is not None and proposal.decided_at <= version.created_at:
        return False  # it was decided by then, so that rule had no say in it
    before, after = (
        [resolved_in(proposal.workspace_id, number, tool).digest for tool in tools]
        for number in (version.version - 1, version.version)
    )
    return before != after
