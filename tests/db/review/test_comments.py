"""People talk about a proposal: those of its workspace read it, no agent does, and it decides nothing."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from review.access.refusals import Mistyped
from review.audit.models import Entry
from review.domain.refusals import NotFound
from review.models import Comment
from review.services.comment import MOST, comment
from tests.support import factories
from tests.support.pages import browser
from tests.support.review_acts import call, vote

pytestmark = pytest.mark.django_db


def test_everybody_of_the_workspace_says_something_and_the_others_read_it(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    for person in (cast.alice, cast.bob, cast.dana):
        comment(proposal.id, by=person, text=f"{person.person.name} asks: which order?\n<b>now</b>")
    page = browser(cast.alice).get(f"/proposals/{proposal.id}/").content.decode()
    assert page.count("commented on revision 1.") == 3
    assert "bob asks: which order?" in page and "&lt;b&gt;now&lt;/b&gt;" in page


def test_an_outsider_neither_says_nor_reads_anything(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    with pytest.raises(NotFound):
        comment(proposal.id, by=cast.mallory, text="Let me in.")
    answer = browser(cast.mallory).post(f"/proposals/{proposal.id}/comment/", {"comment": "Let me in."})
    assert answer.status_code == 404
    assert not Comment.objects.exists()


def test_no_agent_reads_a_comment(cast: factories.Team, client: Client) -> None:
    proposal = call(cast.scout)
    comment(proposal.id, by=cast.alice, text="I doubt this agent.", pointer="/order")
    told = client.get(f"/api/v1/proposals/{proposal.id}", **factories.bearer(cast.scout))
    assert told.status_code == 200 and "doubt" not in told.content.decode()


def test_a_comment_is_no_vote_and_changes_nothing_of_what_would_run(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    before, entries = (proposal.binding, proposal.status, proposal.revision), Entry.objects.count()
    comment(proposal.id, by=cast.alice, text="Approve it, somebody.")
    proposal.refresh_from_db()
    assert (proposal.binding, proposal.status, proposal.revision) == before
    assert (proposal.approvals_given, Entry.objects.count()) == (0, entries)
    assert vote(cast.alice, proposal).proposal.status == "approved"


def test_a_comment_names_a_place_that_is_there(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    assert comment(proposal.id, by=cast.alice, text="This one.", pointer="/order").pointer == "/order"
    with pytest.raises(Mistyped, match="no such place"):
        comment(proposal.id, by=cast.alice, text="That one.", pointer="/to")


@pytest.mark.parametrize(("text", "why"), [(" \n ", "without words"), ("x" * (MOST + 1), "4,000")])
def test_what_cannot_be_kept_is_said_and_stays_typed(cast: factories.Team, text: str, why: str) -> None:
    proposal = call(cast.scout)
    answer = browser(cast.alice).post(f"/proposals/{proposal.id}/comment/", {"comment": text})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert why in page and f">{text}</textarea>" in page
    assert not Comment.objects.exists()


def test_posting_leads_back_to_the_history(cast: factories.Team) -> None:
    proposal = call(cast.scout)
    answer = browser(cast.alice).post(f"/proposals/{proposal.id}/comment/", {"comment": "Seen.", "about": ""})
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/proposals/{proposal.id}/#history")


def test_a_comment_stays_as_written(cast: factories.Team) -> None:
    made = comment(call(cast.scout).id, by=cast.alice, text="As written.")
    for change in (lambda: Comment.objects.update(text="Other."), made.delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    assert Comment.objects.get().text == "As written."
