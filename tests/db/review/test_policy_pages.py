"""The policy's pages over HTTP: who reads them, what the editor refuses, and that it compares before it proposes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from review.access.models import Membership
from review.models import PolicyVersion, Proposal
from review.queries.policies import in_force
from review.services.withdraw import withdraw_own
from tests.db.review.test_pages import browser, decide, problem
from tests.support import factories
from tests.support.policy_acts import changed, proposed, revised, with_rule
from tests.support.review_acts import call, vote

pytestmark = pytest.mark.django_db


def hidden(page: Any, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page.content.decode())
    return found[1] if found else ""


def compare(client: Client, document: Any, **fields: str) -> Any:
    text = document if isinstance(document, str) else json.dumps(document)
    form = {"workspace": "acme", "replaces": "1", "policy": text}
    return client.post("/policy/edit/", {**form, **fields})


def send(client: Client, document: Any, **fields: str) -> Any:
    """Compare, then propose what was compared."""
    page = compare(client, document)
    form = {
        "workspace": "acme",
        "policy": json.dumps(document),
        "replaces": hidden(page, "replaces"),
        "compared": hidden(page, "compared"),
        "reason": "The auditors asked for it.",
    }
    return client.post("/policy/propose/", {**form, **fields})


# Who reads it


@pytest.mark.parametrize("who", ["dana", "alice"])
def test_everybody_of_the_workspace_reads_what_runs(cast: factories.Team, who: str) -> None:
    page = browser(getattr(cast, who)).get("/policy/")
    assert page.status_code == 200
    assert "mail.send" in page.content.decode() and "policy.change" in page.content.decode()
    assert ("/policy/edit/" in page.content.decode()) is (who == "dana")


def test_for_others_there_is_no_such_policy(cast: factories.Team) -> None:
    stranger, client = factories.person("root"), browser(cast.mallory)
    assert browser(stranger).get("/policy/").status_code == 404
    for address in ("/policy/?workspace=acme", "/policy/edit/?workspace=acme", "/policy/?version=9"):
        assert client.get(address).status_code == 404
    assert client.get("/policy/").status_code == 200
    assert Client().get("/policy/").status_code == 302


def test_only_a_manager_opens_the_editor(cast: factories.Team) -> None:
    for answer in (
        browser(cast.alice).get("/policy/edit/"),
        compare(browser(cast.alice), {}),
        send(browser(cast.alice), {}),
    ):
        assert answer.status_code == 403
    assert browser(cast.dana).get("/policy/edit/").status_code == 200


def test_nobody_reads_another_workspaces_draft_in_the_editor(cast: factories.Team) -> None:
    change = proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    assert browser(cast.mallory).get(f"/policy/edit/?from={change.id}").status_code == 404
    mine = browser(cast.dana).get(f"/policy/edit/?from={change.id}")
    assert mine.status_code == 200 and "crm.*" in mine.content.decode()
    assert browser(cast.dana).get(f"/policy/edit/?from={call(cast.scout).id}").status_code == 404
    assert browser(cast.dana).get("/policy/edit/?from=nothing").status_code == 200


# Comparing


def test_comparing_shows_what_changes_and_what_it_does_and_records_nothing(cast: factories.Team) -> None:
    call(cast.scout)
    page = compare(
        browser(cast.dana), with_rule(cast.acme, "payments.*", risk="high", approvals=2)
    ).content.decode()
    assert "payments.*" in page and "Bound anew" in page and "payments.refund" in page
    assert not Proposal.objects.filter(kind="policy_change").exists()
    assert in_force(cast.acme.id).version == 1


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ("", 400, "malformed"),
        ("[]", 400, "malformed"),
        ('{"rules": [], "rules": []}', 400, "duplicate_key"),
        ('{"defaults": {"approvals": 9007199254740993}}', 400, "integer_out_of_range"),
        ('{"__proto__": {}}', 400, "forbidden_key"),
        ('{"rules": [{"tool": "x", "aprovals": 2}]}', 422, "invalid"),
        ('{"defaults": {"route": "allow", "risk": "high"}}', 422, "invalid"),
    ],
)
def test_the_editor_reads_strictly_and_keeps_what_was_typed(
    cast: factories.Team, text: str, status: int, code: str
) -> None:
    page = compare(browser(cast.dana), text)
    assert problem(page) == (status, code)
    assert (text[:12].replace('"', "&quot;") in page.content.decode()) and "/policy/propose/" not in str(
        page.content
    )


def test_what_cannot_stand_is_listed_with_its_place(cast: factories.Team) -> None:
    page = compare(
        browser(cast.dana), {"rules": [{"tool": "x", "groups": [{"name": "securty", "approvals": 1}]}]}
    )
    assert "/rules/0/groups/0/name" in page.content.decode()


# Proposing


def test_what_was_compared_is_proposed_and_another_manager_puts_it_into_force(cast: factories.Team) -> None:
    answer = send(browser(cast.dana), with_rule(cast.acme, "crm.*", risk="high", approvals=2))
    change = Proposal.objects.get(kind="policy_change")
    assert (answer.status_code, answer["Location"]) == (302, f"/proposals/{change.id}/")
    page = browser(cast.erin).get(f"/proposals/{change.id}/").content.decode()
    assert "<strong>dana</strong> asks to change <strong>the policy</strong>" in page
    assert "crm.*" in page and "Version 2" in page
    assert problem(decide(browser(cast.dana), change)) == (403, "self_approval")
    assert decide(browser(cast.erin), change).status_code == 200
    assert in_force(cast.acme.id).version == 2
    listed = browser(cast.alice).get("/policy/").content.decode()
    assert "dana" in listed and "erin" in listed and "crm.*" in listed


def test_it_appears_in_the_queue_of_the_other_managers_only(cast: factories.Team) -> None:
    change = proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    row = f'id="row-{change.id}"'
    assert row in browser(cast.erin).get("/").content.decode()
    assert row not in browser(cast.dana).get("/").content.decode()
    assert row not in browser(cast.alice).get("/").content.decode()


def test_a_text_that_was_not_compared_is_not_proposed(cast: factories.Team) -> None:
    document = with_rule(cast.acme, "crm.*", risk="low")
    other = with_rule(cast.acme, "crm.*", risk="low", approvals=2)
    answer = send(browser(cast.dana), document, policy=json.dumps(other))
    assert problem(answer) == (409, "stale_binding")
    assert not Proposal.objects.exists()


def test_without_a_reason_it_is_not_proposed_and_stays_compared(cast: factories.Team) -> None:
    answer = send(browser(cast.dana), with_rule(cast.acme, "crm.*", risk="low"), reason="")
    assert problem(answer) == (422, "reason_required")
    assert hidden(answer, "compared")


def test_a_form_that_is_sent_twice_makes_one_proposal(cast: factories.Team) -> None:
    client, document = browser(cast.dana), with_rule(cast.acme, "crm.*", risk="low")
    assert send(client, document)["Location"] == send(client, document)["Location"]
    assert Proposal.objects.count() == 1


def test_a_version_that_came_meanwhile_is_compared_with_first(cast: factories.Team) -> None:
    client, document = browser(cast.dana), with_rule(cast.acme, "crm.*", risk="low")
    page = compare(client, document)
    changed(cast, "mail.*", risk="high", approvals=2)
    form = {"workspace": "acme", "policy": json.dumps(document), "compared": hidden(page, "compared")}
    answer = client.post("/policy/propose/", {**form, "replaces": "1", "reason": "Why."})
    assert problem(answer) == (409, "policy_changed")
    assert hidden(compare(client, document), "replaces") == "2"


def test_a_manager_alone_is_told_that_a_second_one_is_needed(cast: factories.Team) -> None:
    Membership.objects.filter(person=cast.erin.person).delete()
    client = browser(cast.dana)
    assert "0 could approve" in client.get("/policy/").content.decode()
    assert problem(send(client, with_rule(cast.acme, "crm.*", risk="low"))) == (422, "unsatisfiable")


def test_what_was_overtaken_says_so_before_the_click_and_its_author_writes_it_for_the_version_that_runs(
    cast: factories.Team,
) -> None:
    overtaken = proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    changed(cast, "mail.*", risk="high", approvals=2)
    page = browser(cast.erin).get(f"/proposals/{overtaken.id}/").content.decode()
    assert "Another version of the policy came into force" in page
    assert problem(decide(browser(cast.erin), overtaken)) == (409, "policy_changed")
    client = browser(cast.dana)
    form = revision_form(client, overtaken, with_rule(cast.acme, "crm.*", risk="low"))
    assert form["replaces"] == "2" and client.post("/policy/propose/", form).status_code == 302
    overtaken.refresh_from_db()
    assert decide(browser(cast.erin), overtaken).status_code == 200
    assert in_force(cast.acme.id).version == 3


# Writing it otherwise


def sent_back(cast: factories.Team) -> Proposal:
    change = proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    return vote(cast.erin, change, "request_changes", reason="Two people, please.").proposal


def revision_form(client: Client, change: Proposal, document: Any) -> dict[str, str]:
    """What the editor holds once the link on the proposal's page was followed and `document` was compared."""
    address = re.search(
        r'href="(/policy/edit/[^"]+)"', client.get(f"/proposals/{change.id}/").content.decode()
    )
    assert address
    opened = client.get(address[1].replace("&amp;", "&"))
    place = {name: hidden(opened, name) for name in ("workspace", "replaces", "proposal", "revision")}
    compared = compare(client, document, **place)
    place |= {name: hidden(compared, name) for name in (*place, "compared")}
    return {**place, "policy": json.dumps(document), "reason": "Two people, as erin says."}


def test_who_proposed_it_writes_the_revision_that_was_asked_for_and_the_other_approves(
    cast: factories.Team,
) -> None:
    change, client = sent_back(cast), browser(cast.dana)
    stricter = with_rule(cast.acme, "crm.*", risk="high", approvals=2)
    answer = client.post("/policy/propose/", revision_form(client, change, stricter))
    assert (answer.status_code, answer["Location"]) == (302, f"/proposals/{change.id}/")
    change.refresh_from_db()
    assert (change.status, change.revision, Proposal.objects.count()) == ("pending", 2, 1)
    assert f'id="row-{change.id}"' in browser(cast.erin).get("/").content.decode()
    assert "Two people, as erin says." in browser(cast.erin).get(f"/proposals/{change.id}/").content.decode()
    assert problem(decide(browser(cast.dana), change)) == (403, "self_approval")
    assert decide(browser(cast.erin), change).status_code == 200
    assert in_force(cast.acme.id).document == stricter


def test_another_manager_begins_one_of_her_own_from_it(cast: factories.Team) -> None:
    change, client = sent_back(cast), browser(cast.erin)
    assert "/policy/edit/" not in client.get(f"/proposals/{change.id}/").content.decode()
    page = client.get(f"/policy/edit/?workspace=acme&from={change.id}")
    assert "crm.*" in page.content.decode() and not hidden(page, "proposal")


@pytest.mark.parametrize(("who", "status"), [("erin", 403), ("mallory", 404)])
def test_nobody_else_sends_a_revision_of_it(cast: factories.Team, who: str, status: int) -> None:
    change, client = sent_back(cast), browser(cast.dana)
    form = revision_form(client, change, with_rule(cast.acme, "crm.*", risk="high", approvals=2))
    assert browser(getattr(cast, who)).post("/policy/propose/", form).status_code == status
    change.refresh_from_db()
    assert (change.status, change.revision) == ("changes_requested", 1)


def test_what_is_no_change_of_this_policy_is_not_revised_here(cast: factories.Team) -> None:
    change, client = sent_back(cast), browser(cast.dana)
    form = revision_form(client, change, with_rule(cast.acme, "crm.*", risk="high", approvals=2))
    for other in (call(cast.scout).id, change.workspace_id):
        assert client.post("/policy/propose/", {**form, "proposal": str(other)}).status_code == 404


def test_a_revision_that_came_meanwhile_is_said_and_what_was_typed_replaces_it(cast: factories.Team) -> None:
    change, client = sent_back(cast), browser(cast.dana)
    form = revision_form(client, change, with_rule(cast.acme, "crm.*", risk="high", approvals=2))
    revised(cast.dana, change, with_rule(cast.acme, "crm.*", risk="medium"))
    answer = client.post("/policy/propose/", form)
    assert problem(answer) == (409, "stale_revision")
    assert "What you typed is kept" in answer.content.decode() and hidden(answer, "revision") == "2"
    again = client.post("/policy/propose/", {**form, "revision": hidden(answer, "revision")})
    assert again.status_code == 302
    change.refresh_from_db()
    assert (change.revision, change.status) == (3, "pending")


def test_what_has_ended_is_written_anew_as_a_proposal_of_its_own(cast: factories.Team) -> None:
    change, client = sent_back(cast), browser(cast.dana)
    form = revision_form(client, change, with_rule(cast.acme, "crm.*", risk="high", approvals=2))
    withdraw_own(change.id, by=cast.dana)
    assert problem(client.post("/policy/propose/", form)) == (409, "already_decided")
    assert not hidden(client.get(f"/policy/edit/?workspace=acme&from={change.id}"), "proposal")


# Versions


def test_any_two_versions_are_compared(cast: factories.Team) -> None:
    changed(cast, "crm.*", risk="high", approvals=2)
    client = browser(cast.alice)
    page = client.get("/policy/?version=2&against=1").content.decode()
    assert "From version 1 to version 2" in page
    assert client.get("/policy/?version=1").status_code == 200
    assert client.get("/policy/?version=2&against=7").status_code == 404
    assert client.get("/policy/?version=x&against=-1").status_code == 200


def test_where_nobody_wrote_a_policy_the_built_in_one_is_shown(cast: factories.Team) -> None:
    someone = factories.person("zoe", factories.workspace("initech", None), ["manager"])
    page = browser(someone).get("/policy/").content.decode()
    assert "Version 0" in page and "everything else" in page
    assert '"ttl_seconds": 604800' in browser(someone).get("/policy/edit/").content.decode().replace(
        "&quot;", '"'
    )


# Taking it back


def test_who_proposed_it_takes_it_back_on_its_page(cast: factories.Team) -> None:
    change = proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    address, client = f"/proposals/{change.id}/withdraw/", browser(cast.dana)
    assert address in client.get(f"/proposals/{change.id}/").content.decode()
    assert client.post(address, {"reason": "Not yet."}).status_code == 200
    change.refresh_from_db()
    assert (change.status, change.reason) == ("withdrawn", "Not yet.")
    assert problem(client.post(address)) == (409, "already_decided")
    assert PolicyVersion.objects.filter(workspace=cast.acme).count() == 1


@pytest.mark.parametrize(("who", "status"), [("erin", 403), ("alice", 403), ("mallory", 404)])
def test_nobody_else_takes_it_back(cast: factories.Team, who: str, status: int) -> None:
    change = proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    client: Client = browser(getattr(cast, who))
    assert client.post(f"/proposals/{change.id}/withdraw/").status_code == status
    assert "withdraw/" not in client.get(f"/proposals/{change.id}/").content.decode()
    change.refresh_from_db()
    assert change.status == "pending"


def test_a_person_does_not_take_back_what_an_agent_proposed(cast: factories.Team) -> None:
    proposal, owner = call(cast.scout), cast.bob
    assert browser(owner).post(f"/proposals/{proposal.id}/withdraw/").status_code == 403
    vote(cast.alice, proposal)
