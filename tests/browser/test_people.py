"""A manager invites somebody, who chooses a password and a second factor, and signs in with both."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page

from tests.browser.conftest import SignIn
from tests.support.console import Console
from tests.support.tour import PASSWORD, code_of


def invited(dana: Page, name: str) -> str:
    """Invite `name` as a reviewer of the first workspace, and return the link."""
    dana.goto("/people/")
    form = dana.locator("form[action='/people/invite/']")
    form.locator("[name=name]").fill(name.title())
    form.locator("[name=username]").fill(name)
    form.locator("button[type=submit]").click()
    return dana.locator("#link").inner_text()


def sign_in(page: Page, name: str) -> None:
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(name)
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("input[name=password]").press("Enter")


def test_somebody_is_invited_and_signs_in_with_a_second_factor(
    console: Console, browser: Browser, as_person: SignIn
) -> None:
    link = invited(as_person("dana"), "petra")
    page = browser.new_context(base_url=console.url).new_page()
    page.goto(link)
    for field in ("password", "again"):
        page.locator(f"input[name={field}]").fill(PASSWORD)
    page.locator("input[name=again]").press("Enter")
    sign_in(page, "petra")
    page.wait_for_url(f"{console.url}/")
    page.goto("/account/second-factor/")
    secret = page.locator("#secret").inner_text()
    page.locator("input[name=code]").fill(code_of(secret))
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("input[name=password]").press("Enter")
    recovery = re.findall(r"\d{8}", page.locator("#recovery-codes").inner_text())
    assert len(recovery) == 10
    page.context.clear_cookies()
    sign_in(page, "petra")
    page.wait_for_url(re.compile("/accounts/login/code/"))
    page.locator("input[name=code]").fill(recovery[0])
    page.locator("input[name=code]").press("Enter")
    page.wait_for_url(f"{console.url}/")
    page.goto("/account/second-factor/")
    assert "9 recovery codes are left" in page.locator("main").inner_text()
    page.context.close()
