"""What the console costs the line: bytes and requests, as the browser counts them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from playwright.sync_api import Page

from tests.browser.conftest import SignIn
from tests.support.console import Agent, Console

FIRST_LOAD = 45_000  # bytes over the wire
REPEAT = 6_000
REQUESTS = 6
DOZEN = 12
JAVASCRIPT = 20_000
ROWS = 60  # more than a page of the queue holds
SCRIPTS = ("huqan.js", "django_htmx/htmx-2.min.js")


class Wire:
    """What a page loads from now on: addresses, and bytes over the wire with their headers."""

    def __init__(self, page: Page) -> None:
        self.addresses: list[str] = []
        self.weight = 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", lambda told: self.addresses.append(told["request"]["url"]))
        session.on("Network.loadingFinished", self._arrived)

    def _arrived(self, told: dict[str, float]) -> None:
        self.weight += int(told["encodedDataLength"])


@pytest.fixture(scope="module")
def full_queue(console: Console) -> Iterator[None]:
    """More proposals than one page shows, taken back afterwards."""
    scout = Agent(console.url, console.demo["agents"]["scout"]["token"])
    made = [
        scout.propose("payments.refund", {"order": f"62{n:03}", "amount": n, "currency": "EUR"}).json()["id"]
        for n in range(ROWS)
    ]
    yield
    for proposal in made:
        scout.call("POST", f"/api/v1/proposals/{proposal}/withdraw")


@pytest.mark.usefixtures("full_queue")
def test_the_first_load_of_the_queue_is_light_and_from_one_origin(
    console: Console, as_person: SignIn
) -> None:
    signed_in = as_person("alice")
    fresh = signed_in.context.browser.new_context(  # type: ignore[union-attr]
        base_url=console.url, storage_state=signed_in.context.storage_state()
    )
    page = fresh.new_page()
    wire = Wire(page)
    page.goto("/", wait_until="networkidle")
    assert page.locator("[data-row]").count() >= 50
    assert all(address.startswith(console.url) for address in wire.addresses)
    assert len(wire.addresses) <= REQUESTS, wire.addresses
    assert 0 < wire.weight <= FIRST_LOAD
    fresh.close()


def test_a_repeat_visit_to_a_queue_of_a_dozen_is_one_light_page(console: Console, as_person: SignIn) -> None:
    for number in range(DOZEN):
        console.agent("prowler").remember(f"The gate of dock {number} opens at {number} o'clock.")
    page = as_person("oscar")
    page.goto(
        "/", wait_until="networkidle"
    )  # else the sign of the tab, which comes last, is still to be loaded
    assert page.locator("[data-row]").count() >= DOZEN
    wire = Wire(page)
    page.goto("/", wait_until="networkidle")
    assert 0 < wire.weight <= REPEAT


def test_all_javascript_is_light() -> None:
    whole = b"".join(Path(str(finders.find(name))).read_bytes() for name in SCRIPTS)
    assert len(gzip.compress(whole)) <= JAVASCRIPT


def test_no_page_loads_another_script(scout: Agent, as_person: SignIn) -> None:
    page = as_person("alice")
    proposal = scout.propose("payments.refund", {"order": "62999"}).json()["id"]
    for address in ("/", f"/proposals/{proposal}/", "/memory/", "/help/"):
        page.goto(address)
        loaded = page.locator("script").evaluate_all(
            "(all) => all.map((script) => script.getAttribute('src'))"
        )
        assert loaded == [f"/static/{name}" for name in SCRIPTS]
