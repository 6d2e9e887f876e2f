"""A manager writes a policy, another approves it, and both see what it does before they press anything."""

from __future__ import annotations

import json

from playwright.sync_api import Page

from tests.browser.conftest import SignIn, decide
from tests.browser.test_every_page import LOOKS, SCREENS, faults
from tests.support.console import Agent

RULE = {"tool": "crm.merge", "risk": "high", "approvals": 2, "groups": [], "ttl_seconds": 86_400}


def write(page: Page, rule: dict[str, object]) -> None:
    """Put a rule first in the text of the editor, and compare."""
    page.goto("/policy/edit/?workspace=acme")
    text = page.locator("textarea[name=policy]")
    document = json.loads(text.input_value())
    document["rules"].insert(0, rule)
    text.fill(json.dumps(document, indent=2))
    page.get_by_role("button", name="Compare").click()


def pictured(page: Page, name: str) -> list[str]:
    """Look at the page as it is, in every theme and width, and return what is wrong with it."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    found = []
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": 800})
        found += list(faults(page))
        page.screenshot(path=SCREENS / f"{name}-{scheme}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 800})
    return found


def test_a_policy_is_written_compared_proposed_and_approved(as_person: SignIn, scout: Agent) -> None:
    scout.propose("crm.merge", {"id": "K-2201", "into": "K-2200"})
    dana, erin = as_person("dana"), as_person("erin")
    write(dana, RULE)
    assert "crm.merge" in dana.locator("#effect").inner_text()
    assert "/rules/0" in dana.locator("#changes").inner_text()
    assert not pictured(dana, "policy-compared")
    dana.locator("textarea[name=reason]").fill("Merging customers cannot be undone.")
    dana.get_by_role("button", name="Propose this policy").click()
    dana.wait_for_url("**/proposals/**")
    assert not pictured(dana, "policy-own-proposal")

    erin.goto(dana.url)
    assert "dana asks to change the policy" in erin.locator("h1").inner_text()
    assert not pictured(erin, "policy-proposal")
    decide(erin, "approve", "Agreed with the support team.")
    assert "It took effect" in erin.locator("#status").inner_text()

    dana.goto("/policy/?workspace=acme")
    assert "crm.merge" in dana.locator("table").first.inner_text()


def test_what_cannot_stand_is_shown_at_its_place_and_the_text_stays(as_person: SignIn) -> None:
    dana = as_person("dana")
    write(dana, {"tool": "crm.merge", "groups": [{"name": "securty", "approvals": 1}], "approvals": 9})
    assert dana.locator("#status").get_attribute("data-problem") == "invalid"
    assert "/rules/0/groups/0/name" in dana.locator("#errors").inner_text()
    assert "securty" in dana.locator("textarea[name=policy]").input_value()
    assert dana.get_by_role("button", name="Propose this policy").count() == 0
    assert not pictured(dana, "policy-refused")
