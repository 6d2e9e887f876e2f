"""What managers see and do on the pages of agents, and what the pages say when a second person is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from review.access import queries
from review.access.actors import PersonActor
from review.access.models import Agent, Membership
from review.access.services.agents import stop_agent
from review.access.services.delegations import grant_delegation
from review.webhooks.models import Message, Webhook
from review.webhooks.outbox import deliver_due
from review.webhooks.sending import Answer
from tests.support.factories import Team, agent, team
from tests.support.receiver import Receiver, receiving
from tests.support.review_acts import call, mail

Browsers = Callable[[PersonActor], Client]


@pytest.fixture
def cast(db: None) -> Team:
    return team()


@pytest.fixture
def browser_of() -> Iterator[Browsers]:
    cache.clear()

    def signed_in(who: PersonActor) -> Client:
        client = Client()
        client.force_login(who.user)
        return client

    yield signed_in
    cache.clear()


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with receiving() as running:
        settings.HUQAN_WEBHOOK_HOSTS = [running.authority]
        yield running


def page_of(browser: Client, who: Any) -> str:
    return browser.get(f"/agents/{who.agent.id}/").content.decode()


def test_a_manager_opens_his_agents_and_a_stranger_does_not_find_them(
    cast: Team, browser_of: Browsers
) -> None:
    address = f"/agents/{cast.scout.agent.id}/"
    assert browser_of(cast.dana).get(address).status_code == 200
    assert browser_of(cast.alice).get(address).status_code == 403
    assert browser_of(cast.mallory).get(address).status_code == 404
    assert Client().get(address).status_code == 302


def test_the_list_says_who_answers_what_is_open_and_whether_it_runs(cast: Team, browser_of: Browsers) -> None:
    mail(cast.scout), call(cast.scout)
    dana = browser_of(cast.dana)
    listed = dana.get("/agents/").content.decode()
    assert "Running" in listed and "bob" in listed and "prowler" not in listed
    assert re.search(r'Open proposals">2<', listed)
    Membership.objects.filter(person=cast.bob.person).update(until=timezone.now())
    assert "Nobody answers" in dana.get("/agents/").content.decode()


def test_the_page_shows_open_proposals_and_for_whom_the_agent_may_act(
    cast: Team, browser_of: Browsers
) -> None:
    proposal = mail(cast.scout)
    grant_delegation(cast.scout.agent.id, by=cast.carol)
    page = page_of(browser_of(cast.dana), cast.scout)
    assert f"/proposals/{proposal.id}/" in page and "carol" in page


def test_a_manager_hands_an_agent_over(cast: Team, browser_of: Browsers) -> None:
    dana, address = browser_of(cast.dana), f"/agents/{cast.scout.agent.id}/transfer/"
    assert dana.post(address, {"owner": str(cast.carol.person.id)}).status_code == 302
    assert queries.owners(cast.scout.agent.id, timezone.now()) == {cast.carol.person.id}
    assert dana.post(address, {"owner": str(cast.mallory.person.id)}).status_code == 422
    assert browser_of(cast.bob).post(address, {"owner": str(cast.bob.person.id)}).status_code == 403
    assert queries.owners(cast.scout.agent.id, timezone.now()) == {cast.carol.person.id}


# Where a second person is needed.


def test_who_stopped_an_agent_reads_that_another_manager_must_lift_it(
    cast: Team, browser_of: Browsers
) -> None:
    stop_agent(cast.scout.agent.id, reason="It mails too much.", by=cast.dana)
    dana, erin = page_of(browser_of(cast.dana), cast.scout), page_of(browser_of(cast.erin), cast.scout)
    assert "It mails too much." in dana and "It mails too much." in erin
    assert "Another manager must lift this stop" in dana
    assert "Another manager must lift this stop" not in erin
    assert "There is no second manager" not in dana


def test_the_only_manager_reads_that_there_is_nobody_to_lift_his_stop(
    cast: Team, browser_of: Browsers
) -> None:
    Membership.objects.filter(person=cast.erin.person).update(until=timezone.now())
    stop_agent(cast.scout.agent.id, reason="It mails too much.", by=cast.dana)
    assert "There is no second manager" in page_of(browser_of(cast.dana), cast.scout)


def test_the_page_says_for_which_tools_too_few_people_are_left(cast: Team, browser_of: Browsers) -> None:
    dana = browser_of(cast.dana)
    assert "Too few for" not in page_of(dana, cast.scout)  # alice and carol are two
    Membership.objects.filter(person=cast.carol.person).update(until=timezone.now())
    page = page_of(dana, cast.scout)
    assert "1 person can approve what it proposes" in page
    assert "mail.send (2)" in page and "memory.release (2)" in page and "memory.write (" not in page
    assert "shell.*" not in page and "search.*" not in page


def test_whoever_minted_a_token_counts_no_more(cast: Team, browser_of: Browsers) -> None:
    by_alice = agent("ranger", cast.acme, owner=cast.bob)
    assert "Too few for" not in page_of(browser_of(cast.dana), by_alice)
    by_alice.token.minted_by = cast.alice.person
    by_alice.token.save()
    assert "mail.send (2)" in page_of(browser_of(cast.dana), by_alice)
    by_alice.token.revoked_at = timezone.now()
    by_alice.token.save()
    assert "Too few for" not in page_of(browser_of(cast.dana), by_alice)


# Stop.


def test_all_agents_of_a_workspace_are_stopped_from_the_list(cast: Team, browser_of: Browsers) -> None:
    agent("ranger", cast.acme, owner=cast.erin)
    dana, sent = browser_of(cast.dana), {"workspace": str(cast.acme.id), "reason": "Leak."}
    assert dana.post("/agents/stop/", {**sent, "reason": ""}).status_code == 422
    assert dana.post("/agents/stop/", {**sent, "workspace": str(cast.globex.id)}).status_code == 422
    assert browser_of(cast.alice).post("/agents/stop/", sent).status_code == 403
    assert not Agent.objects.filter(stopped_at__isnull=False).exists()
    answer = dana.post("/agents/stop/", sent)
    assert answer.status_code == 200 and "2 agents are stopped" in answer.content.decode()
    assert set(Agent.objects.filter(stopped_at=None).values_list("name", flat=True)) == {"prowler"}


# Webhooks.


def test_a_webhooks_secret_is_shown_once(cast: Team, browser_of: Browsers, receiver: Receiver) -> None:
    dana = browser_of(cast.dana)
    answer = dana.post(f"/agents/{cast.scout.agent.id}/webhooks/", {"url": receiver.url})
    [secret] = re.findall(r"whsec_[A-Za-z0-9+/=]+", answer.content.decode())
    assert answer["Cache-Control"] == "no-store"
    page = page_of(dana, cast.scout)
    assert secret not in page and receiver.authority in page
    webhook = Webhook.objects.get()
    assert dana.post(f"/agents/webhooks/{webhook.id}/test/").status_code == 302
    assert "Waits for the worker" in page_of(dana, cast.scout)
    deliver_due()
    assert receiver.received[0].verified(secret)["type"] == "webhook.test"
    assert "Delivered" in page_of(dana, cast.scout)
    [newer] = re.findall(
        r"whsec_[A-Za-z0-9+/=]+", dana.post(f"/agents/webhooks/{webhook.id}/rotate/").content.decode()
    )
    assert newer != secret and "both secrets sign until" in page_of(dana, cast.scout)
    assert dana.post(f"/agents/webhooks/{webhook.id}/remove/").status_code == 302
    assert receiver.authority not in page_of(dana, cast.scout)


def test_a_wrong_address_is_kept_in_the_form_with_why(cast: Team, browser_of: Browsers) -> None:
    answer = browser_of(cast.dana).post(
        f"/agents/{cast.scout.agent.id}/webhooks/", {"url": "http://10.0.0.1/"}
    )
    page = answer.content.decode()
    assert answer.status_code == 422 and 'data-problem="bad_target"' in page and "http://10.0.0.1/" in page


def test_what_was_given_up_is_tried_again_from_the_page(
    cast: Team, browser_of: Browsers, receiver: Receiver
) -> None:
    dana = browser_of(cast.dana)
    dana.post(f"/agents/{cast.scout.agent.id}/webhooks/", {"url": receiver.url})
    dana.post(f"/agents/webhooks/{Webhook.objects.get().id}/test/")
    Message.objects.update(attempts=9)
    deliver_due(lambda *_: Answer(500, "It answered 500."))
    page = page_of(dana, cast.scout)
    assert "Given up after 10 attempts" in page and "It answered 500." in page
    assert dana.post(f"/agents/messages/{Message.objects.get().id}/again/").status_code == 302
    assert deliver_due() == 1 and len(receiver.received) == 1


def test_nobody_else_touches_a_webhook_by_posting(
    cast: Team, browser_of: Browsers, receiver: Receiver
) -> None:
    browser_of(cast.dana).post(f"/agents/{cast.scout.agent.id}/webhooks/", {"url": receiver.url})
    webhook = Webhook.objects.get()
    for act in ("rotate", "remove", "test"):
        assert browser_of(cast.bob).post(f"/agents/webhooks/{webhook.id}/{act}/").status_code == 403
        assert browser_of(cast.mallory).post(f"/agents/webhooks/{webhook.id}/{act}/").status_code == 404
    sent = {"url": receiver.url + "2"}
    assert browser_of(cast.bob).post(f"/agents/{cast.scout.agent.id}/webhooks/", sent).status_code == 403
    assert browser_of(cast.mallory).post(f"/agents/{cast.scout.agent.id}/webhooks/", sent).status_code == 404
    webhook.refresh_from_db()
    assert Webhook.objects.count() == 1 and webhook.removed_at is None
