"""A hidden tab tells its reader how much is new, if he asked for that in this browser, and nothing else."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import SignIn
from tests.support.console import Agent

#: Stands for the browser's own: notes what was asked and told. The tab is hidden where `looksAway` says so.
BROWSER = """
  window.asked = 0;
  window.Notification = class {
    static get permission() { return localStorage.getItem("allowed") || "default"; }
    static async requestPermission() {
      window.asked += 1;
      localStorage.setItem("allowed", window.answer || "granted");
      return this.permission;
    }
    constructor(text, options) { (window.toldOf ||= []).push([text, Object.keys(options)]); }
  };
  Object.defineProperty(document, "hidden", { get: () => Boolean(window.looksAway) });
"""
POLL = """async () => {
  const done = new Promise((resolve) => document.addEventListener("htmx:afterRequest", resolve, { once: true }));
  htmx.trigger("[data-poll]", "poll");
  await done;
  return window.toldOf || [];
}"""


def reader(as_person: SignIn, name: str) -> Page:
    page = as_person(name)
    page.add_init_script(BROWSER)
    page.goto("/account/notices/")
    return page


def refund(scout: Agent, order: str) -> None:
    scout.propose("payments.refund", {"order": order, "amount": 480, "currency": "EUR"})


def test_a_hidden_tab_tells_how_many_are_new_once_and_only_who_can_decide(
    scout: Agent, as_person: SignIn
) -> None:
    """Bob owns scout: what it asks for is nothing that he could decide."""
    pages = [reader(as_person, name) for name in ("alice", "bob")]
    for page in pages:
        assert page.evaluate("asked") == 0
        page.get_by_label("Notify me in this browser").check()
        expect(page.get_by_label("Notify me in this browser")).to_be_checked()
        assert page.evaluate("asked") == 1
        page.goto("/")
    refund(scout, "77001")
    alice, bob = pages
    assert alice.evaluate(POLL) == []  # she looks at it
    for page in pages:
        page.evaluate("looksAway = true")
    assert bob.evaluate(POLL) == alice.evaluate(POLL) == []
    refund(scout, "77002")
    assert alice.evaluate(POLL) == alice.evaluate(POLL) == [["2 new need you", ["tag"]]]
    refund(scout, "77003")
    assert alice.evaluate(POLL)[1:] == [["3 new need you", ["tag"]]]


def test_who_did_not_ask_is_not_told_and_a_browser_that_forbids_it_says_so(
    scout: Agent, as_person: SignIn
) -> None:
    page = reader(as_person, "alice")
    page.goto("/")
    refund(scout, "77004")
    page.evaluate("looksAway = true")
    assert page.evaluate(POLL) == [] and page.evaluate("asked") == 0
    page.goto("/account/notices/")
    page.evaluate("answer = 'denied'")
    page.get_by_label("Notify me in this browser").click()
    expect(page.get_by_text("This browser does not allow it.")).to_be_visible()
    expect(page.get_by_label("Notify me in this browser")).not_to_be_checked()
