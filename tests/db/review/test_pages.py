"""The people's pages over HTTP: what is answered to whom, and in which order things are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from review.audit.models import Entry
from review.models import Decision, Proposal
from tests.support import factories
from tests.support.memory_acts import doubtful
from tests.support.pages import browser
from tests.support.review_acts import call, vote

pytestmark = pytest.mark.django_db
PAYOUT = {"tool": "payments.payout", "risk": "high", "approvals": 2, "step_up": True, "confirm": "/account"}
PASSWORD = "a long enough password"
BY_SCRIPT = {"HX-Request": "true", "HX-Target": "main"}


@pytest.fixture
def cast() -> factories.Team:
    team = factories.team({**factories.POLICY, "rules": [PAYOUT, *factories.POLICY["rules"]]})
    for person in (team.alice, team.bob, team.dana):
        person.user.set_password(PASSWORD)
        person.user.save()
    return team


def decide(
    client: Client,
    proposal: Proposal,
    headers: dict[str, str] | None = None,
    at: str = "proposals",
    **fields: str,
) -> Any:
    """Open the page, fill in its form, send it."""
    page = client.get(f"/{at}/{proposal.id}/").content.decode()
    nonce = re.search(r'name="nonce" value="([^"]*)"', page)
    form = {
        "revision": str(proposal.revision),
        "binding": proposal.binding,
        "nonce": nonce[1] if nonce else "",
        "verdict": "approve",
        "reason": "Checked.",
    }
    return client.post(f"/{at}/{proposal.id}/decide/", {**form, **fields}, headers=headers)


def problem(answer: Any) -> tuple[int, str]:
    found = re.search(r'data-problem="([a-z_]+)"', answer.content.decode())
    return answer.status_code, found[1] if found else ""


def payout(cast: factories.Team) -> Proposal:
    return call(cast.scout, "payments.payout", {"account": "DE1", "amount": 5})


def test_a_rule_that_asks_for_it_takes_the_password_and_the_typed_value(cast: factories.Team) -> None:
    proposal, alice = payout(cast), browser(cast.alice)
    assert problem(decide(alice, proposal)) == (403, "step_up_required")
    assert problem(decide(alice, proposal, password="wrong")) == (403, "step_up_required")
    assert problem(decide(alice, proposal, password=PASSWORD)) == (422, "confirm_mismatch")
    assert problem(decide(alice, proposal, confirm="DE1")) == (200, "")
    assert Decision.objects.get(proposal=proposal).person == cast.alice.person


def test_a_wrong_password_is_refused_however_fresh_the_sign_in_is(cast: factories.Team) -> None:
    proposal, alice = payout(cast), browser(cast.alice)
    decide(
        alice, proposal, password=PASSWORD
    )  # not recorded, nothing was typed to confirm; but it proved who she is
    refused = decide(alice, proposal, confirm="DE1", password="wrong")
    assert problem(refused) == (403, "step_up_required")
    assert "The password is not the one of your account" in refused.content.decode()
    assert not Decision.objects.filter(proposal=proposal).exists()
    assert problem(decide(alice, proposal, confirm="DE1")) == (200, "")


def test_a_password_never_comes_before_what_is_asked_before_it(cast: factories.Team) -> None:
    proposal = payout(cast)
    for person, expected in ((cast.bob, (403, "self_approval")), (cast.dana, (403, "not_eligible"))):
        assert problem(decide(browser(person), proposal, password="wrong")) == expected
    stale = decide(browser(cast.alice), proposal, password="wrong", binding="0" * 64)
    assert problem(stale) == (409, "stale_binding")
    assert Entry.objects.filter(action="decision.refused").count() == 3


def test_a_stray_password_changes_nothing_where_no_rule_asks_for_one(cast: factories.Team) -> None:
    assert problem(decide(browser(cast.alice), call(cast.scout), password="wrong")) == (200, "")
    assert not Entry.objects.filter(action__startswith="step_up").exists()


def test_what_was_typed_is_kept_where_no_form_is_left(cast: factories.Team) -> None:
    answer = decide(browser(cast.dana), call(cast.scout), reason="A long and careful reason.")
    assert "A long and careful reason." in answer.content.decode()


def test_who_sends_the_form_by_script_is_told_at_once_and_the_page_fetches_the_rest(
    cast: factories.Team,
) -> None:
    proposal = call(cast.scout)
    told = decide(browser(cast.alice), proposal, BY_SCRIPT)
    assert (told.headers["HX-Retarget"], told.headers["HX-Reselect"]) == ("#answer", "unset")
    said = told.content.decode()
    assert "Recorded: you approved revision 1" in said and f'hx-get="/proposals/{proposal.id}/"' in said
    assert "<html" not in said and Decision.objects.filter(proposal=proposal).exists()


def test_who_sends_it_by_script_and_is_refused_gets_the_page_as_it_stands_with_his_words(
    cast: factories.Team,
) -> None:
    refused = decide(browser(cast.bob), call(cast.scout), BY_SCRIPT, reason="I know it is right.")
    assert problem(refused) == (403, "self_approval")
    assert "I know it is right." in refused.content.decode() and "HX-Retarget" not in refused.headers


def test_without_a_script_the_answer_is_the_whole_page(cast: factories.Team) -> None:
    told = decide(browser(cast.alice), call(cast.scout))
    assert "<html" in told.content.decode() and "HX-Retarget" not in told.headers


def test_what_was_held_goes_on_being_shown_on_its_own_page(cast: factories.Team) -> None:
    proposal = doubtful(cast.scout, "The door opens to the north.")
    told = decide(browser(cast.alice), proposal, BY_SCRIPT, at="quarantine", verdict="reject")
    assert f'hx-get="/quarantine/{proposal.id}/"' in told.content.decode()


def test_a_long_reason_is_kept_whole(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    decide(browser(cast.alice), proposal, verdict="reject", reason="x" * 50_000, fields="not a pointer")
    proposal.refresh_from_db()
    assert (proposal.reason, proposal.fields) == ("x" * 50_000, [])


@pytest.mark.parametrize(
    "path", ["/", "/?view=others&q=x&cursor=", "/audit/", "/quarantine/", "/memory/?q=x", "/agents/"]
)
def test_every_page_leads_a_stranger_to_the_sign_in(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 302 and answer.headers["Location"].startswith("/accounts/login/?next=")


@pytest.mark.parametrize(
    "query",
    [
        *("from=9999-12-31T23:59:59-23:00", "to=0001-01-01T00:00:00%2B05:00", "from=zz", "to=9999-12-31"),
        *(
            "person=nobody",
            "agent=%00",
            "action=nope",
            "proposal=1",
            "tool=%00",
            "before=-1",
            "open=99999999999999999999",
        ),
    ],
)
def test_no_filter_of_the_trail_breaks_it(cast: factories.Team, query: str) -> None:
    dana = browser(cast.dana)
    assert dana.get(f"/audit/?{query}").status_code == 200
    for form in ("jsonl", "csv"):
        assert dana.get(f"/audit/export.{form}?{query}").status_code in (200, 422)


def test_a_filter_that_cannot_be_read_is_not_exported_as_nothing(cast: factories.Team) -> None:
    dana = browser(cast.dana)
    assert dana.get("/audit/export.jsonl?from=zz").status_code == 422
    assert dana.get("/audit/export.jsonl").status_code == 200


def test_the_trail_is_for_managers_of_that_workspace(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal)
    entry = Entry.objects.filter(proposal=proposal.pk).first()
    assert entry is not None
    assert browser(cast.dana).get(f"/audit/{entry.seq}/").status_code == 200
    assert browser(cast.alice).get("/audit/").status_code == 403
    assert browser(cast.mallory).get(f"/audit/{entry.seq}/").status_code == 404
    foreign = b"".join(browser(cast.mallory).get("/audit/export.jsonl").streaming_content)  # type: ignore[arg-type]
    assert str(proposal.id).encode() not in foreign and entry.leaf.encode() in foreign


def test_the_number_of_queries_of_the_queue_does_not_grow_with_it(cast: factories.Team) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    alice = browser(cast.alice)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert alice.get("/").status_code == 200
        return len(asked)

    call(cast.scout)
    queries()
    few = queries()
    for number in range(12):
        call(cast.scout, arguments={"order": str(number)})
    assert queries() == few


def test_the_page_says_what_approving_does_only_while_somebody_can_approve(cast: factories.Team) -> None:
    proposal, alice = call(cast.scout), browser(cast.alice)
    open_to_approval = ("What approving will do", "People who could decide")
    before = alice.get(f"/proposals/{proposal.id}/").content.decode()
    assert all(words in before for words in open_to_approval)
    after = decide(alice, proposal).content.decode()
    assert not any(words in after for words in open_to_approval)
    assert "It asks for nothing more." in after
