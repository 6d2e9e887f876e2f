"""In a browser: she says that she looks at it, he sees it, and she lets go."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SignIn
from tests.support.console import Agent


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("width", [320, 1280])
def test_she_claims_it_he_sees_it_and_she_lets_go(
    scout: Agent, as_person: SignIn, script: bool, width: int
) -> None:
    order = f"41{int(script)}{width}"
    made = scout.propose("payments.refund", {"order": order}).json()["id"]
    alice, carol = (
        as_person(name, java_script_enabled=script, viewport={"width": width, "height": 800})
        for name in ("alice", "carol")
    )
    alice.goto(f"/proposals/{made}/")
    alice.get_by_role("button", name="Claim it").click()
    expect(alice.locator(".claim")).to_contain_text("Claimed until")
    carol.goto(f"/?q={order}")
    row = carol.locator(f"#row-{made}")
    expect(row).to_contain_text("alice has been looking at it since")
    row.locator("a").click()
    expect(carol.locator(".notices")).to_contain_text("That keeps nobody from deciding")
    alice.get_by_role("button", name="Let go").click()
    expect(alice.get_by_role("button", name="Claim it")).to_be_visible()
    carol.reload()
    expect(carol.locator("#proposal")).not_to_contain_text("looking at it")
