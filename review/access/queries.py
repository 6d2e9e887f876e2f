"""Who belongs where: the only reader of this app outside its services.

`at` and `now` are aware datetimes; ids of people, workspaces and agents are UUIDs. Every function
takes the same number of queries however many rows there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from review.access.models import (
    Agent,
    AgentToken,
    Delegation,
    Membership,
    Ownership,
    Person,
    RequestCount,
    User,
    Workspace,
)
from review.access.roles import Role
from review.audit.statements import prepared


class Member(NamedTuple):
    """A person as a workspace knows him: his accounts and the memberships that hold now."""

    person: Person
    accounts: list[str]
    memberships: list[Membership]

    @property
    def roles(self) -> list[str]:
        return [membership.role for membership in self.memberships]


def _holding(at: datetime) -> Q:
    """Ownerships and delegations that hold at `at`: from `since` on, until just before `until`."""
    return Q(since__lte=at) & (Q(until__isnull=True) | Q(until__gt=at))


# People and workspaces.


def account(username: str) -> User | None:
    """Return the account of that name, whatever the letter case, with its person."""
    return User.objects.select_related("person").filter(username__iexact=username).first()


def workspace(name: str) -> Workspace | None:
    """Return the workspace of that name, whatever the letter case."""
    return Workspace.objects.filter(name__iexact=name).first()


def all_workspaces() -> list[Workspace]:
    """Return every workspace, by name. For the operator; no page and no agent asks this."""
    return list(Workspace.objects.order_by("name"))


@prepared
def memberships_of(person: UUID, now: datetime) -> QuerySet[Membership]:
    """Return the memberships of `person` that hold now, with their workspaces, by workspace name."""
    held = Membership.objects.active(now).held_by(person).select_related("workspace")
    return held.order_by("workspace__name", "role")


def workspaces_of(person: UUID, now: datetime) -> list[Workspace]:
    """Return the workspaces in which `person` has any role now, by name."""
    return list({m.workspace_id: m.workspace for m in memberships_of(person, now)}.values())


def managed_by(person: UUID, now: datetime) -> list[Workspace]:
    """Return the workspaces that `person` manages now, by name."""
    return [m.workspace for m in memberships_of(person, now) if m.role == Role.MANAGER]


def managed_ids(person: UUID, now: datetime) -> list[UUID]:
    return [workspace.id for workspace in managed_by(person, now)]


def workspaces_ever(person: UUID) -> set[UUID]:
    """Return the workspaces in which `person` has or had a role."""
    return set(Membership.objects.held_by(person).values_list("workspace", flat=True))


def roles_in(workspace: UUID, person: UUID, now: datetime) -> set[str]:
    """Return the roles that `person` has there, by one look: who asks twice may see the last one end in between."""
    return set(_roles(person, workspace, now))


def has_role(person: UUID, workspace: UUID, role: Role, now: datetime) -> bool:
    return role in _roles(person, workspace, now)


def is_manager(person: UUID, workspace: UUID, now: datetime) -> bool:
    return has_role(person, workspace, Role.MANAGER, now)


def is_member(person: UUID, workspace: UUID, now: datetime) -> bool:
    return bool(_roles(person, workspace, now))


@prepared
def _roles(person: UUID, workspace: UUID, now: datetime) -> QuerySet[Membership, str]:
    held = Membership.objects.active(now).held_by(person).filter(workspace_id=workspace)
    return held.values_list("role", flat=True)


def members(workspace: UUID, now: datetime) -> list[Member]:
    """Return everyone with a role in `workspace` now, by name."""
    held = (
        Membership.objects.active(now)
        .filter(workspace_id=workspace)
        .select_related("person")
        .order_by("role")
    )
    grouped: dict[UUID, list[Membership]] = defaultdict(list)
    for membership in held:
        grouped[membership.person_id].append(membership)
    accounts = account_names(grouped)
    found = [Member(rows[0].person, accounts[person], rows) for person, rows in grouped.items()]
    return sorted(found, key=lambda member: (member.person.name.casefold(), member.person.id))


def account_names(people: Iterable[UUID]) -> dict[UUID, list[str]]:
    """Return the account names of each of `people`; an empty list for one who has none."""
    names: dict[UUID, list[str]] = {person: [] for person in people}
    rows = User.objects.filter(person_id__in=names).order_by("username").values_list("person_id", "username")
    for person, username in rows:
        names[person].append(username)
    return names


def last_sign_ins(workspaces: Iterable[UUID], now: datetime) -> dict[str, datetime]:
    """Return when each account of the members last signed in, by its name; those that never did are missing."""
    members = Membership.objects.active(now).filter(workspace__in=list(workspaces)).values("person")
    rows = User.objects.filter(person__in=members, last_login__isnull=False)
    return {username: at for username, at in rows.values_list("username", "last_login") if at}


def accounts_of(person: UUID) -> list[User]:
    """Return the accounts of `person`, by name."""
    return list(User.objects.filter(person_id=person).order_by("username"))


def person(person_id: UUID) -> Person | None:
    return Person.objects.filter(id=person_id).first()


# Agents.


def owners(agent: UUID, at: datetime) -> set[UUID]:
    """Return who answered for `agent` at `at`."""
    return set(Ownership.objects.filter(_holding(at), agent_id=agent).values_list("person_id", flat=True))


def owners_now(agents: Iterable[UUID], now: datetime) -> dict[UUID, list[Person]]:
    """Return for each agent the people who answer for it now."""
    answering: dict[UUID, list[Person]] = {agent: [] for agent in agents}
    for row in _owning(tuple(answering), now):
        answering[row.agent_id].append(row.person)
    return answering


@prepared
def _owning(agents: tuple[UUID, ...], now: datetime) -> QuerySet[Ownership]:
    rows = Ownership.objects.filter(_holding(now), agent_id__in=agents).select_related("person")
    return rows.order_by("person__name")


def has_active_owner(agent: UUID, now: datetime) -> bool:
    """An agent for which nobody active answers is as good as stopped."""
    return bool(_one_who_answers(agent, now))


@prepared
def _one_who_answers(agent: UUID, now: datetime) -> QuerySet[Ownership, UUID]:
    return answered(now).filter(agent_id=agent).values_list("person_id", flat=True)[:1]


def unanswered(now: datetime) -> list[UUID]:
    """Return the agents that run although nobody active answers for them now."""
    running = Agent.objects.filter(stopped_at__isnull=True).exclude(id__in=answered(now).values("agent"))
    return list(running.order_by("id").values_list("id", flat=True))


def answered(now: datetime) -> QuerySet[Ownership]:
    """Return the ownerships by which somebody answers for an agent now.

    He does while he has any role in its workspace, is not disabled, and has an account that can sign in.
    """
    roles = Membership.objects.active(now).filter(
        person=OuterRef("person"), workspace=OuterRef("agent__workspace")
    )
    accounts = User.objects.filter(person=OuterRef("person"), is_active=True)
    return Ownership.objects.filter(_holding(now), Exists(roles), Exists(accounts))


def agents_of(workspaces: Iterable[UUID]) -> QuerySet[Agent]:
    """Return the agents of `workspaces` with their tokens, newest token first."""
    tokens = AgentToken.objects.select_related("minted_by").order_by("-created_at")
    chosen = Agent.objects.filter(workspace_id__in=list(workspaces)).select_related("workspace", "stopped_by")
    return chosen.prefetch_related(Prefetch("tokens", tokens)).order_by("workspace__name", "name")


def usage(tokens: Iterable[UUID]) -> dict[UUID, tuple[datetime, int]]:
    """Return the minute in which each of `tokens` was last sent, and how often in it; those never sent are missing."""
    rows = RequestCount.objects.filter(token_id__in=list(tokens)).order_by("minute")
    return {
        token: (datetime.fromtimestamp(minute * 60, UTC), count)
        for token, minute, count in rows.values_list("token_id", "minute", "count")
    }


def may_act_for(agent: UUID, person: UUID, now: datetime) -> bool:
    """Whether `person`, active now, has let `agent` act for him."""
    granted = Delegation.objects.filter(_holding(now), agent_id=agent, person_id=person)
    return granted.filter(person__disabled_at__isnull=True).exists()


def delegations_to(agent: UUID, now: datetime) -> list[Delegation]:
    """Return who has let `agent` act for him and not taken it back, with the people."""
    held = Delegation.objects.filter(_holding(now), agent_id=agent)
    return list(held.select_related("person").order_by("person__name"))


def delegations_by(person: UUID, now: datetime) -> list[Delegation]:
    """Return what `person` has granted and not taken back, with the agents."""
    held = Delegation.objects.filter(_holding(now), person_id=person)
    return list(held.select_related("agent__workspace").order_by("agent__name"))


def managers(workspace: UUID, now: datetime) -> set[UUID]:
    """Return who manages `workspace` now; of two who turned out to be one person, one."""
    held = Membership.objects.active(now).filter(workspace_id=workspace, role=Role.MANAGER)
    rows = held.values_list("person_id", "person__same_as")
    return {same or person for person, same in rows}


def himself(person: UUID) -> UUID:
    """Return the id that counts for `person`: another one's, if he turned out to be that one."""
    return Person.objects.filter(id=person).values_list("same_as", flat=True).first() or person
