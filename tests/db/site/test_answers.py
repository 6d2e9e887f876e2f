"""What the console says when something is not there, not allowed, or cannot be written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.cache import cache
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path

from huqan_site import errors, health, urls
from review.access.refusals import RateLimited
from review.audit import guards
from review.audit.refusals import Unavailable

pytestmark = pytest.mark.django_db


def fails(request: HttpRequest, how: str) -> HttpResponse:
    raise {
        "locked": OperationalError("database is locked"),
        "closed": InterfaceError("connection already closed"),
        "full": OSError(28, "No space left on device"),
        "unavailable": Unavailable(),
        "limited": RateLimited(retry_after=7),
        "bug": ValueError("secret of the server"),
    }[how]


def remembers(request: HttpRequest) -> HttpResponse:
    request.session["seen"] = request.session.get("seen", 0) + 1
    return HttpResponse()


urlpatterns = [
    *urls.urlpatterns,
    path("remembers", remembers),
    path("fails/<how>", fails),
    path("api/v1/fails/<how>", fails),
]
handler404, handler500 = urls.handler404, urls.handler500


@pytest.fixture
def broken() -> Any:
    with override_settings(ROOT_URLCONF=__name__):
        yield Client(raise_request_exception=False)


@pytest.mark.parametrize("how", ["locked", "closed", "full", "unavailable"])
def test_a_database_that_cannot_serve_is_503_with_a_time_to_come_back(broken: Client, how: str) -> None:
    page, program = broken.get(f"/fails/{how}"), broken.get(f"/api/v1/fails/{how}")
    assert (page.status_code, program.status_code) == (503, 503)
    assert page["Retry-After"] == program["Retry-After"] == "5"
    assert page["Content-Type"].startswith("text/html")
    assert program["Content-Type"] == "application/problem+json"
    said = program.json()
    assert said["code"] == "unavailable"
    assert said["request_id"] == program["X-Request-Id"]
    for text in ("locked", "closed", "No space"):
        assert text not in page.content.decode() + program.content.decode()


def test_a_fault_of_ours_is_500_and_shows_nothing_of_itself(broken: Client) -> None:
    page, program = broken.get("/fails/bug"), broken.get("/api/v1/fails/bug")
    assert (page.status_code, program.status_code) == (500, 500)
    assert program.json()["code"] == "internal_error"
    assert "secret" not in page.content.decode() + program.content.decode()
    assert page["X-Request-Id"] in page.content.decode()


def test_a_refusal_that_reaches_the_top_says_its_own_sentence(broken: Client) -> None:
    answer = broken.get("/api/v1/fails/limited")
    assert (answer.status_code, answer["Retry-After"]) == (429, "7")
    assert answer.json()["detail"] == RateLimited.detail


def test_a_session_that_cannot_be_saved_is_503_too(broken: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OperationalError("database or disk is full")

    assert broken.get("/remembers").status_code == 200
    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.save", full)
    answer = broken.get("/remembers")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "disk is full" not in answer.content.decode()


def test_an_address_that_is_not_there_is_404_to_people_and_programs() -> None:
    assert Client().get("/nowhere/").status_code == 404
    answer = Client().get("/api/v1/nowhere")
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_a_form_of_another_sign_in_says_so_and_keeps_the_words() -> None:
    answer = Client(enforce_csrf_checks=True).post(
        "/accounts/logout/", {"reason": "checked against the ticket", "password": "hunter2"}
    )
    page = answer.content.decode()
    assert answer.status_code == 403
    assert 'data-problem="stale_form"' in page
    assert "checked against the ticket" in page
    assert "hunter2" not in page


def test_every_answer_is_kept_out_of_caches_and_frames() -> None:
    cache.clear()
    for where in ("/accounts/login/", "/nowhere/", "/healthz"):
        answer = Client().get(where)
        assert "no-store" in answer["Cache-Control"]
        assert answer["X-Frame-Options"] == "DENY"
        assert "camera=()" in answer["Permissions-Policy"]
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'self'" in answer["Content-Security-Policy"]
        assert answer["Referrer-Policy"] == "same-origin"


def test_a_host_name_that_is_not_ours_gets_no_page() -> None:
    assert Client().get("/healthz", headers={"host": "testserver"}).status_code == 200
    assert Client().get("/accounts/login/", headers={"host": "evil.example"}).status_code == 400


def test_a_console_that_can_work_is_ready() -> None:
    assert Client().get("/healthz").json() == {"status": "ok"}
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert set(answer.json().values()) == {"ok"}


def test_a_missing_guard_makes_the_console_unready() -> None:
    guards.remove(connection)
    answer = Client().get("/readyz")
    guards.install(connection)
    assert answer.status_code == 503
    assert answer.json()["guards"] == "missing"


def test_a_missing_migration_makes_the_console_unready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_known_migrations", lambda: frozenset({("review", "9999_next")}))
    assert Client().get("/readyz").json()["migrations"] == "missing"
    assert health.missing_migrations() == ["review.9999_next"]


def test_a_database_that_does_not_answer_makes_the_console_unready(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent() -> None:
        raise OperationalError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", silent)
        answer = Client().get("/readyz")
        alive = Client().get("/healthz")
    assert (answer.status_code, alive.status_code) == (503, 200)
    assert json.loads(answer.content)["database"] == "no answer"


@pytest.mark.parametrize(
    ("error", "unavailable"),
    [
        (OperationalError("attempt to write a readonly database"), True),
        (InterfaceError(), True),
        (OSError(30, "Read-only file system"), True),
        (OSError(2, "No such file"), False),
        (ValueError(), False),
        (None, False),
    ],
)
def test_only_what_may_pass_is_called_unavailable(error: BaseException | None, unavailable: bool) -> None:
    assert errors.is_unavailable(error) is unavailable


def test_what_no_form_would_send_to_an_address_that_is_not_there_is_refused_in_words(client: Client) -> None:
    no_form = client.post("/nothing/here/", b"a=b", content_type="multipart/form-data; x")
    assert no_form.status_code == 404
    assert client.post("/nothing/here/", {"reason": "Kept."}).content.count(b"Kept.") == 1
