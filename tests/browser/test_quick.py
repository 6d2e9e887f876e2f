"""A reviewer under pressure: nothing moves by itself, nothing blocks, and what changed stands in front of her."""

from __future__ import annotations

import time
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import SignIn, decide
from tests.support.console import Agent, Console

SCREEN = {"width": 1280, "height": 800}
SMOOTH = 250  # ms: a task of 50 is long; the rest is room for a busy machine
PATIENCE = 30_000  # ms for an answer of the server
LATE = 0.7  # seconds
SLOW = 6  # times as long as here
VISITS = 3
"""A busy machine stretches now this task and now that one; what blocks by itself blocks on every visit."""
WATCH = """
window.shifts = []; window.tasks = [];
new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shifts.push(
    {value: entry.value, what: entry.sources.map((source) => source.node?.outerHTML?.slice(0, 120))}); })
    .observe({type: "layout-shift", buffered: true});
new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.tasks.push(entry.duration); })
    .observe({type: "longtask", buffered: true});
"""
READ = """() => document.readyState !== "loading" || new Promise((done) =>
    document.addEventListener("readystatechange", () => done(), {once: true}))"""
PLACES = """() => [...document.querySelectorAll("main *")].filter((one) => one.checkVisibility())
    .map((one) => [one.outerHTML.slice(0, 12), one.getBoundingClientRect().x, one.getBoundingClientRect().y])"""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def refund(scout: Agent, order: str, **more: object) -> str:
    answer = scout.propose("payments.refund", {"order": order, "amount": 480, "currency": "EUR", **more})
    return str(answer.json()["id"])


def watched(page: Page) -> Page:
    """Have every document of `page` note what shifts and what blocks."""
    page.add_init_script(WATCH)
    return page


def shifts(page: Page) -> list[Any]:
    page.evaluate(PAINTED)
    return list(page.evaluate("window.shifts"))


def longest_task(page: Page) -> float:
    return float(max(page.evaluate("window.tasks"), default=0))


def is_on_screen(found: Locator) -> bool:
    """Whether it stands in the first viewport, above the bar that the decision is made in."""
    box, bar = found.bounding_box(), found.page.locator(".decide").bounding_box()
    assert box and bar
    return box["y"] >= 0 and box["y"] + box["height"] <= min(bar["y"], SCREEN["height"])


def test_nothing_shifts_or_blocks_while_the_queue_loads_and_asks_for_news(
    scout: Agent, as_person: SignIn
) -> None:
    for number in range(12):
        refund(scout, f"63{number:03}")
    page = watched(as_person("alice", viewport=SCREEN))
    blocked = []
    for visit in range(VISITS):
        page.goto("/", wait_until="networkidle")
        assert shifts(page) == []
        first = page.locator("[data-row]").first.bounding_box()
        refund(scout, f"631{visit:02}")
        page.evaluate(
            "for (const place of document.querySelectorAll('[data-poll]')) htmx.trigger(place, 'poll')"
        )
        expect(page.locator(".list-new")).to_contain_text("new since", timeout=PATIENCE)
        assert shifts(page) == []
        assert page.locator("[data-row]").first.bounding_box() == first
        blocked.append(longest_task(page))
    assert min(blocked) < SMOOTH


def test_nothing_shifts_when_the_server_does_not_answer(scout: Agent, as_person: SignIn) -> None:
    refund(scout, "63200")
    page = watched(as_person("alice", viewport=SCREEN))
    page.goto("/", wait_until="networkidle")
    page.context.set_offline(True)
    page.evaluate("for (const place of document.querySelectorAll('[data-poll]')) htmx.trigger(place, 'poll')")
    expect(page.locator("[data-old]")).to_contain_text("Not up to date since")
    assert shifts(page) == []
    page.context.set_offline(False)


def test_nothing_shifts_or_blocks_while_a_proposal_loads_and_is_decided(
    scout: Agent, as_person: SignIn
) -> None:
    page = watched(as_person("alice", viewport=SCREEN))
    blocked = []
    for visit in range(VISITS):
        proposal = refund(scout, f"633{visit:02}", note="What the customer wrote. " * 100)
        page.goto(f"/proposals/{proposal}/", wait_until="networkidle")
        assert shifts(page) == []
        decide(page, "approve")
        page.wait_for_timeout(600)  # what shifts within half a second of a key is called expected
        page.evaluate("window.shifts = []")
        assert shifts(page) == []
        blocked.append(longest_task(page))
    assert min(blocked) < SMOOTH


def test_a_page_is_painted_once_it_is_whole_also_on_a_slow_machine(scout: Agent, as_person: SignIn) -> None:
    for number in range(12):
        refund(scout, f"634{number:02}")
    page = watched(as_person("alice", viewport=SCREEN))
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
    for address in ("/", "/quarantine/", "/"):
        page.goto(address, wait_until="networkidle")
        assert shifts(page) == []
        painted, read = page.evaluate(
            """[performance.getEntriesByName("first-paint")[0].startTime,
                performance.getEntriesByType("navigation")[0].domInteractive]"""
        )
        assert painted >= read


@pytest.mark.parametrize("width", [320, 800, 1280])
def test_nothing_moves_when_the_last_script_comes(scout: Agent, as_person: SignIn, width: int) -> None:
    proposal = refund(scout, f"635{width}", note="What the customer wrote. " * 300)
    page = as_person("alice", viewport={"width": width, "height": SCREEN["height"]})
    page.route("**/htmx-2.min.js", _late)
    for address in ("/?risk=medium", f"/proposals/{proposal}/"):
        page.goto(address, wait_until="commit")
        page.evaluate(READ)
        before = page.evaluate(PLACES)
        page.wait_for_load_state()
        assert page.evaluate(PLACES) == before


def _late(route: Route) -> None:
    time.sleep(LATE)
    route.continue_()


def test_twelve_rows_of_the_queue_are_on_the_screen(scout: Agent, as_person: SignIn) -> None:
    for number in range(14):
        refund(scout, f"64{number:03}")
    page = as_person("alice", viewport=SCREEN)
    ends = page.locator("[data-row]").evaluate_all(
        "(rows) => rows.map((row) => row.getBoundingClientRect().bottom)"
    )
    assert sum(end <= SCREEN["height"] for end in ends) >= 12


@pytest.mark.parametrize("size", [4_000, 9_000])
@pytest.mark.parametrize("place", [0, 0.5, 1], ids=["beginning", "middle", "end"])
@pytest.mark.parametrize(
    "letters", ["A line that the customer wrote. ", "0123456789abcdef"], ids=["prose", "one word"]
)
def test_the_changed_byte_of_a_long_argument_is_on_the_first_screen(
    scout: Agent, as_person: SignIn, size: int, place: float, letters: str
) -> None:
    text = (letters * size)[:size]
    at = int(place * (size - 1))
    proposal = refund(scout, f"65-{size}-{place}-{len(letters)}", note=text)
    page = as_person("alice", viewport=SCREEN)
    page.goto(f"/proposals/{proposal}/")
    changed = {"order": f"65-{size}-{place}-{len(letters)}", "amount": 480, "currency": "EUR"}
    changed["note"] = f"{text[:at]}\N{SNOWMAN}{text[at + 1 :]}"
    revised = scout.call(
        "POST", f"/api/v1/proposals/{proposal}/revisions", {"revision": 1, "arguments": changed}
    )
    assert revised.status in (200, 201)
    page.goto(f"/proposals/{proposal}/")
    assert is_on_screen(page.locator("ins", has_text="\N{SNOWMAN}").first)
    assert is_on_screen(page.locator("del").first)


def test_what_is_folded_around_a_change_is_counted_and_there_without_javascript(
    scout: Agent, as_person: SignIn
) -> None:
    text = "The first words. " + "A line that the customer wrote. " * 100 + "The last words."
    proposal = refund(scout, "66001", note=text)
    page = as_person("alice", java_script_enabled=False)
    page.goto(f"/proposals/{proposal}/")
    changed = {"order": "66001", "amount": 480, "currency": "EUR", "note": text + " Or not."}
    scout.call("POST", f"/api/v1/proposals/{proposal}/revisions", {"revision": 1, "arguments": changed})
    page.goto(f"/proposals/{proposal}/")
    fold = page.locator(".side-new details")
    expect(fold.locator("summary")).to_contain_text("characters unchanged")
    expect(fold).to_contain_text("The first words.")
    fold.locator("summary").click()
    assert page.locator(".side-new .value").text_content().count("A line that the customer wrote.") == 100  # type: ignore[union-attr]


def test_from_the_sign_in_to_a_recorded_decision_by_keyboard_in_eight_presses(
    console: Console, scout: Agent, as_person: SignIn
) -> None:
    refund(scout, "67001")
    page = as_person(None, viewport=SCREEN)
    presses = 0

    def press(key: str) -> None:
        nonlocal presses
        page.keyboard.press(key)
        presses += 1

    page.goto("/accounts/login/")
    page.keyboard.type("alice")
    press("Tab")
    page.keyboard.type(console.password("alice"))
    press("Enter")
    page.locator("[data-row]").first.wait_for()
    press("j")
    press("Enter")
    page.locator("#proposal").wait_for()
    page.wait_for_timeout(1_000)  # decision keys sleep after a page has appeared
    press("a")
    page.keyboard.type("Checked against the ticket.")
    press("Tab")
    press("Tab")
    press("Enter")
    expect(page.locator("#status")).to_contain_text("Recorded: you approved")
    assert presses <= 8
