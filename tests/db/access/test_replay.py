"""No role and no token without its entry: what was put into the tables by hand is found, and what was taken out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from review.access import replay
from review.access.actors import SystemActor
from review.access.models import AgentToken, Membership
from review.access.roles import Role
from review.access.services.agents import create_agent
from review.access.services.memberships import grant_membership, revoke_membership
from review.access.services.minting import mint_token, revoke_token
from review.access.tokens import Scope
from tests.support import factories
from tests.support.factories import Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Team:
    """The cast, whose rows have no entries; then carol manages, nina's role has ended, and two agents have tokens."""
    cast = factories.team()
    AgentToken.objects.all().delete()
    Membership.objects.exclude(person__in=[cast.dana.person, cast.bob.person]).delete()
    console = SystemActor()
    grant_membership(cast.carol.person.id, cast.acme.id, Role.MANAGER, by=console, groups=["security"])
    ended = grant_membership(cast.nina.person.id, cast.globex.id, Role.REVIEWER, by=console)
    revoke_membership(ended.id, by=console)
    agent = create_agent(cast.acme.id, "keeper", owner=cast.bob.person.id, by=cast.dana)
    mint_token(agent.id, scopes=[Scope.READ], by=cast.dana)
    revoke_token(mint_token(agent.id, scopes=[Scope.READ], by=cast.dana).token.id, by=cast.dana)
    Membership.objects.filter(person__in=[cast.dana.person, cast.bob.person]).delete()
    return cast


def faults() -> list[str]:
    return [sentence for sentence in (*replay.roles(), *replay.tokens()) if sentence]


def test_what_the_services_did_is_explained(cast: Team) -> None:
    assert faults() == []
    assert len([*replay.roles(), *replay.tokens()]) == 4


def role(cast: Team) -> Membership:
    return Membership.objects.get(person=cast.carol.person)


def good() -> AgentToken:
    return AgentToken.objects.get(revoked_at=None)


def revoked() -> AgentToken:
    return AgentToken.objects.get(revoked_at__isnull=False)


def put_in_a_role(cast: Team) -> None:
    since = timezone.now() - timedelta(days=9)
    Membership.objects.create(person=cast.alice.person, workspace=cast.acme, role="manager", since=since)


def backdate_a_role(cast: Team) -> None:
    Membership.objects.filter(pk=role(cast).pk).update(since=timezone.now() - timedelta(days=9))


def change_a_role(cast: Team) -> None:
    Membership.objects.filter(pk=role(cast).pk).update(role="reviewer")


def open_an_ended_role(cast: Team) -> None:
    Membership.objects.update(until=None)


def add_a_group(cast: Team) -> None:
    Membership.objects.filter(pk=role(cast).pk).update(groups=["security", "finance"])


def take_a_role_out(cast: Team) -> None:
    role(cast).delete()


def put_in_a_token(cast: Team) -> None:
    factories.token(good().agent, cast.alice, ["propose"])


def revive_a_token(cast: Team) -> None:
    AgentToken.objects.update(revoked_at=None)


def swap_the_secret(cast: Team) -> None:
    AgentToken.objects.filter(pk=good().pk).update(digest="ab" * 32)


def widen_a_token(cast: Team) -> None:
    AgentToken.objects.filter(pk=good().pk).update(scopes=["read", "redeem"])


def prolong_a_token(cast: Team) -> None:
    AgentToken.objects.filter(pk=good().pk).update(expires_at=timezone.now() + timedelta(days=999))


def take_a_token_out(cast: Team) -> None:
    revoked().delete()


@pytest.mark.parametrize(
    "harm",
    [
        *(put_in_a_role, backdate_a_role, change_a_role, open_an_ended_role, add_a_group, take_a_role_out),
        *(put_in_a_token, revive_a_token, swap_the_secret, widen_a_token, prolong_a_token, take_a_token_out),
    ],
)
def test_what_was_done_behind_the_consoles_back_is_named(cast: Team, harm: Callable[[Team], None]) -> None:
    harm(cast)
    assert len(faults()) >= 1
