"""An agent is who its token says, and every wrong token is answered alike."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from django.test import RequestFactory
from django.utils import timezone

from review.access import tokens
from review.access.actors import AgentActor
from review.access.models import AgentToken
from review.access.refusals import AgentStopped, MissingScope, Unauthorized
from review.access.roles import Scope
from review.access.services.agents import resume_agent, stop_agent
from review.access.services.minting import revoke_token
from review.access.services.people import disable_person
from tests.db.access.house import OPERATOR, House

Spoil = Callable[[str], list[str]]


def authenticated(*values: str) -> AgentActor:
    return tokens.authenticate(values, now=timezone.now())


def test_an_agent_is_known_by_its_token(house: House) -> None:
    minted = house.mint()
    actor = authenticated(f"Bearer {minted.text}")
    assert actor.agent == house.scout
    assert actor.agent.workspace == house.acme
    assert actor.audit().token == minted.token.handle


def test_only_a_digest_of_the_secret_is_stored(house: House) -> None:
    minted = house.mint()
    prefix, handle, secret = minted.text.split("_")
    stored = AgentToken.objects.values().get(handle=handle)
    assert (prefix, stored["digest"]) == ("hqn", tokens.digest(secret))
    assert secret not in str(stored)
    assert len(secret) * 4 >= 128


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: [],
        lambda text: [""],
        lambda text: [text],
        lambda text: [f"Basic {text}"],
        lambda text: [f"Bearer {text}0"],
        lambda text: [f"Bearer {text[:-1]}g"],
        lambda text: [f"Bearer  {text}"],
        lambda text: [f"Bearer {text} "],
        lambda text: [f"Bearer {text}\n"],
        lambda text: [f"Bearer {text.upper()}"],
        lambda text: [f"Bearer {text[:-4]}{'0000' if text[-4:] != '0000' else '1111'}"],
        lambda text: [f"Bearer hqn_{'0' * 12}_{text.split('_')[2]}"],
        lambda text: [f"Bearer {text}", f"Bearer {text}"],
        lambda text: [f"Bearer {text},Bearer {text}"],
    ],
)
def test_a_token_that_is_not_exactly_right_opens_nothing(house: House, spoil: Spoil) -> None:
    text = house.mint().text
    assert authenticated(f"bearer {text}").agent == house.scout
    with pytest.raises(Unauthorized) as refused:
        authenticated(*spoil(text))
    assert refused.value.detail == Unauthorized.detail
    assert not refused.value.extra


def test_a_revoked_token_opens_nothing(house: House) -> None:
    minted, other = house.mint(), house.mint()
    revoke_token(minted.token.id, by=house.dana)
    assert authenticated(f"Bearer {other.text}")
    with pytest.raises(Unauthorized):
        authenticated(f"Bearer {minted.text}")


def test_a_token_ends_at_its_last_moment_and_not_before(house: House) -> None:
    minted = house.mint()
    end = minted.token.expires_at
    assert tokens.authenticate([f"Bearer {minted.text}"], now=end - timedelta(microseconds=1))
    with pytest.raises(Unauthorized):
        tokens.authenticate([f"Bearer {minted.text}"], now=end)


def test_a_token_in_the_address_is_refused_even_beside_a_good_header(house: House) -> None:
    text = house.mint().text
    header = {"authorization": f"Bearer {text}"}
    assert tokens.authenticate_request(RequestFactory().get("/api/v1/me", headers=header))
    for headers in (header, {}):
        asked = RequestFactory().get("/api/v1/me", {"access_token": text}, headers=headers)
        with pytest.raises(Unauthorized):
            tokens.authenticate_request(asked)


def test_a_cookie_is_no_credential_of_an_agent(house: House) -> None:
    request = RequestFactory().get("/api/v1/me")
    request.COOKIES["authorization"] = f"Bearer {house.mint().text}"
    with pytest.raises(Unauthorized):
        tokens.authenticate_request(request)


def test_an_unknown_handle_costs_the_same_comparison(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    text, compared = house.mint().text, []
    real = tokens.hmac.compare_digest
    monkeypatch.setattr(tokens.hmac, "compare_digest", lambda a, b: compared.append(len(a)) or real(a, b))
    for value in (f"Bearer {text}", f"Bearer hqn_{'0' * 12}_{'0' * 48}", "nonsense"):
        with suppress(Unauthorized):
            authenticated(value)
    assert compared == [64, 64, 64]


def test_a_token_does_only_what_its_scopes_say(house: House) -> None:
    actor = authenticated(f"Bearer {house.mint().text}")
    tokens.require_scope(actor, Scope.PROPOSE)
    with pytest.raises(MissingScope) as refused:
        tokens.require_scope(actor, Scope.REDEEM)
    assert refused.value.extra == {"scope": "redeem"}


def test_a_stopped_agent_changes_nothing_and_can_still_read(house: House) -> None:
    text = house.mint().text
    tokens.require_running(authenticated(f"Bearer {text}"), now=timezone.now())
    stop_agent(house.scout.id, reason="It went wrong.", by=house.dana)
    with pytest.raises(AgentStopped):
        tokens.require_running(authenticated(f"Bearer {text}"), now=timezone.now())
    resume_agent(house.scout.id, by=house.erin)
    tokens.require_running(authenticated(f"Bearer {text}"), now=timezone.now())


def test_an_agent_for_which_nobody_active_answers_is_as_good_as_stopped(house: House) -> None:
    actor = authenticated(f"Bearer {house.mint().text}")
    tokens.require_running(actor, now=timezone.now())
    disable_person(house.bob.person.id, by=OPERATOR)
    with pytest.raises(AgentStopped):
        tokens.require_running(actor, now=timezone.now())
