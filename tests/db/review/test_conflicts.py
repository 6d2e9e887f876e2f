"""Who may not approve is stored with each revision, so that nobody can be taken out of it later."""

from __future__ import annotations

import pytest

from review.access.models import AgentToken, Delegation
from review.models import Conflict
from review.services.revise import revise
from tests.support import factories
from tests.support.review_acts import call

pytestmark = pytest.mark.django_db


def stored(proposal: object) -> dict[str, str]:
    rows = Conflict.objects.filter(proposal=proposal).select_related("person")
    return {row.person.name: row.reason for row in rows}


def test_owner_minter_and_principal_are_stored_when_the_proposal_is_made(cast: factories.Team) -> None:
    token = factories.token(cast.scout.agent, cast.erin, ["propose"])
    since = AgentToken.objects.get(pk=token.pk).created_at
    Delegation.objects.create(agent=cast.scout.agent, person=cast.carol.person, since=since)
    proposal = call(factories.AgentActor(cast.scout.agent, token), on_behalf_of="carol")
    assert stored(proposal) == {"bob": "owner_then", "erin": "minter", "carol": "principal"}


def test_a_revision_adds_to_the_set_and_takes_nobody_out(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    later = factories.AgentActor(cast.scout.agent, factories.token(cast.scout.agent, cast.erin, ["propose"]))
    revise(proposal.id, by=later, replaces=1, arguments={"order": "2"})
    assert stored(proposal) == {"bob": "owner_then", "erin": "minter"}
