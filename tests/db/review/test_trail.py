"""The trail as a manager reads it: closed filters, one proposal's life, and the way there and back."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from huqan_site.lib.problems import Refusal
from review.access.actors import PersonActor
from review.audit import log
from review.audit.actions import TELLING, Action, Ending
from review.audit.models import Entry
from review.audit.queries import Filters, Scope, page
from review.audit.transaction import write
from review.services.issue_permit import redeem
from review.services.report_outcome import report
from tests.support import factories
from tests.support.memory_acts import known
from tests.support.pages import browser
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db
NOT_HERE = "The address asks for what is not here"


def shown(reader: PersonActor, address: str, /, **asked: str) -> str:
    answer = browser(reader).get(address, asked)
    assert answer.status_code == 200
    return str(answer.content.decode())


def actions(reader: PersonActor, /, **asked: str) -> list[str]:
    """The actions of the list, newest first."""
    return re.findall(r'c-tool" role="cell">.*?<code>([a-z_.]+)</code>', shown(reader, "/audit/", **asked))


@pytest.mark.parametrize(
    "asked",
    [
        {"from": "yesterday"},
        {"to": "2026-02-30"},
        {"person": "nobody"},
        {"person": "mallory"},
        {"agent": "prowler"},
        {"action": "proposal.forgotten"},
        {"outcome": "lost"},
        {"workspace": "globex"},
        {"proposal": "1"},
        {"about": "1"},
    ],
)
def test_a_filter_that_is_of_nothing_here_says_so_and_is_not_exported(
    cast: factories.Team, asked: dict[str, str]
) -> None:
    page = shown(cast.dana, "/audit/", **asked)
    assert NOT_HERE in page
    assert "No entry matches" in page
    for form in ("jsonl", "csv"):
        assert browser(cast.dana).get(f"/audit/export.{form}", asked).status_code == 422


@pytest.mark.parametrize(
    "asked",
    [
        {"from": "2020-01-01", "to": "2100-01-01"},
        {"person": "alice", "workspace": "acme"},
        {"agent": "scout"},
        {"action": "proposal.proposed"},
        {"outcome": "refused"},
        {"tool": "mail.send"},
    ],
)
def test_a_filter_that_is_of_something_here_does_not(cast: factories.Team, asked: dict[str, str]) -> None:
    assert NOT_HERE not in shown(cast.dana, "/audit/", **asked)


def test_somebody_who_left_is_still_found_by_what_he_did(cast: factories.Team) -> None:
    vote(cast.carol, call(cast.scout))
    cast.carol.person.memberships.update(until=timezone.now())
    assert "decision.approved" in actions(cast.dana, person="carol")


def test_the_outcome_finds_whichever_action_tells_of_it(cast: factories.Team) -> None:
    refund = call(cast.scout)
    with pytest.raises(Refusal):
        vote(cast.bob, refund)
    vote(cast.alice, refund)
    vote(cast.carol, call(cast.scout, arguments={"order": "2"}), "reject")
    assert actions(cast.dana, outcome="refused") == ["decision.refused"]
    assert actions(cast.dana, outcome="approved") == ["proposal.approved", "decision.approved"]
    assert actions(cast.dana, outcome="rejected") == ["proposal.rejected", "decision.rejected"]
    assert actions(cast.dana, outcome="rejected", person="alice") == []
    assert actions(cast.dana, outcome="approved", action="decision.approved") == ["decision.approved"]


def test_what_an_executor_reported_is_told_apart(cast: factories.Team) -> None:
    for order, result in (("1", "succeeded"), ("2", "failed")):
        refund = call(cast.scout, arguments={"order": order})
        vote(cast.alice, refund)
        permit = redeem(refund.id, by=cast.scout, arguments={"order": order})
        report(refund.id, by=cast.scout, result=result, jti=permit.jti)
    scope = Scope((cast.acme.id,))
    found = {
        ending: [entry.proposal for entry in page(scope, Filters(ending=ending))]
        for ending in (Ending.SUCCEEDED, Ending.FAILED, Ending.UNKNOWN)
    }
    assert [len(some) for some in found.values()] == [1, 1, 0]
    assert found[Ending.SUCCEEDED] != found[Ending.FAILED]


def test_every_outcome_is_told_by_some_action() -> None:
    assert set(TELLING) == set(Ending)
    assert all(TELLING.values())


def test_a_day_far_back_is_found_by_its_place(cast: factories.Team) -> None:
    with at(timezone.now() + timedelta(days=1)):
        call(cast.scout)
        day = timezone.now().date().isoformat()
    with at(timezone.now() + timedelta(days=3)):
        call(cast.scout, arguments={"order": "2"})
    assert actions(cast.dana, **{"from": day, "to": day}) == ["proposal.proposed"]
    scope, since = Scope((cast.acme.id,)), timezone.now() + timedelta(days=2)
    with CaptureQueriesContext(connection) as asked:
        found = page(scope, Filters(since=since, until=since + timedelta(days=5)))
    assert [entry.action for entry in found] == ["audit.read", "proposal.proposed"]
    assert "stamp" not in asked[-1]["sql"].partition("WHERE")[2]


def life(cast: factories.Team, proposal: Any) -> str:
    return shown(cast.dana, f"/audit/proposals/{proposal.id}/")


def test_one_proposals_life_stands_on_one_screen_oldest_first(cast: factories.Team) -> None:
    refund = call(cast.scout)
    with pytest.raises(Refusal):
        vote(cast.bob, refund, reason="I know the agent.")
    vote(cast.alice, refund, reason="Seen the invoice.")
    page = life(cast, refund)
    assert re.findall(r"<code>([a-z_]+\.[a-z_]+)</code></p>", page) == [
        "proposal.proposed",
        "decision.refused",
        "decision.approved",
        "proposal.approved",
    ]
    assert "Seen the invoice." in page
    assert "self approval" in page


def test_a_life_says_what_each_person_saw_and_how_he_was_signed_in(cast: factories.Team) -> None:
    refund = call(cast.scout)
    vote(cast.alice, refund)
    page = life(cast, refund)
    assert "The page that was shown" in page
    assert '<span class="digest">0000 0000 … 0000 0000</span>' in page
    assert re.search(r"Signed in with</dt><dd>password, <time [^>]*>[^<]* UTC", page)
    assert "With the token" in page


def test_a_life_is_for_managers_of_its_workspace(cast: factories.Team) -> None:
    address = f"/audit/proposals/{call(cast.scout).id}/"
    assert browser(cast.dana).get(address).status_code == 200
    assert browser(cast.alice).get(address).status_code == 403
    assert browser(cast.mallory).get(address).status_code == 404
    assert browser(cast.dana).get(f"/audit/proposals/{UUID(int=5)}/").status_code == 404


def test_reading_a_life_is_recorded_once_a_session_and_hour(cast: factories.Team) -> None:
    refund, client = call(cast.scout), browser(cast.dana)
    for _ in range(2):
        client.get(f"/audit/proposals/{refund.id}/")
    assert Entry.objects.filter(action=Action.AUDIT_READ).count() == 1


def test_an_erased_text_is_told_on_the_page_of_its_entry_and_in_the_life(cast: factories.Team) -> None:
    refund = call(cast.scout)
    vote(cast.alice, refund, "reject", reason="The invoice is forged.")
    entry = Entry.objects.get(action=Action.DECISION_REJECTED)
    for address in (f"/audit/{entry.seq}/", f"/audit/proposals/{refund.id}/"):
        assert "The invoice is forged." in shown(cast.dana, address)
    with write():
        log.erase_private_texts([entry.seq])
    for address in (f"/audit/{entry.seq}/", f"/audit/proposals/{refund.id}/"):
        page = shown(cast.dana, address)
        assert "The invoice is forged." not in page
        assert "Erased. The commitment in the entry stays" in page


def test_an_entry_leads_to_all_that_it_is_about_and_those_pages_lead_back(cast: factories.Team) -> None:
    refund = call(cast.scout)
    vote(cast.alice, refund)
    entry = Entry.objects.get(action=Action.DECISION_APPROVED)
    page = shown(cast.dana, f"/audit/{entry.seq}/")
    for address in (
        f"/audit/proposals/{refund.id}/",
        f"/proposals/{refund.id}/",
        f"/agents/{cast.scout.agent.id}/",
        f"/people/{cast.alice.person.id}/",
    ):
        assert f'href="{address}"' in page
        assert browser(cast.dana).get(address).status_code == 200
    assert f'href="/audit/proposals/{refund.id}/"' in shown(cast.dana, f"/proposals/{refund.id}/")
    assert 'href="/audit/?agent=scout&amp;workspace=acme"' in shown(
        cast.dana, f"/agents/{cast.scout.agent.id}/"
    )
    assert 'href="/audit/?person=alice"' in shown(cast.dana, f"/people/{cast.alice.person.id}/")
    assert "/audit/" not in shown(cast.alice, f"/proposals/{refund.id}/")


def test_a_record_and_its_entries_lead_to_each_other(cast: factories.Team) -> None:
    record = known(cast.scout, "The office closes at six.", cast.alice)
    assert f'href="/audit/?about={record.id}"' in shown(cast.dana, f"/memory/{record.id}/")
    assert "memory.written" in actions(cast.dana, about=str(record.id))
    entry = Entry.objects.get(action=Action.MEMORY_WRITTEN)
    assert f'href="/memory/{record.id}/"' in shown(cast.dana, f"/audit/{entry.seq}/")


def test_an_entry_about_something_without_a_page_is_shown_all_the_same(cast: factories.Team) -> None:
    with write():
        entry = log.record(
            Action.PROPOSAL_REFUSED,
            actor=cast.dana.audit(),
            workspace=cast.acme.id,
            object=log.ObjectRef("record", "not an id"),
        )
    assert f"Entry {entry.seq}" in shown(cast.dana, f"/audit/{entry.seq}/")
    assert "proposal.refused" in actions(cast.dana)


def test_the_list_costs_the_same_however_many_entries_it_shows(cast: factories.Team) -> None:
    client, costs = browser(cast.dana), []
    client.get("/audit/")
    for _ in range(2):
        mail(cast.scout)
        with CaptureQueriesContext(connection) as asked:
            client.get("/audit/")
        costs.append(len(asked))
    assert costs[0] == costs[1]
