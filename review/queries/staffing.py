"""Who is missing for the policy in force, and for each agent: asked before a proposal waits in vain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from review.access.models import Agent, AgentToken, Membership, Workspace
from review.access.queries import owners_now
from review.access.staffing import Gap
from review.domain.binding import Kind
from review.domain.independence import Electorate, conflict_set
from review.queries.cases import memberships_of
from review.queries.identity import identities
from review.queries.policies import in_force


def empty_groups(workspace: Workspace, now: datetime) -> Iterator[Gap]:
    """A group that the policy names and nobody belongs to blocks every proposal of its rules (I11)."""
    members: dict[str, set[UUID]] = defaultdict(set)
    for person, groups in (
        Membership.objects.active(now).filter(workspace=workspace).values_list("person", "groups")
    ):
        for group in groups:
            members[group].add(person)
    for name, needed in sorted(_named(workspace).items()):
        if len(members[name]) < needed:
            yield Gap(
                _("The group %(name)s has %(has)d of %(needed)d people.")
                % {"name": name, "has": len(members[name]), "needed": needed},
                _("What its rules ask for is refused until enough people have a role with this group."),
            )


def undecidable_agents(workspace: Workspace, now: datetime) -> Iterator[Gap]:
    """An agent whose proposals nobody independent could approve: of its owners, its minters and of whom they let in."""
    agents = list(Agent.objects.filter(workspace=workspace, stopped_at=None).order_by("name"))
    memberships = memberships_of(workspace.id)
    for agent, teams in _behind(agents, now):
        electorates = (
            Electorate(Kind.TOOL_CALL, agent.name, now, conflict_set(minters=people), memberships)
            for people in teams
        )
        if teams and not any(who_decides.eligible(now) for who_decides in electorates):
            yield Gap(
                _("Nobody can approve what %(agent)s proposes.") % {"agent": agent.name},
                _(
                    "Its owner, who minted its token, and everybody to whom they gave a role or a link to a password "
                    "do not count. Let another manager mint the token, or grant a reviewer's role."
                ),
            )


def _named(workspace: Workspace) -> dict[str, int]:
    """Return the groups that the policy in force names, with the most people that one rule asks of each."""
    needed: dict[str, int] = {}
    for rule in in_force(workspace.id).document.get("rules", ()):
        for group in rule.get("groups", ()):
            needed[group["name"]] = max(needed.get(group["name"], 0), group["approvals"])
    return needed


def _behind(agents: Sequence[Agent], now: datetime) -> Iterator[tuple[Agent, list[set[UUID]]]]:
    """Yield each agent, with who answers for what it proposes with each of its tokens: owners and minter."""
    who = identities().one
    owners = owners_now([agent.id for agent in agents], now)
    minters: dict[UUID, set[UUID]] = defaultdict(set)
    tokens = AgentToken.objects.filter(agent__in=agents, revoked_at=None, expires_at__gt=now)
    for token in tokens.only("agent", "minted_by"):
        minters[token.agent_id].add(who(token.minted_by_id))
    for agent in agents:
        answering = {who(owner.id) for owner in owners[agent.id]}
        yield agent, [answering | {minter} for minter in minters[agent.id]]
