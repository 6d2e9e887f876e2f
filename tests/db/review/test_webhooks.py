"""What becomes of a proposal is told to those who asked, signed, at least once, and nowhere else."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from standardwebhooks.webhooks import WebhookVerificationError

from review.access.refusals import NotFound, NotManager
from review.audit.models import Entry, PrivateText
from review.services.expire import expire_overdue
from review.services.issue_permit import redeem
from review.services.report_outcome import report
from review.services.withdraw import withdraw
from review.webhooks import outbox, sending, targets
from review.webhooks.models import Message, Webhook
from review.webhooks.outbox import MOST_ATTEMPTS, deliver_due, forget_old, lease, settle, wait_after
from review.webhooks.refusals import AlreadyRegistered, BadTarget, TooManyWebhooks
from review.webhooks.sending import Answer
from review.webhooks.services import (
    Registered,
    register_webhook,
    remove_webhook,
    rotate_secret,
    send_test,
    try_again,
)
from tests.support import tracked
from tests.support.factories import Team, team
from tests.support.receiver import Receiver, certificate, receiving
from tests.support.review_acts import at, call, vote

URL = "https://hooks.example/console"


@pytest.fixture
def cast(db: None) -> Team:
    return team()


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """A receiver on this machine that the operator has named."""
    with receiving() as running:
        settings.HUQAN_WEBHOOK_HOSTS = [running.authority]
        yield running


@pytest.fixture
def hook(cast: Team, receiver: Receiver) -> Registered:
    return register_webhook(cast.scout.agent.id, receiver.url, by=cast.dana)


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every name lead to one address of the internet."""
    monkeypatch.setattr(targets, "system_resolver", lambda name, port: ["8.8.8.8"])


def types() -> list[str]:
    return list(Message.objects.order_by("id").values_list("type", flat=True))


# What is told.


def test_an_agents_receiver_is_told_of_the_decision_with_a_signature(
    cast: Team, hook: Registered, receiver: Receiver
) -> None:
    proposal = call(cast.scout)
    assert deliver_due() == 0
    vote(cast.alice, proposal)
    assert deliver_due() == 1
    [received] = receiver.received
    told = received.verified(hook.secret)
    assert told["type"] == "proposal.decided" and told["timestamp"].endswith("Z")
    assert told["data"] == {"proposal": str(proposal.id), "status": "approved", "revision": 1}
    assert received.path == "/hook?of=console"
    assert received.headers["Content-Type"] == "application/json"
    assert Message.objects.get().delivered_at
    assert deliver_due() == 0 and len(receiver.received) == 1


def test_every_kind_of_end_is_told_and_what_the_agent_did_itself_is_not(cast: Team, hook: Registered) -> None:
    vote(cast.alice, call(cast.scout, arguments={"order": "1"}), "reject")
    vote(cast.alice, call(cast.scout, arguments={"order": "2"}), "request_changes")
    withdraw(call(cast.scout, arguments={"order": "3"}).id, by=cast.scout)
    with at(timezone.now() + timedelta(minutes=2)):
        late = call(cast.scout, arguments={"order": "4"}, expires_in=60)
    with at(late.expires_at):
        expire_overdue()
    run = vote(cast.alice, call(cast.scout, arguments={"order": "5"})).proposal
    permit = redeem(run.id, by=cast.scout, arguments={"order": "5"})
    report(run.id, by=cast.scout, result="failed", jti=permit.jti)
    assert types() == [
        "proposal.decided",
        "proposal.decided",
        "proposal.expired",
        "proposal.decided",
        "proposal.outcome",
    ]
    statuses = [json.loads(message.body)["data"]["status"] for message in Message.objects.order_by("id")]
    assert statuses == ["rejected", "changes_requested", "expired", "approved", "failed"]


def test_what_is_undone_is_not_told(cast: Team, hook: Registered, monkeypatch: pytest.MonkeyPatch) -> None:
    from review.services import take_effect

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError

    proposal = call(cast.scout)
    with monkeypatch.context() as patch:
        patch.setattr(take_effect, "record", fails)
        with pytest.raises(RuntimeError):
            vote(cast.alice, proposal)
    assert not Message.objects.exists()
    vote(cast.alice, proposal)
    assert types() == ["proposal.decided"]


def test_nothing_of_another_agent_is_told(cast: Team, hook: Registered, receiver: Receiver) -> None:
    vote(cast.nina, call(cast.prowler))
    assert deliver_due() == 0 and not receiver.received
    vote(cast.alice, call(cast.scout))
    assert deliver_due() == 1


def test_no_message_holds_an_address_that_decides(cast: Team, hook: Registered, receiver: Receiver) -> None:
    vote(cast.alice, call(cast.scout))
    deliver_due()
    assert set(receiver.received[0].verified(hook.secret)["data"]) == {"proposal", "status", "revision"}


# Who sets it up.


@pytest.mark.usefixtures("public")
def test_managers_register_and_nobody_else_does(cast: Team) -> None:
    for by in (cast.bob, cast.alice):
        with pytest.raises(NotManager):
            register_webhook(cast.scout.agent.id, URL, by=by)
    with pytest.raises(NotFound):
        register_webhook(cast.scout.agent.id, URL, by=cast.mallory)
    webhook = register_webhook(cast.scout.agent.id, URL, by=cast.dana).webhook
    for act in (rotate_secret, remove_webhook, send_test):
        with pytest.raises(NotManager):
            act(webhook.id, by=cast.bob)
        with pytest.raises(NotFound):
            act(webhook.id, by=cast.mallory)
    remove_webhook(webhook.id, by=cast.erin)
    with pytest.raises(NotFound):
        remove_webhook(webhook.id, by=cast.erin)


@pytest.mark.usefixtures("public")
def test_a_stranger_has_no_name_looked_up(cast: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(targets, "system_resolver", lambda name, port: asked.append(name) or ["8.8.8.8"])
    with pytest.raises(NotFound):
        register_webhook(cast.scout.agent.id, URL, by=cast.mallory)
    assert not asked
    register_webhook(cast.scout.agent.id, URL, by=cast.dana)
    assert asked == ["hooks.example"]


@pytest.mark.usefixtures("public")
def test_an_address_is_registered_once_and_an_agent_has_five_at_most(cast: Team) -> None:
    register_webhook(cast.scout.agent.id, URL, by=cast.dana)
    with pytest.raises(AlreadyRegistered):
        register_webhook(cast.scout.agent.id, URL, by=cast.erin)
    for number in range(4):
        register_webhook(cast.scout.agent.id, f"{URL}/{number}", by=cast.dana)
    with pytest.raises(TooManyWebhooks):
        register_webhook(cast.scout.agent.id, f"{URL}/5", by=cast.dana)


@pytest.mark.usefixtures("public")
def test_secret_and_address_are_nowhere_in_clear_but_where_they_must_be(cast: Team) -> None:
    made = register_webhook(cast.scout.agent.id, f"{URL}?key=s3cret", by=cast.dana)
    webhook = Webhook.objects.get()
    assert made.secret.startswith("whsec_") and made.secret[6:] not in webhook.secret
    entry = Entry.objects.get(action="webhook.registered")
    assert "s3cret" not in entry.canonical and made.secret not in entry.canonical
    assert PrivateText.objects.get(seq=entry.seq).text == f"{URL}?key=s3cret"
    remove_webhook(webhook.id, by=cast.dana)
    assert Entry.objects.filter(action="webhook.removed").exists()


def test_an_address_inside_is_not_registered_unless_the_operator_named_it(
    cast: Team, settings: Any, receiver: Receiver
) -> None:
    assert register_webhook(cast.scout.agent.id, receiver.url, by=cast.dana)
    settings.HUQAN_WEBHOOK_HOSTS = []
    for url in (receiver.url + "2", "https://127.0.0.1/", "https://localhost:8443/", "https://[::1]/"):
        with pytest.raises(BadTarget):
            register_webhook(cast.scout.agent.id, url, by=cast.dana)


# Secrets.


def test_after_a_rotation_both_secrets_sign_until_the_earlier_one_ends(
    cast: Team, hook: Registered, receiver: Receiver
) -> None:
    newer = rotate_secret(hook.webhook.id, by=cast.dana).secret
    send_test(hook.webhook.id, by=cast.dana)
    deliver_due()
    for secret in (hook.secret, newer):
        assert receiver.received[0].verified(secret)["type"] == "webhook.test"
    Webhook.objects.update(earlier_until=timezone.now() - timedelta(seconds=1))
    send_test(hook.webhook.id, by=cast.dana)
    deliver_due()
    assert receiver.received[1].verified(newer)
    with pytest.raises(WebhookVerificationError):
        receiver.received[1].verified(hook.secret)


def test_a_changed_body_does_not_verify(cast: Team, hook: Registered, receiver: Receiver) -> None:
    send_test(hook.webhook.id, by=cast.dana)
    deliver_due()
    [received] = receiver.received
    assert received.verified(hook.secret)
    with pytest.raises(WebhookVerificationError):
        received._replace(body=received.body.replace(b"test", b"next")).verified(hook.secret)


def test_the_receiver_in_the_documents_takes_what_is_ours_and_nothing_else(
    cast: Team, hook: Registered, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    example = re.search(r"```python\n(.*?)```", (tracked.ROOT / "docs/agents.md").read_text(), re.DOTALL)
    assert example
    there: dict[str, Any] = {}
    exec(example[1], there)
    monkeypatch.setenv("WEBHOOK_SECRET", hook.secret)
    vote(cast.alice, call(cast.scout))
    deliver_due()
    headers, body = dict(receiver.received[0].headers), receiver.received[0].body
    assert there["receive"](headers, body) == there["receive"](headers, body) == 204
    assert capsys.readouterr().out == "proposal.decided approved\n"
    assert there["receive"](headers, body.replace(b"approved", b"rejected")) == 400


def test_without_the_key_nothing_is_sent_and_the_page_can_say_why(
    cast: Team, hook: Registered, receiver: Receiver, settings: Any, tmp_path: Any
) -> None:
    send_test(hook.webhook.id, by=cast.dana)
    settings.HUQAN_KEYS_DIR = tmp_path
    deliver_due()
    assert not receiver.received
    assert "keys folder" in Message.objects.get().last_answer


def test_a_secret_of_one_webhook_is_not_anothers(cast: Team, hook: Registered, receiver: Receiver) -> None:
    other = register_webhook(cast.scout.agent.id, receiver.url + "&n=2", by=cast.dana).webhook
    Webhook.objects.filter(pk=other.pk).update(secret=hook.webhook.secret)
    send_test(other.id, by=cast.dana)
    deliver_due()
    assert not receiver.received and "changed" in Message.objects.get().last_answer


# Delivery.


def test_what_fails_is_sent_again_later_with_the_same_id_and_the_same_bytes(
    cast: Team, hook: Registered, receiver: Receiver
) -> None:
    receiver.answers = [500, 204]
    send_test(hook.webhook.id, by=cast.dana)
    assert deliver_due() == 1
    message = Message.objects.get()
    assert message.last_answer == "It answered 500." and message.due_at > timezone.now()
    assert deliver_due() == 0
    with at(message.due_at):
        assert deliver_due() == 1
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == str(message.id)
    assert first.body == second.body
    assert Message.objects.get().delivered_at


def test_waits_grow_and_a_receiver_may_ask_for_longer() -> None:
    waits = [wait_after(attempts, None).total_seconds() for attempts in range(1, MOST_ATTEMPTS)]
    assert 3.75 <= waits[0] <= 6.25 and all(wait <= 6 * 3600 * 1.25 for wait in waits)
    assert waits[:6] == sorted(waits[:6])
    assert len({wait_after(3, None) for _ in range(20)}) > 1
    assert wait_after(1, 600).total_seconds() == 600
    assert wait_after(1, 10**9).total_seconds() == 24 * 3600


def test_retry_after_is_kept(cast: Team, hook: Registered, receiver: Receiver) -> None:
    receiver.answers = [(429, {"Retry-After": "900"})]
    send_test(hook.webhook.id, by=cast.dana)
    deliver_due()
    assert Message.objects.get().due_at >= timezone.now() + timedelta(seconds=895)


def test_what_never_arrives_is_given_up_and_can_be_tried_again(
    cast: Team, hook: Registered, receiver: Receiver
) -> None:
    receiver.answers = [503]
    send_test(hook.webhook.id, by=cast.dana)
    for _ in range(MOST_ATTEMPTS):
        assert deliver_due() == 1
        Message.objects.filter(due_at__isnull=False).update(due_at=timezone.now())
    message = Message.objects.get()
    assert message.given_up_at and deliver_due() == 0
    with pytest.raises(NotManager):
        try_again(message.id, by=cast.bob)
    with pytest.raises(NotFound):
        try_again(message.id, by=cast.mallory)
    receiver.answers = [200]
    try_again(message.id, by=cast.dana)
    assert deliver_due() == 1
    message.refresh_from_db()
    assert message.delivered_at and message.attempts == 1
    with pytest.raises(NotFound):
        try_again(message.id, by=cast.dana)


def test_a_redirect_is_not_followed(cast: Team, hook: Registered, receiver: Receiver) -> None:
    receiver.answers = [(302, {"Location": receiver.url}), 204]
    send_test(hook.webhook.id, by=cast.dana)
    deliver_due()
    assert len(receiver.received) == 1 and Message.objects.get().last_answer == "It answered 302."


def test_a_receiver_that_is_gone_for_good_is_told_nothing_more(
    cast: Team, hook: Registered, receiver: Receiver
) -> None:
    receiver.answers = [410]
    send_test(hook.webhook.id, by=cast.dana)
    send_test(hook.webhook.id, by=cast.dana)
    assert deliver_due() == 1
    assert Webhook.objects.get().gone_at and not Message.objects.filter(given_up_at=None).exists()
    vote(cast.alice, call(cast.scout))
    assert Message.objects.count() == 2
    with pytest.raises(NotFound):
        send_test(hook.webhook.id, by=cast.dana)
    assert Entry.objects.get(action="webhook.removed")


def test_what_waits_for_a_removed_webhook_is_never_sent(
    cast: Team, hook: Registered, receiver: Receiver
) -> None:
    send_test(hook.webhook.id, by=cast.dana)
    remove_webhook(hook.webhook.id, by=cast.dana)
    assert deliver_due() == 0 and not receiver.received


def test_a_receiver_that_fails_holds_up_no_other_one(
    cast: Team, hook: Registered, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = register_webhook(cast.scout.agent.id, receiver.url + "&n=2", by=cast.dana).webhook
    for _ in range(5):
        send_test(hook.webhook.id, by=cast.dana)
        send_test(other.id, by=cast.dana)
    sent: list[str] = []

    def send(url: str, body: str, headers: Any) -> Answer:
        sent.append(url)
        return Answer(200, "") if url.endswith("n=2") else Answer(None, "Nothing listens there.")

    deliver_due(send)
    assert [url.endswith("n=2") for url in sent].count(True) == 5
    assert [url.endswith("n=2") for url in sent].count(False) == 1
    with at(timezone.now() + timedelta(seconds=7)):
        deliver_due(lambda *_: Answer(204, ""))
    assert not Message.objects.filter(delivered_at=None).exists()


def test_what_was_taken_on_lease_is_nobody_elses_until_the_lease_ends(cast: Team, hook: Registered) -> None:
    send_test(hook.webhook.id, by=cast.dana)
    now = timezone.now()
    [mine] = lease(now)
    assert lease(now) == []
    [yours] = lease(now + outbox.LEASE)
    settle(mine.message, Answer(None, "It did not answer in time."), now)
    assert Message.objects.get().last_answer == ""
    settle(yours.message, Answer(204, "It answered 204."), now)
    assert Message.objects.get().delivered_at


def test_old_messages_are_forgotten_and_waiting_ones_are_not(cast: Team, hook: Registered) -> None:
    for _ in range(2):
        send_test(hook.webhook.id, by=cast.dana)
    done, waits = Message.objects.order_by("id")
    Message.objects.filter(pk=done.pk).update(due_at=None, delivered_at=timezone.now())
    assert forget_old() == 0
    Message.objects.update(created_at=timezone.now() - outbox.KEPT)
    assert forget_old() == 1
    assert Message.objects.get() == waits


# Where it goes.


@pytest.mark.usefixtures("public")
def test_a_name_that_leads_inside_by_now_is_not_sent_to(
    cast: Team, receiver: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HUQAN_WEBHOOK_HOSTS = []
    url = f"https://hooks.example:{receiver.port}/"
    webhook = register_webhook(cast.scout.agent.id, url, by=cast.dana).webhook
    monkeypatch.setattr(targets, "system_resolver", lambda name, port: ["127.0.0.1"])
    send_test(webhook.id, by=cast.dana)
    deliver_due()
    assert not receiver.received
    assert "not public" in Message.objects.get().last_answer


def test_the_connection_goes_to_the_address_that_was_checked(
    receiver: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name has no address of its own: who resolved it a second time would find nothing."""
    asked: list[str] = []
    name = f"hooks.invalid:{receiver.port}"
    settings.HUQAN_WEBHOOK_HOSTS = [name]
    monkeypatch.setattr(targets, "system_resolver", lambda host, port: asked.append(host) or ["127.0.0.1"])
    assert sending.post(f"http://{name}/x", "{}", {}).delivered
    assert asked == ["hooks.invalid"]
    assert receiver.received[0].headers["Host"] == name


def test_no_proxy_of_the_environment_is_asked(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    assert sending.post(receiver.url, "{}", {}).delivered


def test_a_receiver_that_lets_one_wait_is_left(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends a byte now and then for ever, so that no single wait is too long."""
    monkeypatch.setattr(sending, "WHOLE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        name = f"127.0.0.1:{server.getsockname()[1]}"
        settings.HUQAN_WEBHOOK_HOSTS = [name]
        stop = threading.Event()

        def drip() -> None:
            line, _ = server.accept()
            with line:
                line.sendall(b"HTTP/1.1 200 OK\r\n")
                while not stop.wait(0.05):
                    try:
                        line.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            assert sending.post(f"http://{name}/", "{}", {}) == Answer(None, "It did not answer in time.")
        finally:
            stop.set()
            thread.join()


@pytest.mark.parametrize(
    ("certified", "name", "words"),
    [
        ("hooks.invalid", "hooks.invalid", "It answered 204."),
        ("other.invalid", "hooks.invalid", "Its certificate is not valid for this name."),
        ("127.0.0.1", "hooks.invalid", "Its certificate is not valid for this name."),
    ],
)
def test_the_certificate_is_that_of_the_name(
    certified: str,
    name: str,
    words: str,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(targets, "system_resolver", lambda host, port: ["127.0.0.1"])
    context = certificate(certified, tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    with receiving(name, context) as receiver:
        settings.HUQAN_WEBHOOK_HOSTS = [receiver.authority]
        assert sending.post(receiver.url, "{}", {}).words == words


def test_a_certificate_that_nobody_vouches_for_is_none(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(targets, "system_resolver", lambda host, port: ["127.0.0.1"])
    with receiving("hooks.invalid", certificate("hooks.invalid", tmp_path)) as receiver:
        settings.HUQAN_WEBHOOK_HOSTS = [receiver.authority]
        assert not sending.post(receiver.url, "{}", {}).delivered
        assert not receiver.received


@pytest.mark.parametrize(
    ("header", "seconds"), [("120", 120), ("", None), ("soon", None), ("-5", None), ("١٢", None)]
)
def test_a_retry_after_that_says_nothing_is_passed_over(header: str, seconds: int | None) -> None:
    assert sending._seconds(header) == seconds


def test_a_retry_after_may_be_a_date() -> None:
    with at(timezone.datetime.fromisoformat("2026-11-30T10:00:00+00:00")):
        assert sending._seconds("Mon, 30 Nov 2026 10:02:00 GMT") == 120
        assert sending._seconds("Mon, 30 Nov 2026 09:00:00 GMT") == 0


def test_the_database_refuses_a_message_that_both_waits_and_has_ended(cast: Team, hook: Registered) -> None:
    from django.db import IntegrityError, transaction

    send_test(hook.webhook.id, by=cast.dana)
    message = Message.objects.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        Message.objects.filter(pk=message.pk).update(delivered_at=timezone.now())
    assert connection.vendor in ("sqlite", "postgresql")
