"""The list of the queue in a browser: its order, its groups, and what stays in the address."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignIn
from tests.support.console import Agent


def choose(page: Page, name: str, value: str) -> None:
    """Choose a filter; without JavaScript the form has to be sent."""
    page.locator(f"select[name={name}]").select_option(value)
    if (button := page.get_by_role("button", name="Apply")).is_visible():
        button.click()


def refunds(scout: Agent, run: str, *orders: str) -> None:
    for order in orders:
        scout.propose("payments.refund", {"order": order}, run_id=run)


@pytest.mark.parametrize("script", [True, False])
def test_she_sorts_by_age_and_puts_runs_together_and_it_stays_in_the_address(
    scout: Agent, as_person: SignIn, script: bool
) -> None:
    run = f"nightly-{int(script)}"
    refunds(scout, run, f"4200{int(script)}", f"4201{int(script)}")
    page = as_person("alice", java_script_enabled=script)
    page.goto(f"/?q={run}")
    choose(page, "order", "age")
    expect(page.locator("#sorted")).to_have_text("Oldest first")
    choose(page, "group", "run")
    page.wait_for_url("**/*order=age*")
    expect(page.locator(".group-head", has_text=f"Run {run}")).to_contain_text("2 on this page")
    page.reload()
    expect(page.locator("#sorted")).to_have_text("Oldest first, one run together")
    page.locator(".group-head", has_text=f"Run {run}").get_by_role("link", name="All of them").click()
    expect(page.locator("[data-row]")).to_have_count(2)
    page.get_by_role("link", name="Clear filters").click()
    expect(page.locator("#sorted")).to_have_text("Oldest first")
    assert page.locator("[data-row]").count() > 2


def test_a_whole_group_is_selected_at_its_head_and_nothing_else(scout: Agent, as_person: SignIn) -> None:
    refunds(scout, "nightly-2", "42021", "42022")
    page = as_person("alice")
    page.goto("/?group=run&q=nightly-2")
    page.locator(".group-head", has_text="Run nightly-2").locator("input").check()
    expect(page.locator("[data-bulk-count]")).to_have_text("2")
    page.locator("thead input").check()
    assert page.locator("[data-select]:not(:checked)").count() == 0


def test_beside_the_preview_all_or_a_group_are_still_selected_at_their_heads(
    scout: Agent, as_person: SignIn
) -> None:
    refunds(scout, "nightly-5", "42051", "42052")
    page = as_person("alice", viewport={"width": 1280, "height": 800})
    page.goto("/?group=run&q=nightly-5")
    page.keyboard.press("v")
    expect(page.get_by_role("button", name="Preview")).to_have_attribute("aria-pressed", "true")
    for head in (".group-head", "thead"):
        box = page.locator(f"{head} input").bounding_box()
        assert box
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(page.locator("[data-bulk-count]")).to_have_text("2")
        page.locator(f"{head} input").uncheck()
        expect(page.locator("[data-bulk-count]")).to_have_text("0")
    lefts = page.locator("tr input").evaluate_all(
        "(boxes) => boxes.map((box) => Math.round(box.getBoundingClientRect().x))"
    )
    assert len(lefts) == 4 and len(set(lefts)) == 1
    expect(page.locator("thead").get_by_text("Select all rows shown")).to_be_visible()


def test_without_javascript_no_box_promises_to_select_others(scout: Agent, as_person: SignIn) -> None:
    refunds(scout, "nightly-6", "42061", "42062")
    page = as_person("alice", java_script_enabled=False)
    page.goto("/?group=run&q=nightly-6")
    expect(page.locator("[data-select]").first).to_be_visible()
    for box in page.locator("[data-select-all]").all():
        expect(box).to_be_hidden()
    expect(page.locator(".bulk")).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 800})  # no row has a box there
    expect(page.locator(".bulk")).to_be_hidden()


def test_the_keys_go_from_row_to_row_past_the_heads(scout: Agent, as_person: SignIn) -> None:
    refunds(scout, "nightly-3", "42031", "42032")
    page = as_person("alice")
    page.goto("/?group=run&q=nightly-3")
    for _ in range(2):
        page.keyboard.press("j")
    expect(page.locator("[data-row]").nth(1)).to_have_attribute("aria-current", "true")


def test_at_320_the_heads_and_choices_fit(scout: Agent, as_person: SignIn) -> None:
    refunds(scout, "nightly-" + "4" * 60, "42041", "42042")
    page = as_person("alice", viewport={"width": 320, "height": 800})
    page.goto("/?group=run&q=nightly-4")
    expect(page.locator(".group-head")).to_have_count(1)
    page.locator("summary", has_text="Filter").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("width", [320, 1280])
def test_she_saves_her_filters_finds_them_again_and_removes_them(
    as_person: SignIn, script: bool, width: int
) -> None:
    name = f"Low {int(script)} {width}"
    page = as_person("carol", java_script_enabled=script, viewport={"width": width, "height": 800})
    fold = page.locator("details.saved:not([open]) > summary")
    page.goto("/?risk=low&order=age")
    if fold.is_visible():
        fold.click()
    page.get_by_label("Save this view as").fill(name)
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/?risk=low&order=age")
    page.goto("/")
    if fold.is_visible():
        fold.click()
    page.get_by_role("link", name=name).click()
    expect(page.locator("select[name=risk]")).to_have_value("low")
    if fold.is_visible():
        fold.click()
    page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.get_by_role("link", name=name)).to_have_count(0)


def test_filters_that_were_just_chosen_can_be_saved_without_loading_the_page(as_person: SignIn) -> None:
    page = as_person("carol")
    expect(page.get_by_label("Save this view as")).to_have_count(0)
    choose(page, "risk", "high")
    expect(page.locator("#saved input[type=hidden][name=risk]")).to_have_value("high")
    expect(page.get_by_label("Save this view as")).to_be_visible()
