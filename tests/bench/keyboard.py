"""What a reviewer waits for at the keyboard, in a real browser: from the press of a key to what it paints.

These are times and no ratios: what a person waits for is not measured against anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import quantiles
from typing import NamedTuple

from playwright.sync_api import Page, sync_playwright

from tests.bench.rounds import Told, row
from tests.support import browser
from tests.support.console import Agent, Answer, Console

PRESSES = 40
ROWS = 9_900  # changed values of the large comparison; the reader of bodies takes 10,000
ASLEEP = 900  # ms; decision keys sleep after a page has appeared
READS = 300  # ms; what was recorded is read before one goes on, and the page has fetched the rest by then
FRAME = 1000 / 60

# One clock for two documents: a key is pressed on one page, what it leads to is painted on the next.
CLOCK = """
addEventListener("keydown", (event) => {
    sessionStorage.setItem("pressed", performance.timeOrigin + event.timeStamp);
    if (window.onpressed) onpressed();
}, true);
window.since = (at) => performance.timeOrigin + at - Number(sessionStorage.getItem("pressed"));
window.drawn = () => new Promise((done) =>
    requestAnimationFrame(() => setTimeout(() => done(since(performance.now())))));
"""
ON_PRESS = "() => { window.told = new Promise((done) => { window.onpressed = () => drawn().then(done); }); }"
ON_NEXT = """() => { window.told = new Promise((done) => {
    new MutationObserver((_, watch) => {
        if (document.querySelector("#status")) return;
        watch.disconnect();
        drawn().then(done);
    }).observe(document.body, {childList: true, subtree: true});
}); }"""
ON_RECORD = """() => { window.told = new Promise((done) => {
    new MutationObserver((_, watch) => {
        if (!document.querySelector("#status.notice-green")) return;
        watch.disconnect();
        drawn().then(done);
    }).observe(document.body, {childList: true, subtree: true});
}); }"""


class Desk(NamedTuple):
    """The agent who proposes, and alice at her browser."""

    scout: Agent
    page: Page


@contextmanager
def desk() -> Iterator[Desk]:
    """Run a console and a browser with alice signed in."""
    path = browser.find()  # asks Playwright too, which cannot be asked while it runs
    with Console() as console, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=browser.launch_arguments())
        page = chromium.new_context(base_url=console.url, viewport={"width": 1280, "height": 800}).new_page()
        page.add_init_script(CLOCK)
        page.goto("/accounts/login/")
        page.locator("input[name=login]").fill("alice")
        page.locator("input[name=password]").fill(console.password("alice"))
        page.locator("input[name=password]").press("Enter")
        page.locator("[data-row]").first.wait_for()
        yield Desk(console.agent(), page)
        chromium.close()


@row("key to the next proposal painted, p95 in ms", must=80)
def key_to_next() -> float:
    return _p95([moved for _, moved in _decided_one_by_one()])


@row("key to the approval recorded and painted, its entry in the log, p95 in ms", must=100)
def key_to_recorded() -> float:
    return _p95([recorded for recorded, _ in _decided_one_by_one()])


@row("j and k in the queue until the row that has the focus is painted, p95 in frames", must=2)
def keys_in_the_queue() -> float:
    with desk() as (scout, page):
        for number in range(PRESSES):
            _refund(scout, number)
        page.goto("/")
        return _p95([_press(page, key) / FRAME for key in "jjjk" * (PRESSES // 2)])


@row("n, p, e and w on a comparison of 9,900 changed values, p95 in ms", must=64)
def keys_in_a_long_diff() -> float:
    with desk() as (scout, page):
        page.goto(_long_diff(scout))
        assert page.locator("[data-change]").count() == ROWS
        return _p95([_press(page, key) for key in "nnnpnnew" * (PRESSES // 4)])


def _p95(times: list[float]) -> Told:
    return Told(quantiles(times, n=20)[-1], f"p50 {quantiles(times, n=2)[0]:.4g}, {len(times)} presses")


def _press(page: Page, key: str) -> float:
    """Press a key that stays on the page, and return the ms until what it did is painted."""
    page.evaluate(ON_PRESS)
    page.keyboard.press(key)
    return float(page.evaluate("window.told"))


def _decided_one_by_one() -> list[tuple[float, float]]:
    """Approve one proposal after the other by keyboard; of each, the ms until recorded and until the next."""
    with desk() as (scout, page):
        first, *_ = [_refund(scout, number) for number in range(PRESSES + 1)]
        page.goto(f"/proposals/{first}/")
        return [(_approve(page), _go_on(page)) for _ in range(PRESSES)]


def _approve(page: Page) -> float:
    page.wait_for_timeout(ASLEEP)
    page.keyboard.press("a")
    page.keyboard.type("Checked.")
    page.locator("button[name=verdict][value=approve]").focus()
    page.evaluate(ON_RECORD)
    page.keyboard.press("Enter")
    return float(page.evaluate("window.told"))


def _go_on(page: Page) -> float:
    page.wait_for_timeout(READS)
    page.evaluate(ON_NEXT)
    page.keyboard.press(".")
    return float(page.evaluate("window.told"))


def _refund(scout: Agent, number: int) -> str:
    note = "What the customer wrote. " * 20
    return _id_of(
        scout.propose("payments.refund", {"order": f"9{number:04}", "amount": number, "note": note})
    )


def _long_diff(scout: Agent) -> str:
    """Have every one of many values revised, and return the address of the comparison with all rows."""
    first, second = ({f"key{n:04}": n + more for n in range(ROWS)} for more in (0, 1))
    made = _id_of(scout.propose("payments.refund", first))
    answer = scout.call("POST", f"/api/v1/proposals/{made}/revisions", {"revision": 1, "arguments": second})
    assert answer.status == 201, answer.body
    return f"/proposals/{made}/?base=r1&rows=all"


def _id_of(answer: Answer) -> str:
    assert answer.status == 201, answer.body
    return str(answer.json()["id"])
