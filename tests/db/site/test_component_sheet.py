"""The component sheet shows every state that a person may meet, on both sides."""

from __future__ import annotations

import pytest
from django.test import Client

STATES = {
    "nothing for me": "Nothing needs you",
    "a filter finds nothing": "Clear filters",
    "the first POST": "curl -H",
    "no news": "Nothing new since",
    "news": "3 new since",
    "offline": "Not up to date since",
    "signed out, words kept": "Nothing was confirmed. What you typed is still here.",
    "expired": "Expired at 15:13 UTC",
    "decided by somebody else": "carol rejected it",
    "saved views": "High of the night shift",
    "a group of rows": "Run nightly-7",
    "claimed by another": "carol has been looking at it since",
    "claimed by oneself": "Let go",
    "recorded": 'class="notice notice-green',
    "refused": 'data-problem="',
}


@pytest.mark.django_db
@pytest.mark.parametrize("state", STATES)
def test_the_sheet_shows_each_state_light_and_dark(state: str) -> None:
    sheet = Client().get("/help/components/").content.decode()
    assert sheet.count(STATES[state]) >= 2
