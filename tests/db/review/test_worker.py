"""The worker takes every step of its round, whatever becomes of one, and ends when it is told to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from review.audit.refusals import Unavailable
from review.management.commands import worker
from review.management.commands.worker import Step
from review.models import Proposal
from review.webhooks.models import Message
from review.webhooks.services import register_webhook
from tests.support import tracked
from tests.support.factories import team
from tests.support.receiver import receiving
from tests.support.review_acts import call


@pytest.fixture(autouse=True)
def signals_as_before() -> Any:
    """The command listens to signals, as the program that it is."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, usual in before.items():
        signal.signal(number, usual)


@pytest.mark.django_db
def test_one_round_expires_what_is_over_and_tells_of_it(settings: Any) -> None:
    cast = team()
    with receiving() as receiver:
        settings.HUQAN_WEBHOOK_HOSTS = [receiver.authority]
        made = register_webhook(cast.scout.agent.id, receiver.url, by=cast.dana)
        Proposal.objects.filter(pk=call(cast.scout).pk).update(expires_at=timezone.now())
        call_command("worker", once=True)
        [received] = receiver.received
        assert received.verified(made.secret)["type"] == "proposal.expired"
    assert Message.objects.get().delivered_at


@pytest.mark.parametrize("failure", [Unavailable(), RuntimeError("a defect")])
def test_a_step_that_fails_keeps_no_other_from_being_taken(
    failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    def fails() -> int:
        raise failure

    def goes_on() -> int:
        taken.append("second")
        return 0

    monkeypatch.setattr(worker, "STEPS", (Step("first", fails), Step("second", goes_on)))
    with pytest.raises(CommandError, match="first"):
        call_command("worker", once=True)
    assert taken == ["second"]
    monkeypatch.setattr(worker, "STEPS", (Step("second", goes_on),))
    call_command("worker", once=True)


def test_it_ends_with_the_program_that_started_it(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    monkeypatch.setattr(worker, "STEPS", (Step("nothing", lambda: len(rounds) and 0),))
    monkeypatch.setattr(worker, "EVERY", 0)
    monkeypatch.setattr(os, "getppid", lambda: rounds.append(1) or (7 if len(rounds) < 3 else 1))
    call_command("worker", parent=7)
    assert len(rounds) == 3


@pytest.mark.slow
def test_it_ends_clean_at_a_signal(tmp_path: Any) -> None:
    environ = {**os.environ, "HUQAN_DATA_DIR": str(tmp_path), "HUQAN_MODE": "demo"}
    environ.pop("HUQAN_DATABASE_URL", None)
    command = [sys.executable, "manage.py"]
    subprocess.run([*command, "migrate", "-v0"], cwd=tracked.ROOT, env=environ, check=True)
    program = subprocess.Popen(
        [*command, "worker"],
        cwd=tracked.ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout and program.stdout.readline() == "Working until it is stopped.\n"
    program.send_signal(signal.SIGTERM)
    _, said = program.communicate(timeout=20)
    assert program.returncode == 0 and not said, said
