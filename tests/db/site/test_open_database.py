"""How long a server keeps its database open: as long as it can be written to."""

from __future__ import annotations

import os

import pytest
from django.core.signals import request_finished
from django.db import connection

from huqan_site import serve

pytestmark = pytest.mark.django_db(transaction=True)


def is_kept_after_a_request() -> bool:
    connection.ensure_connection()
    request_finished.send(sender=None)
    return connection.connection is not None


def test_a_file_that_takes_no_writes_is_not_kept_open_and_one_that_does_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert is_kept_after_a_request()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert is_kept_after_a_request() is (connection.vendor != "sqlite")


def test_a_server_that_starts_on_a_file_system_without_writes_holds_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection.close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    serve.stay_connected()
    assert connection.connection is None
    monkeypatch.undo()
    serve.stay_connected()
    assert (connection.connection is not None) is (connection.vendor == "sqlite")
