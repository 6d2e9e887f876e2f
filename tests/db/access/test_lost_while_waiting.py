"""Who loses a role while his own step waits for its turn has lost it: nothing of his stands in the log after that."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.utils import timezone

from review.access import queries
from review.access.models import Membership
from review.access.refusals import NotFound
from review.access.roles import Role, Scope
from review.access.services import rules
from review.access.services.agents import create_agent, resume_agent, stop_agent, transfer_agent
from review.access.services.delegations import grant_delegation
from review.access.services.memberships import grant_membership, revoke_membership
from review.access.services.minting import mint_token, revoke_token
from review.access.services.passwords import reset_password
from review.access.services.people import (
    create_person_with_account,
    disable_person,
    link_account,
    link_people,
)
from review.audit.models import Entry
from review.audit.transaction import write
from review.webhooks.models import Message
from review.webhooks.services import (
    register_webhook,
    remove_webhook,
    rotate_secret,
    send_test,
    try_again,
)
from tests.support import factories

pytestmark = pytest.mark.django_db
ADDRESS = "http://127.0.0.1:9/told"
Step = Callable[[], Any]


@pytest.fixture
def steps(settings: Any) -> dict[str, Step]:
    """What dana, who manages acme, can do there, each with its ground prepared."""
    settings.HUQAN_WEBHOOK_HOSTS = ["127.0.0.1"]
    cast = factories.team()
    acme, scout, dana = cast.acme.id, cast.scout.agent.id, cast.dana
    alices = Membership.objects.get(person=cast.alice.person)
    webhook = register_webhook(scout, ADDRESS, by=dana).webhook.id
    send_test(webhook, by=dana)
    message = Message.objects.get()
    Message.objects.update(given_up_at=timezone.now(), due_at=None)
    stopped = factories.agent("ranger", cast.acme, cast.erin).agent
    stop_agent(stopped.id, reason="It went wrong.", by=cast.erin)
    return {
        "agents.create": lambda: create_agent(acme, "robin", owner=cast.bob.person.id, by=dana),
        "agents.transfer": lambda: transfer_agent(scout, to=cast.alice.person.id, by=dana),
        "agents.stop": lambda: stop_agent(scout, reason="It went wrong.", by=dana),
        "agents.resume": lambda: resume_agent(stopped.id, by=dana),
        "delegations.grant": lambda: grant_delegation(scout, by=dana),
        "memberships.grant": lambda: grant_membership(cast.bob.person.id, acme, Role.MANAGER, by=dana),
        "memberships.revoke": lambda: revoke_membership(alices.id, by=dana),
        "minting.mint": lambda: mint_token(scout, scopes=[Scope.READ], by=dana),
        "minting.revoke": lambda: revoke_token(cast.scout.token.id, by=dana),
        "passwords.reset": lambda: reset_password("alice", by=dana),
        "people.create": lambda: create_person_with_account("Zoe", "zoe", by=dana, workspace=acme),
        "people.disable": lambda: disable_person(cast.alice.person.id, by=dana),
        "people.link_account": lambda: link_account(cast.alice.person.id, "alice.again", by=dana),
        "people.link": lambda: link_people(cast.alice.person.id, cast.carol.person.id, by=dana),
        "webhooks.register": lambda: register_webhook(scout, f"{ADDRESS}/too", by=dana),
        "webhooks.rotate": lambda: rotate_secret(webhook, by=dana),
        "webhooks.remove": lambda: remove_webhook(webhook, by=dana),
        "webhooks.test": lambda: send_test(webhook, by=dana),
        "webhooks.again": lambda: try_again(message.id, by=dana),
    }


STEPS = (
    *("agents.create", "agents.transfer", "agents.stop", "agents.resume", "delegations.grant"),
    *("memberships.grant", "memberships.revoke", "minting.mint", "minting.revoke", "passwords.reset"),
    *("people.create", "people.disable", "people.link_account", "people.link"),
    *("webhooks.register", "webhooks.rotate", "webhooks.remove", "webhooks.test", "webhooks.again"),
)


def module_of(name: str) -> Any:
    place = name.partition(".")[0]
    here = "review.webhooks.services" if place == "webhooks" else f"review.access.services.{place}"
    return importlib.import_module(here)


@contextmanager
def waited_for_while_dana_loses_her_role() -> Iterator[Any]:
    """The write lock, as somebody has it who came in time and got his turn once the role was gone."""
    Membership.objects.filter(person__name="dana").update(until=timezone.now())
    with write() as opened:
        yield opened


@pytest.mark.parametrize("name", STEPS)
def test_nothing_is_done_with_a_role_that_was_lost_while_the_step_waited(
    steps: dict[str, Step], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, messages = Entry.objects.count(), Message.objects.filter(due_at__isnull=False).count()
    monkeypatch.setattr(module_of(name), "write", waited_for_while_dana_loses_her_role)
    with pytest.raises(Exception) as refused:  # noqa: PT011  its code says which
        steps[name]()
    assert getattr(refused.value, "code", refused.value) in ("not_found", "not_manager")
    assert Entry.objects.count() == before
    assert Message.objects.filter(due_at__isnull=False).count() == messages


@pytest.mark.parametrize("name", STEPS)
def test_with_the_role_each_of_them_is_done(steps: dict[str, Step], name: str) -> None:
    before, messages = Entry.objects.count(), Message.objects.filter(due_at__isnull=False).count()
    steps[name]()
    waiting = Message.objects.filter(due_at__isnull=False).count()
    assert Entry.objects.count() > before or waiting > messages


def test_who_loses_his_last_role_between_two_looks_is_not_taken_for_another_member(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cast, looks = factories.team(), iter([["manager"]])
    monkeypatch.setattr(queries, "_roles", lambda *_: next(looks, []))
    rules.require_manager(cast.dana, cast.acme.id, timezone.now())
    with pytest.raises(NotFound):
        rules.require_manager(cast.dana, cast.acme.id, timezone.now())
