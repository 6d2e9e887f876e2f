"""An open queue: what another decided stays where it stood, grey, and the tab says how much is left."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignIn, decide
from tests.support.console import Agent

POLL = "for (const place of document.querySelectorAll('[data-poll]')) htmx.trigger(place, 'poll')"


def refunds(scout: Agent, *orders: str) -> list[str]:
    return [str(scout.propose("payments.refund", {"order": order}).json()["id"]) for order in orders]


def count(page: Page) -> int:
    found = re.match(r"\((\d+)\)", page.title())
    return int(found[1]) if found else 0


def boxes(page: Page) -> list[float]:
    return list(
        page.locator("[data-row]").evaluate_all("(rows) => rows.map((row) => row.getBoundingClientRect().y)")
    )


@pytest.mark.parametrize("width", [320, 1280])
def test_what_another_decided_is_greyed_where_it_stands_and_nothing_moves(
    scout: Agent, as_person: SignIn, width: int
) -> None:
    first, second = refunds(scout, f"43{width}1", f"43{width}2")
    alice = as_person("alice", viewport={"width": width, "height": 800})
    alice.goto(f"/?q=order+43{width}")
    row = alice.locator(f"#row-{first}")
    row.evaluate("(row) => row.setAttribute('aria-current', 'true')")
    if width == 1280:
        row.locator("input").check()
    row.locator("a").focus()
    before, stood = count(alice), boxes(alice)
    carol = as_person("carol")
    carol.goto(f"/proposals/{first}/")
    decide(carol, "approve")
    alice.evaluate(POLL)
    expect(row).to_have_class(re.compile("is-decided"))
    expect(row).to_contain_text("Approved by carol at")
    expect(row.locator("input")).to_have_count(0)
    assert boxes(alice) == stood
    assert count(alice) == before - 1
    expect(alice.locator("#icon")).to_have_attribute("href", f"/queue/icon/{before - 1}.svg")
    expect(alice.locator(".views .count-mine, .menu .count-mine").first).to_have_text(str(before - 1))
    expect(row.locator("a")).to_be_focused()
    expect(row).to_have_attribute("aria-current", "true")
    expect(alice.locator("[data-bulk-count]")).to_have_text("0")
    alice.keyboard.press("j")
    expect(row).not_to_have_attribute("aria-current", "true")
    expect(alice.locator(f"#row-{second}")).to_be_visible()
    alice.reload()
    expect(row).to_have_count(0)


def test_as_long_as_nothing_changes_nothing_is_swapped_and_a_server_that_is_back_is_believed(
    scout: Agent, as_person: SignIn
) -> None:
    refunds(scout, "43601")
    alice = as_person("alice")
    alice.goto("/?q=order+4360")
    alice.evaluate(
        "document.addEventListener('htmx:afterSwap', () => { window.swaps = (window.swaps || 0) + 1 })"
    )
    answers: list[int] = []
    alice.on(
        "response", lambda answer: answers.append(answer.status) if "/queue/new/" in answer.url else None
    )
    alice.context.set_offline(True)
    alice.evaluate(POLL)
    expect(alice.locator("[data-old]")).to_be_visible()
    alice.context.set_offline(False)
    alice.evaluate(POLL)
    expect(alice.locator("[data-old]")).to_be_hidden()
    assert (answers, alice.evaluate("window.swaps")) == ([304], None)
    refunds(scout, "43602")
    alice.evaluate(POLL)
    show = alice.locator(".list-new").get_by_role("link", name="Show")
    show.focus()
    swaps = alice.evaluate("window.swaps")
    with alice.expect_response("**/queue/new/**"):
        alice.evaluate(POLL)
    assert (answers, alice.evaluate("window.swaps")) == ([304, 200, 304], swaps)
    refunds(scout, "43603")
    alice.evaluate(POLL)
    expect(alice.locator(".list-new")).to_contain_text("2 new since")
    expect(show).to_be_focused()


def test_who_stood_on_the_box_of_a_row_that_another_decided_is_led_to_who_did(
    scout: Agent, as_person: SignIn
) -> None:
    (made,) = refunds(scout, "43701")
    alice, carol = as_person("alice"), as_person("carol")
    alice.goto("/?q=order+43701")
    row = alice.locator(f"#row-{made}")
    row.locator("input").focus()
    carol.goto(f"/proposals/{made}/")
    decide(carol, "approve")
    alice.evaluate(POLL)
    expect(row.locator(".row-note")).to_be_focused()
    expect(row.locator(".row-note")).to_contain_text("Approved by carol at")


def test_an_empty_list_says_when_something_came(scout: Agent, as_person: SignIn) -> None:
    page = as_person("alice")
    page.goto("/?q=order+43801")
    expect(page.get_by_role("heading", name="No proposal matches")).to_be_visible()
    refunds(scout, "43801")
    page.evaluate(POLL)
    page.locator(".list-new").get_by_role("link", name="Show").click()
    expect(page.locator("[data-row]")).to_have_count(1)


def test_without_javascript_the_tab_says_it_when_the_page_is_loaded(scout: Agent, as_person: SignIn) -> None:
    refunds(scout, "43901")
    page = as_person("alice", java_script_enabled=False)
    before = count(page)
    refunds(scout, "43902")
    page.reload()
    assert count(page) == before + 1
    icon = page.request.get(f"/queue/icon/{before + 1}.svg")
    assert icon.ok and f">{before + 1}<" in icon.text()
