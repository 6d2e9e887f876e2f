"""Reading a proposal in a browser: links into the diff, old beside new, what others say, and what comes next."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SignIn, decide
from tests.support.console import Agent


def revised(scout: Agent, order: str) -> str:
    """A refund of which the second revision has another amount and a note; its currency stays."""
    first = {"order": order, "amount": 480, "currency": "EUR"}
    made = scout.propose("payments.refund", first).json()["id"]
    again = {"revision": 1, "arguments": {**first, "amount": 481, "note": "one more"}}
    scout.call("POST", f"/api/v1/proposals/{made}/revisions", again)
    return f"/proposals/{made}/?base=r1"


@pytest.mark.parametrize("script", [True, False])
def test_a_link_leads_to_its_row_also_where_it_is_folded(
    scout: Agent, as_person: SignIn, script: bool
) -> None:
    page = as_person("alice", java_script_enabled=script)
    page.goto(f"{revised(scout, f'3200{int(script)}')}#/currency")
    row = page.locator(".value-row", has_text="/currency")
    expect(row).to_be_visible()
    expect(row).to_be_in_viewport()


def test_from_the_row_of_a_link_the_keys_go_on(scout: Agent, as_person: SignIn) -> None:
    page = as_person("alice")
    page.goto(f"{revised(scout, '32002')}#/amount")
    page.keyboard.press("n")
    expect(page.locator('[data-change][aria-current="true"] .pointer')).to_have_text("/note")
    page.keyboard.press("p")
    expect(page.locator('[data-change][aria-current="true"] .pointer')).to_have_text("/amount")


def test_old_stands_beside_new_where_there_is_room_and_above_it_where_not(
    scout: Agent, as_person: SignIn
) -> None:
    address = revised(scout, "32003")
    page = as_person("alice", viewport={"width": 1280, "height": 800})
    page.goto(address)
    sides = page.locator(".diff-row", has_text="/amount").locator(".side")
    old, new = (sides.nth(n).bounding_box() for n in (0, 1))
    assert old and new and old["y"] == new["y"] and old["x"] < new["x"]
    page.get_by_role("button", name="Side by side").click()
    page.reload()
    expect(page.get_by_role("button", name="Side by side")).to_have_attribute("aria-pressed", "false")
    old, new = (sides.nth(n).bounding_box() for n in (0, 1))
    assert old and new and old["x"] == new["x"] and old["y"] < new["y"]
    page.set_viewport_size({"width": 320, "height": 800})
    expect(page.get_by_role("button", name="Side by side")).not_to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_after_a_decision_one_key_leads_to_the_next_item(scout: Agent, as_person: SignIn) -> None:
    mine = scout.propose("payments.refund", {"order": "32004"}).json()["id"]
    scout.propose("payments.refund", {"order": "32005"})
    page = as_person("alice")
    page.goto(f"/proposals/{mine}/")
    decide(page, "approve")
    following = page.locator("#status a").get_attribute("href")
    page.keyboard.press(".")
    page.wait_for_url(f"**{following}")
    expect(page.locator("h1")).to_be_focused()
    expect(page.locator("#status")).to_have_count(0)
    assert following and mine not in following


def test_the_next_item_is_opened_as_a_page_where_it_cannot_take_the_place_of_this_one(
    scout: Agent, as_person: SignIn
) -> None:
    mine = scout.propose("payments.refund", {"order": "32006"}).json()["id"]
    scout.propose("payments.refund", {"order": "32007"})
    page = as_person("alice")
    page.goto(f"/proposals/{mine}/")
    decide(page, "approve")
    following = str(page.locator("#status a").get_attribute("href"))
    page.route(
        f"**{following}",
        lambda route: (
            route.fulfill(status=503) if "hx-request" in route.request.headers else route.continue_()
        ),
    )
    page.keyboard.press(".")
    page.wait_for_url(f"**{following}")
    expect(page.locator("#status")).to_have_count(0)


@pytest.mark.parametrize("script", [True, False])
def test_approve_stands_on_the_page_that_shows_all_rows(
    scout: Agent, as_person: SignIn, script: bool
) -> None:
    many = {"order": f"3202{int(script)}", "lines": [f"line {n}" for n in range(2_100)]}
    made = scout.propose("payments.refund", many).json()["id"]
    page = as_person("alice", java_script_enabled=script)
    page.goto(f"/proposals/{made}/")
    expect(page.locator(".decide")).to_contain_text("Show all rows of the comparison to approve.")
    expect(page.locator("button[name=verdict][value=approve]")).to_have_count(0)
    page.get_by_role("link", name="Show all rows").first.click()
    expect(page.locator(".value-row")).to_have_count(2_101)
    if script:
        decide(page, "approve")
    else:
        page.locator("button[name=verdict][value=approve]").click()
    expect(page.locator("#status")).to_contain_text("Recorded: you approved revision 1")


def test_in_a_comparison_of_ten_thousand_rows_everything_is_found_and_a_key_away(
    scout: Agent, as_person: SignIn
) -> None:
    first, second = ({f"key{n:04}": f"{word} {n}" for n in range(9_900)} for word in ("old", "new"))
    made = scout.propose("payments.refund", first).json()["id"]
    scout.call("POST", f"/api/v1/proposals/{made}/revisions", {"revision": 1, "arguments": second})
    page = as_person("alice")
    page.goto(f"/proposals/{made}/?base=r1&rows=all")
    assert page.locator("[data-change]").count() == 9_900
    for found in ("new 9876", "old 1234"):
        assert page.evaluate("(text) => window.find(text, false, true, true)", found)
        expect(page.locator(".value", has_text=found)).to_be_in_viewport()
    page.keyboard.press("n")
    row = page.locator('[data-change][aria-current="true"]')
    expect(row.locator(".pointer")).to_have_text("/key0001")
    expect(row).to_be_in_viewport()


@pytest.mark.parametrize("script", [True, False])
def test_a_comment_is_kept_and_what_was_typed_for_the_decision_stays(
    scout: Agent, as_person: SignIn, script: bool
) -> None:
    made = scout.propose("payments.refund", {"order": f"3201{int(script)}"}).json()["id"]
    page = as_person("bob", java_script_enabled=script, viewport={"width": 320, "height": 800})
    page.goto(f"/proposals/{made}/")
    page.locator("#comment").fill("Is this the <i>right</i> order?")
    page.locator("select[name=about]").select_option("/order")
    page.get_by_role("button", name="Add the comment").click()
    said = page.locator("#history .said")
    expect(said).to_have_text("Is this the <i>right</i> order?")
    expect(page.locator("#history li", has=page.locator(".said"))).to_contain_text(
        "bob commented on revision 1. /order"
    )
    other = as_person("alice")
    other.goto(f"/proposals/{made}/")
    expect(other.locator("#history .said")).to_have_text("Is this the <i>right</i> order?")
