"""Every page: accessible, from one origin, in both themes and widths; and a tour that photographs them all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import resolve
from playwright.sync_api import Browser, Page

from tests.browser.conftest import SignIn, decide
from tests.support import tour
from tests.support.console import Agent, Console
from tests.support.inventory import checked_in

SCREENS = Path(os.environ.get("SCREENS", Path(__file__).parents[1] / "screens"))
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 320)]
SERIOUS = ("serious", "critical")
POLL = "for (const place of document.querySelectorAll('[data-poll]')) htmx.trigger(place, 'poll')"
SETTLED = "Promise.allSettled(document.getAnimations().map((one) => one.finished)).then(() => null)"
"""Colours that turn over with the theme have arrived: axe would measure them halfway."""


HALF_SIGNED_IN = "/accounts/login/code/"
NO_PAGES = (".json", ".jsonl", ".csv", ".zip", ".py", ".svg", "healthz", "readyz", "metrics")
PARTS = {"queue/new/", "proposals/<uuid:id>/preview/", "proposals/<uuid:id>/meanwhile/"}
"""What is asked for by a page and put into it."""
DOWNLOADS = {"proposals/<uuid:id>/certificate/"}

look = pytest.mark.parametrize(
    ("scheme", "width"), LOOKS, ids=[f"{scheme}-{width}" for scheme, width in LOOKS]
)


@pytest.fixture(scope="session")
def pages(console: Console) -> dict[str, list[tuple[str, str]]]:
    return tour.places(console)


@look
def test_every_page_is_accessible_and_from_one_origin(
    console: Console,
    browser: Browser,
    as_person: SignIn,
    pages: dict[str, list[tuple[str, str]]],
    scheme: str,
    width: int,
) -> None:
    found = []
    for person, addresses in pages.items():
        seen = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
        page = as_person(None if person == tour.NOBODY else person, **seen)
        elsewhere = _watched(page, console.url)
        for name, address in addresses:
            page.goto(address)
            found += [f"{name}: {fault}" for fault in faults(page)]
            _photograph(page, f"{name}-{scheme}-{width}")
        assert not elsewhere
    assert not found


@look
def test_the_page_that_asks_for_a_code_is_accessible(
    console: Console, as_person: SignIn, scheme: str, width: int
) -> None:
    name = f"petra-{scheme}-{width}"
    tour.with_a_second_factor(console, name)
    page = as_person(None, color_scheme=scheme, viewport={"width": width, "height": 800})
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(name)
    page.locator("input[name=password]").fill(tour.PASSWORD)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(f"**{HALF_SIGNED_IN}")
    assert not list(faults(page))
    _photograph(page, f"sign-in-code-{scheme}-{width}")


@look
def test_what_a_page_becomes_while_it_is_open_is_accessible(
    console: Console, as_person: SignIn, scheme: str, width: int
) -> None:
    scout = Agent(console.url, console.demo["agents"]["scout"]["token"])
    order = f"79{LOOKS.index((scheme, width))}"
    first, second = (
        scout.propose("payments.refund", {"order": f"{order}{n}"}, run_id=order).json()["id"] for n in (1, 2)
    )
    held = scout.propose("memory.write", {"content": f"Pay into account {order}.", "untrusted": True}).json()
    seen = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    alice, carol = as_person("alice", **seen), as_person("carol")
    alice.goto(f"/?group=run&q={order}")
    if width == 1280:
        for key in "vj":
            alice.keyboard.press(key)
        alice.locator("#pane .panel").wait_for()
    carol.goto(f"/proposals/{first}/")
    decide(carol, "approve")
    alice.evaluate(POLL)
    alice.locator(".is-decided").wait_for()
    found = [f"queue: {fault}" for fault in faults(alice)]
    _photograph(alice, f"queue-meanwhile-{scheme}-{width}")
    for page in (alice, carol):
        page.goto(f"/proposals/{second}/")
    alice.locator("[data-open=reject]").focus()
    decide(carol, "approve")
    alice.evaluate(POLL)
    alice.get_by_role("group", name="carol").wait_for()
    found += [f"proposal: {fault}" for fault in faults(alice)]
    _photograph(alice, f"proposal-meanwhile-{scheme}-{width}")
    carol.goto(f"/quarantine/{held['id']}/")
    carol.get_by_role("button", name="Claim it").click()
    alice.goto("/quarantine/")
    alice.get_by_text("carol has been looking at it").first.wait_for()
    found += [f"quarantine: {fault}" for fault in faults(alice)]
    _photograph(alice, f"quarantine-claimed-{scheme}-{width}")
    assert not found


def test_the_tour_leads_to_every_page_of_the_house(pages: dict[str, list[tuple[str, str]]]) -> None:
    addresses = [address for places in pages.values() for _, address in places]
    toured = {
        resolve(address.partition("?")[0]).route for address in addresses if "nothing-here" not in address
    }
    house = {
        row.route
        for row, cells in checked_in().items()
        if row.method == "GET" and not row.route.endswith(NO_PAGES) and not row.route.startswith("api/v1/")
        if any(cell.status != 405 for cell in cells.values())
    }
    assert house - toured - PARTS - DOWNLOADS == {HALF_SIGNED_IN.lstrip("/")}


def test_the_picture_in_the_readme_is_of_the_running_console(as_person: SignIn) -> None:
    """Written afresh by `README_PICTURE=1 ./run test tests/browser`, else only compared in size."""
    page = as_person("alice", viewport={"width": 1280, "height": 800})
    picture = Path(__file__).parents[2] / "docs" / "images" / "queue.png"
    shot = page.screenshot(path=picture if os.environ.get("README_PICTURE") else None)
    assert shot[16:24] == picture.read_bytes()[16:24], "the width and height of a PNG"


def _photograph(page: Page, name: str) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENS / f"{name}.png", full_page=True)


def _watched(page: Page, url: str) -> list[str]:
    """Return a list that fills with the addresses of other hosts that the page asks."""
    elsewhere: list[str] = []
    page.on(
        "request", lambda request: elsewhere.append(request.url) if not request.url.startswith(url) else None
    )
    return elsewhere


def faults(page: Page) -> Iterator[str]:
    """Yield what keeps somebody from using `page`: what axe finds, and scrolling sideways."""
    page.evaluate(SETTLED)
    for violation in Axe().run(page).response["violations"]:
        if violation["impact"] in SERIOUS:
            yield f"{violation['id']} at {violation['nodes'][0]['target']}"
    if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        yield "scrolls sideways"
