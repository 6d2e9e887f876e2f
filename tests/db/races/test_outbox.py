"""Several workers send from one outbox: each message is one worker's at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from review.webhooks import outbox
from review.webhooks.models import Message, Webhook
from review.webhooks.outbox import deliver_due, enqueue, lease
from review.webhooks.secrets import new_secret, seal
from review.webhooks.sending import Answer
from tests.db.races.stage import FEW, Stage


@pytest.fixture
def webhooks(stage: Stage) -> Iterator[list[Webhook]]:
    """Three receivers of what becomes of scout's proposals."""
    made = []
    for number in range(3):
        webhook = Webhook(agent=stage.scout.agent, url=f"https://hooks.example/{number}")
        webhook.registered_by, webhook.created_at = stage.bob.person, timezone.now()
        webhook.secret = seal(new_secret(), webhook.id)
        webhook.save(force_insert=True)
        made.append(webhook)
    yield made
    Message.objects.all().delete()


def test_of_two_workers_that_reach_for_a_message_one_gets_it(stage: Stage, webhooks: list[Webhook]) -> None:
    for _ in range(FEW):
        for webhook in webhooks:
            enqueue(webhook, "proposal.decided", {}, timezone.now())
        reach = partial(lease, timezone.now())
        taken = [parcel.message.id for batch in stage.race(reach, reach) for parcel in batch]
        assert len(taken) == len(set(taken)) == 3
    stage.must_have_gone(("done", "done"))


def test_two_workers_send_each_message_once(
    stage: Stage, webhooks: list[Webhook], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: Counter[str] = Counter()

    def post(url: str, body: str, headers: Any) -> Answer:
        sent[headers["webhook-id"]] += 1
        return Answer(204, "It answered 204.")

    monkeypatch.setattr(outbox.sending, "post", post)
    for _ in range(FEW):
        for webhook in webhooks * 3:
            enqueue(webhook, "proposal.decided", {}, timezone.now())
        stage.race(deliver_due, deliver_due)
    while deliver_due():
        pass
    assert set(sent.values()) == {1} and len(sent) == FEW * 9
    assert not Message.objects.filter(delivered_at=None).exists()
