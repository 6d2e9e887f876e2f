"""The pane beside the queue: by keys and by mouse, only where there is room, and a plain link without JavaScript."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import SignIn
from tests.support.console import Agent

WIDE = {"width": 1280, "height": 800}


def refunds(scout: Agent, *orders: str) -> list[str]:
    return [str(scout.propose("payments.refund", {"order": order}).json()["id"]) for order in orders]


def test_by_keys_she_goes_from_row_to_row_and_each_is_shown_beside_the_list(
    scout: Agent, as_person: SignIn
) -> None:
    first, _ = refunds(scout, "44001", "44002")
    page = as_person("alice", viewport=WIDE)
    page.goto("/?q=order+4400")
    expect(page.locator("#pane")).to_be_hidden()
    page.keyboard.press("v")
    expect(page.get_by_role("button", name="Preview")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("j")
    expect(page.locator("#pane .panel")).to_contain_text("44001")
    page.keyboard.press("j")
    expect(page.locator("#pane .panel")).to_contain_text("44002")
    expect(page.locator("[data-row]").nth(1).locator("a")).to_be_focused()
    page.locator(f"#row-{first} .c-votes").click()
    expect(page.locator("#pane .panel")).to_contain_text("44001")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()
    expect(page.locator("#pane")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url(f"**/proposals/{first}/")


def test_beside_the_list_never_stands_another_proposal_than_the_current_row(
    scout: Agent, as_person: SignIn
) -> None:
    _, second = refunds(scout, "44031", "44032")
    page = as_person("alice", viewport=WIDE)
    page.goto("/?q=order+4403")
    page.keyboard.press("v")
    page.keyboard.press("j")
    pane = page.locator("#pane")
    expect(pane).to_contain_text("44031")
    page.route(f"**/{second}/preview/", lambda route: route.fulfill(status=404))
    page.keyboard.press("j")
    expect(pane).to_have_text("")
    page.keyboard.press("k")
    expect(pane).to_contain_text("44031")
    page.locator("select[name=risk]").select_option("low")
    expect(pane).to_have_text("The row you go to is shown here.")


def test_what_was_stands_above_what_is_beside_the_list_and_both_are_as_wide(
    scout: Agent, as_person: SignIn
) -> None:
    (made,) = refunds(scout, "44051")
    page = as_person("alice", viewport=WIDE)
    page.goto(f"/proposals/{made}/")  # what she is shown later begins at what she looked at
    changed = {"revision": 1, "arguments": {"order": "44052"}}
    scout.call("POST", f"/api/v1/proposals/{made}/revisions", changed)
    page.goto("/?q=order+44052")
    page.keyboard.press("v")
    page.keyboard.press("j")
    expect(page.locator("#pane .side-old")).to_contain_text("44051")
    expect(page.locator("#pane .side-new")).to_contain_text("44052")
    old, new = (page.locator(f"#pane .side-{side}").bounding_box() for side in ("old", "new"))
    assert old and new
    assert old["y"] < new["y"]
    assert (old["x"], old["width"]) == (new["x"], new["width"])


def test_what_she_selects_by_key_is_seen_selected_and_what_she_folded_stays_folded(
    scout: Agent, as_person: SignIn
) -> None:
    refunds(scout, "44041")
    page = as_person("alice", viewport=WIDE)
    page.goto("/?q=order+44041")
    page.locator(".saved summary").click()
    page.keyboard.press("v")
    page.keyboard.press("j")
    expect(page.locator("#pane")).to_contain_text("44041")
    page.keyboard.press("x")
    expect(page.locator("[data-select]")).to_be_visible()
    expect(page.locator("[data-select]")).to_be_checked()
    expect(page.get_by_label("Save this view as")).to_be_hidden()


def test_a_list_that_has_no_preview_looks_as_ever(as_person: SignIn) -> None:
    page = as_person("alice", viewport=WIDE)
    page.keyboard.press("v")
    expect(page.get_by_role("button", name="Preview")).to_have_attribute("aria-pressed", "true")
    page.goto("/quarantine/")
    head = page.get_by_role("columnheader", name="Source").bounding_box()
    assert head and head["width"] > 1
    row = page.locator("[data-row]").first
    address = row.locator("a").get_attribute("href")
    row.locator(".c-votes").click(force=True)  # the link lies over the whole row
    page.wait_for_url(f"**{address}")


def test_where_there_is_no_room_nothing_is_asked_for(scout: Agent, as_person: SignIn) -> None:
    refunds(scout, "44011")
    page = as_person("alice", viewport={"width": 1100, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    expect(page.get_by_role("button", name="Preview")).to_be_hidden()
    page.keyboard.press("v")
    page.keyboard.press("j")
    expect(page.locator("[data-row]").first).to_have_attribute("aria-current", "true")
    assert not [address for address in asked if address.endswith("/preview/")]


def test_without_javascript_the_row_is_a_link_to_the_page(scout: Agent, as_person: SignIn) -> None:
    [made] = refunds(scout, "44021")
    page = as_person("alice", viewport=WIDE, java_script_enabled=False)
    page.goto("/?q=order+44021")
    expect(page.get_by_role("button", name="Preview")).to_be_hidden()
    expect(page.locator("#pane")).to_be_hidden()
    page.get_by_role("link", name="44021").click()
    page.wait_for_url(f"**/proposals/{made}/")
