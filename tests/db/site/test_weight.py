"""Pages and static files leave compressed where the browser takes it; what agents and polls get does not."""

from __future__ import annotations

import gzip

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.support import factories

pytestmark = pytest.mark.django_db

STYLE = "/static/huqan.css"
GZIP = {"Accept-Encoding": "br, gzip"}


def body(answer: object) -> bytes:
    return b"".join(answer)  # type: ignore[call-overload, no-any-return]


def test_a_static_file_is_the_same_bytes_compressed_and_whole() -> None:
    with open(str(finders.find("huqan.css")), "rb") as file:
        style = file.read()
    light, whole = Client().get(STYLE, headers=GZIP), Client().get(STYLE)
    assert (light["Content-Encoding"], gzip.decompress(body(light))) == ("gzip", style)
    assert "Content-Encoding" not in whole and body(whole) == style
    assert light["Vary"] == whole["Vary"] == "Accept-Encoding"
    assert light["Content-Type"] == whole["Content-Type"] == 'text/css; charset="utf-8"'
    assert int(light["Content-Length"]) < len(style) / 3


def test_a_static_file_that_is_known_is_not_sent_again() -> None:
    known = Client().get(STYLE, headers=GZIP)["ETag"]
    again = Client().get(STYLE, headers={**GZIP, "If-None-Match": known})
    assert (again.status_code, body(again)) == (304, b"")


def test_a_page_is_compressed_and_an_agents_answer_and_a_poll_are_not() -> None:
    team = factories.team()
    client = Client()
    client.force_login(team.alice.user)
    page = client.get("/", headers=GZIP)
    assert page["Content-Encoding"] == "gzip"
    assert b"</html>" in gzip.decompress(page.content)
    assert "Content-Encoding" not in client.get("/")
    assert "Content-Encoding" not in client.get("/queue/new/", headers=GZIP)
    answer = Client().get("/api/v1/openapi.json", headers=GZIP)
    assert "Content-Encoding" not in answer and len(answer.content) > 1000
