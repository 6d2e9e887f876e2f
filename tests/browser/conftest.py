"""People in front of a real browser, a real server behind it, each test with proposals of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.support.console import Agent, Console

SignIn = Callable[..., Page]


@pytest.fixture
def scout(console: Console) -> Agent:
    """The demo's agent scout: acme, owned by bob."""
    return Agent(console.url, console.demo["agents"]["scout"]["token"])


@pytest.fixture
def as_person(browser: Browser, console: Console) -> Iterator[SignIn]:
    """Return a function that signs a demo person in, in a browser context of his own, and watches it for faults.

    None is nobody: the context is not signed in.
    """
    contexts, faults = [], []

    def signed_in(name: str | None, **options: Any) -> Page:
        context = browser.new_context(base_url=console.url, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda told: faults.append(told.text) if "Content Security Policy" in told.text else None,
        )
        page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
        if name is None:
            return page
        page.goto("/accounts/login/")
        page.locator("input[name=login]").fill(name)
        page.locator("input[name=password]").fill(console.demo["people"][name]["password"])
        page.locator("input[name=password]").press("Enter")
        page.wait_for_url(f"{console.url}/")
        return page

    yield signed_in
    for context in contexts:
        context.close()
    assert not faults


def open_step(page: Page, verdict: str) -> None:
    """Press Approve…, Reject… or Request changes… in the bar."""
    page.locator(f'[data-open="{verdict}"]').click()


def decide(page: Page, verdict: str, reason: str = "Checked against the ticket.") -> None:
    """Open the confirm step, say why, and press the last button."""
    open_step(page, verdict)
    page.locator("textarea[name=reason]").fill(reason)
    page.locator(f'button[name=verdict][value="{verdict}"]').click()
    page.locator("#status").wait_for()
