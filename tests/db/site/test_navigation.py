"""The bar above every page: who is signed in, and only the pages that he may open."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.test import RequestFactory

from huqan_site.navigation import navigation
from review.access.actors import PersonActor
from tests.support.factories import Team, team

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Team:
    return team()


def bar(who: PersonActor | None, path: str = "/") -> dict[str, Any]:
    request = RequestFactory().get(path)
    request.user = who.user if who else AnonymousUser()
    request.session = SessionStore()
    return navigation(request)


def test_a_reviewer_sees_no_page_of_managers(cast: Team) -> None:
    shown = bar(cast.alice)
    assert [place["label"] for place in shown["nav"]] == ["Queue", "Quarantine", "Memory", "Help"]
    assert shown["who"]["name"] == "alice"
    assert shown["who"]["role"] == "reviewer"


def test_a_manager_sees_them(cast: Team) -> None:
    labels = {place["label"] for place in bar(cast.dana)["nav"]}
    assert {"Audit", "Agents", "People"} <= labels
    assert bar(cast.mallory)["who"]["role"] == "reviewer and manager"


def test_nobody_is_shown_nothing(cast: Team) -> None:
    shown = bar(None)
    assert not shown["who"]
    assert list(shown["nav"]) == []


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/", "Queue"),
        ("/proposals/x/", "Queue"),
        ("/quarantine/x/", "Quarantine"),
        ("/agents/", "Agents"),
        ("/account/", None),
    ],
)
def test_the_page_one_is_on_is_marked(cast: Team, path: str, label: str | None) -> None:
    current = [place["label"] for place in bar(cast.mallory, path)["nav"] if place["current"]]
    assert current == ([label] if label else [])


def test_a_page_that_shows_no_bar_asks_the_database_nothing(
    cast: Team, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        bar(cast.alice)
    # Where he has a role; once who is whom, who vouches for him, with which role; and two counts.
    with django_assert_num_queries(6):
        list(bar(cast.alice)["nav"])
