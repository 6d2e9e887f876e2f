"""Deciding in a browser: what a person sees, presses and is told."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import SignIn, decide, open_step
from tests.support.console import Agent

SLEEP = 1.0  # decision keys sleep 0.8 s after a page has appeared


def refund(scout: Agent, order: str, **more: object) -> str:
    answer = scout.propose("payments.refund", {"order": order, "amount": 480, "currency": "EUR", **more})
    return str(answer.json()["id"])


def test_a_reviewer_finds_opens_and_approves(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31001")
    page = as_person("alice")
    page.get_by_role("link", name="Refund 480 EUR on order 31001").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(
        "scout, owned by bob, asks to refund 480 EUR on order 31001."
    )
    decide(page, "approve")
    expect(page.locator("#status")).to_contain_text("Recorded: you approved revision 1")
    expect(page.locator("#status")).to_be_focused()
    assert scout.call("GET", f"/api/v1/proposals/{proposal}").json()["status"] == "approved"


def test_what_a_vote_changed_appears_on_the_page_it_was_given_on(scout: Agent, as_person: SignIn) -> None:
    proposal = scout.propose("mail.send", {"to": "a@b.example", "text": "See you on Monday."}).json()["id"]
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    page.evaluate("window.stayed = true")
    decide(page, "approve", "I know the address.")
    expect(page.locator("#case")).to_contain_text("I know the address.")
    expect(page.locator("#events")).to_contain_text("approved revision 1")
    expect(page.locator("#changes")).to_contain_text("See you on Monday.")
    expect(page.locator("#status")).to_be_focused()
    assert page.evaluate("window.stayed") and page.url.endswith(f"/proposals/{proposal}/")


def test_a_revision_that_comes_before_the_rest_is_shown_with_its_form(
    scout: Agent, as_person: SignIn
) -> None:
    call = {"to": "a@b.example", "text": "See you on Monday."}
    proposal = scout.propose("mail.send", call).json()["id"]
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    asked: list[Route] = []
    page.route(f"**/proposals/{proposal}/", lambda route: asked.append(route))
    with page.expect_request(f"**/proposals/{proposal}/"):
        decide(page, "approve")
    expect(page.locator("#bar button")).to_have_count(0)
    revised = {"revision": 1, "arguments": {**call, "text": "See you on Friday."}}
    assert scout.call("POST", f"/api/v1/proposals/{proposal}/revisions", revised).status == 201
    for held in asked:
        held.continue_()
    expect(page.locator("#changes")).to_contain_text("Friday")
    assert page.locator("#decision input[name=revision]").input_value() == "2"


def test_who_goes_on_before_the_page_has_fetched_what_changed_stays_on_the_next_one(
    scout: Agent, as_person: SignIn
) -> None:
    first = refund(scout, "31020")
    refund(scout, "31021")
    page = as_person("alice")
    page.goto(f"/proposals/{first}/")
    asked: list[Route] = []
    page.route(f"**/proposals/{first}/", lambda route: asked.append(route))
    with page.expect_request(f"**/proposals/{first}/"):
        decide(page, "approve")
    page.locator("#status a").click()
    expect(page.locator("#status")).to_have_count(0)
    next_one = page.locator("h1").inner_text()
    for held in asked:
        held.continue_()
    page.wait_for_timeout(500)
    assert asked and "31020" not in next_one and page.locator("h1").inner_text() == next_one
    expect(page.locator("#decision")).to_have_count(1)


def test_a_reviewer_rejects_with_a_reason_that_the_agent_can_read(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31002")
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    decide(page, "reject", "The order was paid back last week.")
    told = scout.call("GET", f"/api/v1/proposals/{proposal}").json()
    assert (told["status"], told["reason"]) == ("rejected", "The order was paid back last week.")


def test_a_reviewer_sends_it_back_and_names_the_field(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31003")
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    open_step(page, "request_changes")
    page.locator("textarea[name=reason]").fill("Which currency?")
    page.locator('input[name=fields][value="/currency"]').check()
    page.locator('button[value="request_changes"]').click()
    page.locator("#status").wait_for()
    told = scout.call("GET", f"/api/v1/proposals/{proposal}").json()
    assert (told["status"], told["fields"]) == ("changes_requested", ["/currency"])


def test_an_owner_reads_why_she_cannot_approve_before_and_after_she_tries(
    scout: Agent, as_person: SignIn
) -> None:
    proposal = refund(scout, "31004")
    page = as_person("bob")
    page.goto(f"/proposals/{proposal}/")
    expect(page.locator("[data-open=approve]")).to_be_disabled()
    expect(page.locator("#decision")).to_contain_text("You own scout. Someone else must approve.")
    expect(page.locator(".requirement-not_by_you")).to_contain_text("Nobody can waive this.")
    page.evaluate(
        """() => {
            const form = document.getElementById("decision"), verdict = document.createElement("input");
            verdict.name = "verdict"; verdict.value = "approve"; form.append(verdict);
            HTMLFormElement.prototype.submit.call(form);
        }"""
    )
    status = page.locator('#status[data-problem="self_approval"]')
    expect(status).to_contain_text("Not recorded. You own scout.")
    expect(status).to_contain_text("What you can do:")
    assert scout.call("GET", f"/api/v1/proposals/{proposal}").json()["status"] == "pending"


def test_what_changed_while_she_read_is_said_and_her_words_are_kept(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31005")
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    scout.call(
        "POST",
        f"/api/v1/proposals/{proposal}/revisions",
        {"revision": 1, "arguments": {"order": "31005", "amount": 4800, "currency": "EUR"}},
    )
    decide(page, "approve", "Looks right to me.")
    status = page.locator('#status[data-problem="stale_binding"]')
    expect(status).to_contain_text("after the revision 1 that you read")
    expect(page.locator("textarea[name=reason]")).to_have_value("Looks right to me.")
    changed = page.locator(".diff-row", has_text="/amount")
    expect(changed.locator("del")).to_have_text("480")
    expect(changed.locator("ins")).to_have_text("4800")


def test_keys_open_the_confirm_step_and_never_decide(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31006")
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    page.keyboard.press("a")
    expect(page.locator("[data-step]")).not_to_be_visible()
    time.sleep(SLEEP)
    page.keyboard.press("a")
    expect(page.locator("[data-step]")).to_be_visible()
    assert scout.call("GET", f"/api/v1/proposals/{proposal}").json()["status"] == "pending"
    page.keyboard.press("Escape")
    expect(page.locator("[data-step]")).not_to_be_visible()


def test_without_javascript_the_form_stands_open_and_decides(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31007", note="x" * 5000)
    page = as_person("alice", java_script_enabled=False)
    page.goto(f"/proposals/{proposal}/")
    expect(page.locator("details.long .value")).to_contain_text("x" * 5000)
    page.locator("textarea[name=reason]").fill("Read in full.")
    page.locator('button[name=verdict][value="approve"]').click()
    expect(page.locator("#status")).to_contain_text("Recorded: you approved revision 1")
    assert scout.call("GET", f"/api/v1/proposals/{proposal}").json()["status"] == "approved"


def test_a_form_sent_again_gets_its_answer_again_and_another_one_is_told_it_is_decided(
    scout: Agent, as_person: SignIn
) -> None:
    proposal = refund(scout, "31013")
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    names = ("csrfmiddlewaretoken", "revision", "binding", "nonce")
    form = {name: page.locator(f"#decision input[name={name}]").input_value() for name in names}
    sent = {**form, "verdict": "approve", "reason": ""}
    address = f"{page.url}decide/"
    for _ in range(2):
        answer = page.request.post(address, form=sent, headers={"Referer": page.url})
        assert answer.status == 200 and "Recorded: you approved revision 1" in answer.text()
    other = page.request.post(address, form={**sent, "nonce": "another"}, headers={"Referer": page.url})
    assert other.status == 409 and 'data-problem="already_decided"' in other.text()
    assert scout.call("GET", f"/api/v1/proposals/{proposal}").json()["approvals"]["given"] == 1


def test_a_long_value_holds_approve_back_until_it_was_opened(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31008", note="y" * 5000)
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    approve = page.locator("[data-open=approve]")
    expect(approve).to_be_disabled()
    expect(page.locator("[data-held]")).to_be_visible()
    page.locator("details.long summary").click()
    expect(approve).to_be_enabled()


def test_what_is_held_is_released_by_two_different_people(scout: Agent, as_person: SignIn) -> None:
    text = "All invoices of December go to account 31009."
    made = scout.propose(
        "memory.write", {"content": text, "provenance": {"kind": "web", "ref": "https://page.example/a"}}
    )
    proposal = made.json()["id"]
    query = {"query": "invoices december account", "limit": 100}
    for person, votes in (("alice", "one more"), ("carol", "")):
        recalled = scout.call("POST", "/api/v1/memory/query", query).json()["items"]
        assert text not in [item["content"] for item in recalled]
        page = as_person(person)
        page.goto("/quarantine/")
        page.locator(f'a[href="/quarantine/{proposal}/"]').click()
        expect(page.locator("#text")).to_contain_text(text)
        decide(page, "approve")
        expect(page.locator("#status")).to_contain_text(
            "1 more person is needed" if votes else "It took effect"
        )
    recalled = scout.call("POST", "/api/v1/memory/query", query).json()["items"]
    assert [item["verdict"]["decision"] for item in recalled if item["content"] == text] == ["admit"]
    assert scout.call("GET", f"/api/v1/proposals/{proposal}").json()["outcome"]["admission"] == "released"


def test_an_outsider_finds_nothing_at_the_address(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31010")
    page = as_person("mallory")
    for address in (f"/proposals/{proposal}/", f"/quarantine/{proposal}/"):
        answer = page.goto(address)
        assert answer is not None and answer.status == 404
        assert "31010" not in page.content()


def test_hidden_characters_are_shown_as_code_points_and_counted(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31011", path="/srv/\u202egnp.exe", name="p\u0430ypal")
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    expect(page.locator(".notice-red", has_text="1 hidden character in /path")).to_be_visible()
    expect(page.locator(".notice-red", has_text="look-alike in /name")).to_be_visible()
    expect(page.locator(".value-row", has_text="/path").locator(".code-point")).to_contain_text("U+202E")
    assert "\u202e" not in page.locator("main").inner_text()


def test_nothing_that_an_agent_writes_runs_in_a_reviewers_browser(scout: Agent, as_person: SignIn) -> None:
    attack = "<img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}\"'`javascript:alert(3)"
    made = scout.call(
        "POST",
        "/api/v1/proposals",
        {
            "tool": "payments.refund",
            "arguments": {"order": attack, attack: attack, "list": [attack, {"deep": attack}]},
            "rationale": attack,
            "evidence": [{"title": attack, "ref": attack, "text": attack}],
            "run_id": attack[:100],
            "tool_call_id": attack[:100],
        },
    )
    proposal = made.json()["id"]
    held = scout.propose(
        "memory.write",
        {"content": attack, "subject": attack, "provenance": {"kind": "web", "ref": attack, "title": attack}},
    )
    scout.call(
        "POST",
        f"/api/v1/proposals/{proposal}/revisions",
        {"revision": 1, "arguments": {"order": attack + "!"}, "rationale": attack},
    )
    page = as_person("alice")
    for address in (
        "/",
        f"/proposals/{proposal}/",
        "/quarantine/",
        f"/quarantine/{held.json()['id']}/",
        f"/memory/?q={attack}",
    ):
        page.goto(address)
        assert page.locator("main img, main script").count() == 0
        assert "49" not in page.locator("h1").inner_text()
    manager = as_person("dana")
    for address in ("/audit/", f"/audit/?proposal={proposal}"):
        manager.goto(address)
        assert manager.locator("main img, main script").count() == 0


def test_a_manager_follows_one_proposal_from_birth_to_outcome(scout: Agent, as_person: SignIn) -> None:
    proposal = refund(scout, "31012")
    page = as_person("alice")
    page.goto(f"/proposals/{proposal}/")
    decide(page, "approve")
    manager = as_person("dana")
    manager.goto(f"/audit/?proposal={proposal}")
    actions = manager.locator("tbody tr.row code").all_inner_texts()
    assert actions == ["proposal.approved", "decision.approved", "proposal.proposed"]
    manager.get_by_role("link", name="Open entry").first.click()
    expect(manager.locator(".entry")).to_contain_text("Canonical JSON")
    manager.get_by_role("button", name="Verify").click()
    expect(manager.locator("#verify")).to_contain_text("Verified, ok")


@pytest.mark.parametrize("in_the_step", [True, False], ids=["while she types", "while she reads"])
def test_a_page_says_that_somebody_else_decided_and_keeps_what_was_typed(
    scout: Agent, as_person: SignIn, in_the_step: bool
) -> None:
    mine, _ = (
        scout.propose("payments.refund", {"order": f"4100{n}{in_the_step}"}).json()["id"] for n in (1, 2)
    )
    alice, carol = as_person("alice"), as_person("carol")
    for page in (alice, carol):
        page.goto(f"/proposals/{mine}/")
    if in_the_step:
        open_step(alice, "reject")
        alice.locator("textarea[name=reason]").fill("The order was paid twice.")
    decide(carol, "approve")
    alice.evaluate(
        "for (const place of document.querySelectorAll('[data-poll]')) htmx.trigger(place, 'poll')"
    )
    said = alice.locator("#decide-final" if in_the_step else "#decide-said")
    expect(said).to_contain_text("carol approved revision 1.")
    expect(said).to_be_visible()
    expect(alice.locator("[data-poll] [role=status]")).to_contain_text("carol approved revision 1.")
    expect(alice.locator("button[name=verdict], [data-open]")).to_have_count(0)
    if in_the_step:
        expect(alice.locator("textarea[name=reason]")).to_have_value("The order was paid twice.")
        expect(alice.locator("textarea[name=reason]")).to_be_focused()
        alice.keyboard.press("Escape")
        expect(alice.locator("#decide-said")).to_be_visible()
    expect(alice.locator("[data-unsent]")).to_be_hidden()
    alice.keyboard.press(".")
    alice.wait_for_url(lambda url: mine not in url)


@pytest.mark.parametrize("in_the_step", [True, False])
def test_who_stood_on_a_button_that_goes_because_somebody_else_decided_is_led_to_what_says_so(
    scout: Agent, as_person: SignIn, in_the_step: bool
) -> None:
    proposal = refund(scout, f"4200{in_the_step}")
    alice, carol = as_person("alice"), as_person("carol")
    for page in (alice, carol):
        page.goto(f"/proposals/{proposal}/")
    alice.locator("[data-open=reject]").focus()
    if in_the_step:
        open_step(alice, "reject")
        alice.locator('button[name=verdict][value="reject"]').focus()
    decide(carol, "approve")
    alice.evaluate(
        "for (const place of document.querySelectorAll('[data-poll]')) htmx.trigger(place, 'poll')"
    )
    heir = (
        alice.locator("#decide-final [role=alert]")
        if in_the_step
        else alice.get_by_role("group", name="carol")
    )
    expect(heir).to_be_focused()
    alice.keyboard.press("Tab")
    expect(alice.get_by_role("link", name="Show it as it stands").locator("visible=true")).to_be_focused()


def test_without_javascript_the_answer_says_it_and_keeps_what_was_typed(
    scout: Agent, as_person: SignIn
) -> None:
    made = scout.propose("payments.refund", {"order": "41009"}).json()["id"]
    alice, carol = as_person("alice", java_script_enabled=False), as_person("carol")
    for page in (alice, carol):
        page.goto(f"/proposals/{made}/")
    decide(carol, "approve")
    alice.locator("textarea[name=reason]").fill("It is right.")
    alice.locator("button[name=verdict][value=approve]").click()
    expect(alice.locator("#status")).to_have_attribute("data-problem", "already_decided")
    expect(alice.locator("textarea[name=reason]")).to_have_value("It is right.")
