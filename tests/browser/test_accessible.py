"""What axe cannot see: targets, focus, motion, forced colours, zoom. docs/accessibility.md names these tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import SignIn, decide
from tests.support.console import Agent

CRITERIA = Path(__file__).parents[2] / "docs" / "accessibility.md"
PAGES = ("/", "/quarantine/", "/memory/", "/account/", "/help/")
SMALL = """() => [...document.querySelectorAll("a, button, summary, select, input:not([type=hidden]), textarea")]
  .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.matches(".skip, .row-link"))
  .filter((one) => !one.closest("p, small, dd, td, .prose, .notice, .foot") || one.matches(".tap, button"))
  .map((one) => [one, one.closest(one.matches("[type=checkbox], [type=radio]") ? "label" : ".pick") || one])
  .filter(([, area]) => area.getBoundingClientRect().height < 43)
  .map(([one]) => one.outerHTML.slice(0, 140))"""
MOVES = """() => [...document.querySelectorAll("*")].filter((one) => {
  const style = getComputedStyle(one);
  return style.animationName !== "none" || style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0);
}).map((one) => one.outerHTML.slice(0, 100))"""


def refund(scout: Agent, order: str) -> str:
    return str(scout.propose("payments.refund", {"order": order, "amount": 480}).json()["id"])


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))


def test_what_is_pressed_on_its_own_is_large_enough(scout: Agent, as_person: SignIn) -> None:
    for width in (1280, 320):
        page = as_person("alice", viewport={"width": width, "height": 800})
        small: list[Any] = []
        for address in (*PAGES, f"/proposals/{refund(scout, f'70{width}')}/"):
            page.goto(address)
            small += [f"{address} at {width}: {found}" for found in page.evaluate(SMALL)]
        assert not small


def test_nothing_moves_for_who_asked_for_less_motion(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "70001")
    for motion, moves in (("reduce", False), ("no-preference", True)):
        page = as_person("alice", reduced_motion=motion)
        for address in ("/", f"/proposals/{proposal}/"):
            page.goto(address)
            assert bool(page.evaluate(MOVES)) is moves


def test_forced_colours_keep_every_state_that_colour_tells(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "70002")
    page = as_person("alice", forced_colors="active")
    page.goto(f"/proposals/{proposal}/")
    changed = {"order": "70002", "amount": 4800}
    scout.call("POST", f"/api/v1/proposals/{proposal}/revisions", {"revision": 1, "arguments": changed})
    page.goto("/")
    page.keyboard.press("j")
    current = page.locator('[data-row][aria-current="true"] td').first
    expect(current).to_have_css("border-left-width", "4px")
    page.goto(f"/proposals/{proposal}/")
    expect(page.locator(".diff-kind", has_text="Changed").first).to_be_visible()
    expect(page.locator("del.word").first).to_have_css("text-decoration-line", "line-through")
    expect(page.locator("ins.word").first).to_have_css("text-decoration-line", "underline")
    expect(page.locator("[data-open=approve]")).to_have_css("border-top-width", "2px")
    expect(page.locator("[data-open=reject]")).to_have_css("border-top-width", "1px")


def test_focus_is_seen_and_never_hidden_behind_the_bar(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "70003")
    page = as_person("alice", viewport={"width": 1280, "height": 600})
    page.goto(f"/proposals/{proposal}/")
    for _ in range(25):
        page.keyboard.press("Tab")
        at = page.evaluate(
            """() => { const one = document.activeElement, box = one.getBoundingClientRect();
                const bar = document.querySelector(".decide").getBoundingClientRect();
                const ring = one.closest(".pick") || one;  // a filter draws its ring around label and list
                    return {outline: getComputedStyle(ring).outlineStyle, html: one.outerHTML.slice(0, 120),
                        hidden: !one.closest(".decide") && box.top >= bar.top - 1, body: one === document.body}; }"""
        )
        assert at["body"] or (at["outline"] != "none" and not at["hidden"]), at


def test_the_status_region_takes_focus_after_an_answer_and_the_next_tab_goes_on_from_there(
    scout: Agent, as_person: SignIn
) -> None:
    proposal = refund(scout, "70004")
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    decide(page, "approve")
    expect(page.locator("#status")).to_be_focused()
    expect(page.locator("#status")).to_have_attribute("role", "status")
    page.keyboard.press("Tab")
    expect(page.locator("#status a")).to_be_focused()


def test_the_first_tab_skips_to_the_page(as_person: SignIn) -> None:
    page = as_person("alice")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_more_space_between_lines_letters_and_words_hides_nothing(scout: Agent, as_person: SignIn) -> None:
    """WCAG 1.4.12, with its own numbers; at 320 px, where there is least room."""
    proposal = refund(scout, "70005")
    page = as_person("alice", viewport={"width": 320, "height": 800}, bypass_csp=True)
    for address in ("/", f"/proposals/{proposal}/"):
        page.goto(address)
        page.add_style_tag(
            content="* { line-height: 1.5 !important; letter-spacing: .12em !important;"
            " word-spacing: .16em !important }"
        )
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_every_criterion_of_wcag_2_2_aa_has_its_line() -> None:
    lines = re.findall(r"^\| (\d\.\d\.\d+) ", CRITERIA.read_text(), re.MULTILINE)
    counts = {"1.1": 1, "1.2": 5, "1.3": 5, "1.4": 9, "2.1": 3, "2.2": 2, "2.3": 1, "2.4": 8, "2.5": 6}
    counts |= {"3.1": 2, "3.2": 5, "3.3": 6, "4.1": 2}
    assert {part: sum(line.startswith(f"{part}.") for line in lines) for part in counts} == counts
    assert len(lines) == len(set(lines)) == sum(counts.values())
    named = set(re.findall(r"`(test_\w+)`", CRITERIA.read_text()))
    there = {
        name
        for path in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text())
    }
    assert named and named <= there
