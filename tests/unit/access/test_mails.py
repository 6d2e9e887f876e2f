"""How mail leaves: by the address that the operator named, in plain text, and never as an error of the request."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from environs import Env

from huqan_site.environment import mail_url
from review.access import mails


def test_a_mail_leaves_as_plain_text_by_a_program(settings: Any, tmp_path: Path) -> None:
    settings.HUQAN_MAIL_URL, settings.HUQAN_MAIL_FROM = f"file:///{tmp_path}", "huqan@console.example"
    assert mails.send("nina@example.org", "2 need you", "2 need you.\n")
    [letter] = [path.read_text() for path in tmp_path.iterdir()]
    for line in ("To: nina@example.org", "From: huqan@console.example", "Auto-Submitted: auto-generated"):
        assert line in letter
    assert "text/plain" in letter


def test_without_a_mail_server_or_an_address_nothing_leaves(settings: Any) -> None:
    settings.HUQAN_MAIL_URL = ""
    assert not mails.can_send()
    assert not mails.send("nina@example.org", "2 need you", "")
    settings.HUQAN_MAIL_URL = "memory:"
    assert mails.can_send()
    assert not mails.send("", "2 need you", "")


def test_a_server_that_does_not_answer_is_no_error(settings: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        settings.HUQAN_MAIL_URL = f"smtp://127.0.0.1:{taken.getsockname()[1]}"
        assert not mails.send("nina@example.org", "2 need you", "")


def test_a_line_break_writes_no_header(settings: Any) -> None:
    settings.HUQAN_MAIL_URL = "memory:"
    assert mails.send("nina@example.org", "2 need you", "")
    assert not mails.send("nina@example.org", "2 need you\nBcc: evil@example.com", "")


@pytest.mark.parametrize("url", ["mail.example", "ftp://mail.example", "smtp://mail.example:port"])
def test_an_address_that_names_no_mail_server_starts_nothing(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUQAN_MAIL_URL", "smtp://mail.example:25")
    assert mail_url(Env())
    monkeypatch.setenv("HUQAN_MAIL_URL", url)
    with pytest.raises(ImproperlyConfigured, match="HUQAN_MAIL_URL"):
        mail_url(Env())
