"""What is recorded is signed within a minute though nobody comes by, and given to whoever shall keep it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from environs import Env

from huqan_site import serve
from huqan_site.environment import checkpoint_addresses
from review.audit import checkpoints, witness
from review.audit.actions import Action
from review.audit.log import sign_overdue
from review.audit.refusals import Unavailable
from review.services.send_checkpoints import send_checkpoints
from tests.db.audit.acts import did
from tests.support.receiver import receiving

pytestmark = pytest.mark.django_db(transaction=True)


def later(seconds: int) -> time_machine.travel:
    return time_machine.travel(timezone.now() + timedelta(seconds=seconds), tick=False)


def sizes() -> list[int]:
    return [note.size for note in witness.notes()]


def test_the_worker_signs_what_has_waited_a_minute(witness_file: Path) -> None:
    did()
    before = sizes()
    did()
    assert sign_overdue() == 0
    with later(61):
        assert sign_overdue() == 1
        assert sign_overdue() == 0
    assert sizes() == [*before, 3]


def test_where_nothing_was_recorded_nothing_is_signed(witness_file: Path) -> None:
    with later(61):
        assert sign_overdue() == 0
    assert sizes() == [1]


class Idle:
    """A worker that ends at once."""

    def stop(self) -> None:
        """Nothing is left to do."""


def test_a_server_that_stops_signs_what_was_recorded_last(witness_file: Path) -> None:
    did()
    serve.stop(Idle())  # type: ignore[arg-type]
    assert sizes() == [1, 2]


def test_a_server_stops_though_nothing_can_be_signed(
    witness_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> str:
        raise Unavailable

    monkeypatch.setattr("review.audit.log.sign_checkpoint", refuse)
    serve.stop(Idle())  # type: ignore[arg-type]


# Sent to others.


def test_each_new_checkpoint_is_posted_once(witness_file: Path, settings: LazySettings) -> None:
    with receiving() as receiver:
        settings.HUQAN_WEBHOOK_HOSTS = [f"{receiver.name}:{receiver.port}"]
        settings.HUQAN_CHECKPOINTS_TO = [f"http://{receiver.name}:{receiver.port}/log"]
        assert (send_checkpoints(), send_checkpoints()) == (1, 0)
        did(Action.DECISION_APPROVED)
        assert (send_checkpoints(), send_checkpoints()) == (1, 0)
        bodies = [json.loads(one.body) for one in receiver.received]
    assert [body["data"]["size"] for body in bodies] == [1, 2]
    newest = checkpoints.newest()
    assert newest and bodies[-1]["data"]["note"] == newest.note


def test_who_does_not_answer_is_asked_again_after_a_minute(
    witness_file: Path, settings: LazySettings
) -> None:
    with receiving() as receiver:
        receiver.answers = [500, 204]
        settings.HUQAN_WEBHOOK_HOSTS = [f"{receiver.name}:{receiver.port}"]
        settings.HUQAN_CHECKPOINTS_TO = [f"http://{receiver.name}:{receiver.port}/log"]
        assert (send_checkpoints(), send_checkpoints()) == (0, 0)
        with later(61):
            assert send_checkpoints() == 1


def test_by_mail_one_leaves_an_hour(witness_file: Path, settings: LazySettings, tmp_path: Path) -> None:
    settings.HUQAN_MAIL_URL = f"file:///{tmp_path}"
    settings.HUQAN_CHECKPOINTS_TO = ["mailto:auditor@mail.example"]
    assert send_checkpoints() == 1
    did(Action.DECISION_APPROVED)
    assert send_checkpoints() == 0
    with later(3601):
        assert send_checkpoints() == 1
    newest = checkpoints.newest()
    mails = [path.read_text() for path in tmp_path.iterdir()]
    assert newest and any("Checkpoint of the audit log: 2 entries" in mail for mail in mails)


def test_without_an_address_nothing_is_sent(witness_file: Path, settings: LazySettings) -> None:
    settings.HUQAN_CHECKPOINTS_TO = []
    assert send_checkpoints() == 0


@pytest.mark.parametrize("told", ["auditor@mail.example", "ftp://witness.example", "mailto:", "https:// "])
def test_an_address_that_nothing_can_be_sent_to_is_refused(
    told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUQAN_CHECKPOINTS_TO", told)
    with pytest.raises(ImproperlyConfigured, match="HUQAN_CHECKPOINTS_TO"):
        checkpoint_addresses(Env())


def test_several_addresses_stand_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUQAN_CHECKPOINTS_TO", "mailto:a@mail.example,https://witness.example/log")
    assert checkpoint_addresses(Env()) == ["mailto:a@mail.example", "https://witness.example/log"]
