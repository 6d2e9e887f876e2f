"""Managers set an agent up, stop it and let it run again, each with what is his."""

from __future__ import annotations

from tests.browser.conftest import SignIn
from tests.support.console import Agent, Console


def test_an_agent_is_added_given_a_token_stopped_by_one_manager_and_resumed_by_another(
    console: Console, as_person: SignIn
) -> None:
    dana = as_person("dana")
    dana.goto("/agents/")
    dana.fill("#agent-name", "courier")
    dana.select_option("select[name=owner]", label="bob")
    dana.click("text=Add the agent")
    assert dana.locator("h1").inner_text() == "courier"
    address = dana.url

    dana.click("text=Mint a token…")
    dana.click("button:has-text('Mint the token')")
    courier = Agent(console.url, dana.locator("#shown-text").inner_text().strip())
    assert courier.call("GET", "/api/v1/me").json()["agent"] == "courier"
    proposal = courier.remember("Couriers leave at nine.").json()["id"]

    dana.goto(address)
    dana.fill("#stop-reason", "It remembers the wrong hour.")
    dana.click("text=Stop courier")
    assert "It remembers the wrong hour." in dana.locator("main").inner_text()
    assert not dana.locator("text=Let courier propose again").count()
    assert courier.remember("Couriers leave at ten.").code == "agent_stopped"
    assert courier.call("GET", f"/api/v1/proposals/{proposal}").json()["status"] == "withdrawn"

    erin = as_person("erin")
    erin.goto(address)
    erin.click("text=Let courier propose again")
    assert courier.remember("Couriers leave at eleven.").status == 201


def test_a_webhook_to_an_address_inside_is_refused_and_what_was_typed_stays(as_person: SignIn) -> None:
    dana = as_person("dana")
    dana.goto("/agents/")
    dana.click("text=scout")
    dana.click("text=Register a webhook…")
    dana.fill("#webhook-url", "https://169.254.169.254/latest/")
    dana.click("button:has-text('Register the webhook')")
    assert dana.locator("[data-problem=bad_target]").count()
    assert dana.locator("#webhook-url").input_value() == "https://169.254.169.254/latest/"
