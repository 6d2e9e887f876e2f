"""After an older copy was put back: reading goes on, deciding stops, two managers take the log as it is."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from review.access.models import Membership
from review.access.refusals import NotManager
from review.audit import dispute, withdrawn, witness
from review.audit.actions import Action
from review.audit.models import Checkpoint, Entry
from review.audit.refusals import LogDisputed
from review.audit.verify import verify
from review.audit.witness import Standing
from review.domain.refusals import Invalid, SamePerson
from review.models import Permit
from review.queries.adoption import waiting
from review.services import adopt_log
from review.services.adopt_log import confirm_adoption, open_adoption
from review.services.issue_permit import redeem
from tests.db.audit.acts import cut_to, did, did_several, rewrite_from
from tests.support.factories import Team, team
from tests.support.pages import browser
from tests.support.review_acts import call, vote

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "The disk of Monday was put back."


@pytest.fixture
def cast() -> Team:
    return team()


@pytest.fixture
def restored(cast: Team) -> Team:
    """A log that was signed up to a decision, of which an older copy was put back."""
    did_several(3)
    did(Action.DECISION_APPROVED)
    size = Entry.objects.count()
    did_several(8)
    did(Action.DECISION_APPROVED)
    cut_to(size)
    return cast


def opened() -> int:
    call_command("adopt_log", reason=REASON, stdout=io.StringIO())
    adoption = waiting()
    assert adoption is not None
    return adoption.number


def adopted(cast: Team) -> None:
    number = opened()
    assert not confirm_adoption(number, by=cast.dana)
    assert confirm_adoption(number, by=cast.erin)


def test_nobody_decides_or_redeems_until_two_managers_have_adopted_the_log(restored: Team) -> None:
    proposal = call(restored.scout)
    with pytest.raises(LogDisputed):
        vote(restored.alice, proposal)
    number = opened()
    with pytest.raises(LogDisputed):
        vote(restored.alice, proposal)
    assert not confirm_adoption(number, by=restored.dana)
    with pytest.raises(LogDisputed):
        vote(restored.alice, proposal)
    assert confirm_adoption(number, by=restored.erin)
    vote(restored.alice, proposal)
    assert redeem(proposal.id, by=restored.scout)


def test_the_adopted_log_goes_on_in_the_same_file(restored: Team) -> None:
    adopted(restored)
    assert witness.standing() is Standing.AGREES
    assert dispute.found() is None
    did(Action.DECISION_APPROVED)
    notes = [note.size for note in witness.notes()]
    assert notes[-1] == Entry.objects.count()
    assert sorted(notes) != notes, "what was given up stands before it"
    report = verify()
    assert report.faults == ()
    assert report.ok


def test_before_the_adoption_verification_says_what_is_missing(restored: Team) -> None:
    assert not verify().ok


def test_a_log_that_grew_past_its_witness_is_adopted_too(restored: Team) -> None:
    did_several(12)
    adopted(restored)
    did(Action.DECISION_APPROVED)
    assert verify().ok


def test_a_log_whose_witness_file_holds_no_note_any_more_is_adopted_too(cast: Team) -> None:
    did(Action.DECISION_APPROVED)
    witness.path().write_text("\n" * 10_000)
    adopted(cast)
    assert witness.standing() is Standing.AGREES
    did(Action.DECISION_APPROVED)
    assert witness.last_note().size == Entry.objects.count()


def test_a_second_restore_is_adopted_once_more(restored: Team) -> None:
    adopted(restored)
    size = Entry.objects.count()
    did(Action.DECISION_APPROVED)
    cut_to(size)
    adopted(restored)
    did(Action.DECISION_APPROVED)
    assert verify().ok


def test_a_log_rewritten_behind_the_consoles_back_is_disputed_by_the_next_program(cast: Team) -> None:
    did_several(3)
    did(Action.DECISION_APPROVED)
    rewrite_from(2)
    witness.compare_again()  # as a program that starts does
    with pytest.raises(LogDisputed):
        did(Action.DECISION_APPROVED)
    adopted(cast)
    did(Action.DECISION_APPROVED)
    assert verify().ok


def test_an_adoption_that_could_not_be_witnessed_is_witnessed_by_the_next_write(
    restored: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, text: bytes) -> None:
        raise OSError(28, "No space left on device")

    number = opened()
    confirm_adoption(number, by=restored.dana)
    with monkeypatch.context() as patch:
        patch.setattr(witness, "_append", refuse)
        confirm_adoption(number, by=restored.erin)
    did(Action.DECISION_APPROVED)
    assert verify().ok


def test_one_manager_counts_once(restored: Team) -> None:
    number = opened()
    confirm_adoption(number, by=restored.dana)
    with pytest.raises(SamePerson):
        confirm_adoption(number, by=restored.dana)
    assert waiting() is not None


def test_two_accounts_of_one_person_count_once(restored: Team) -> None:
    number = opened()
    confirm_adoption(number, by=restored.dana)
    restored.erin.person.same_as = restored.dana.person
    restored.erin.person.save()
    with pytest.raises(SamePerson):
        confirm_adoption(number, by=restored.erin)


def test_a_manager_who_left_no_longer_counts(restored: Team) -> None:
    number = opened()
    confirm_adoption(number, by=restored.dana)
    Membership.objects.filter(person=restored.dana.person).update(until=timezone.now())
    assert not confirm_adoption(number, by=restored.erin)
    assert confirm_adoption(number, by=restored.mallory)


def test_a_reviewer_adopts_nothing(restored: Team) -> None:
    with pytest.raises(NotManager):
        confirm_adoption(opened(), by=restored.alice)


def test_what_nobody_opened_cannot_be_confirmed(restored: Team) -> None:
    with pytest.raises(Invalid):
        confirm_adoption(3, by=restored.dana)
    number = opened()
    with pytest.raises(Invalid):
        confirm_adoption(number - 1, by=restored.dana)


def test_a_log_that_agrees_is_not_adopted(cast: Team) -> None:
    did(Action.DECISION_APPROVED)
    with pytest.raises(Invalid):
        open_adoption(REASON, by=adopt_log.SystemActor())
    with pytest.raises(CommandError, match="nothing to adopt"):
        opened()


def test_it_takes_a_reason(restored: Team) -> None:
    with pytest.raises(CommandError, match="--reason"):
        call_command("adopt_log", reason="  ")


def test_a_cut_that_left_its_checkpoints_is_not_adopted(cast: Team) -> None:
    did_several(3)
    did(Action.DECISION_APPROVED)
    cut_to(2, checkpoints_too=False)
    with pytest.raises(CommandError, match="Restore a backup"):
        opened()


def test_permits_that_are_not_spent_are_voided(cast: Team) -> None:
    proposal = call(cast.scout)
    vote(cast.alice, proposal)
    permit = redeem(proposal.id, by=cast.scout)
    size = Entry.objects.count()
    did(Action.DECISION_APPROVED)
    cut_to(size)
    adopted(cast)
    assert Permit.objects.get(pk=permit.pk).voided_at is not None
    assert Entry.objects.filter(action=Action.PERMIT_VOIDED, proposal=str(proposal.id)).exists()


def test_what_was_withdrawn_is_withdrawn_again(restored: Team) -> None:
    line = {"v": 1, "what": "token", "id": str(restored.scout.token.id), "time": timezone.now().isoformat()}
    withdrawn.path().write_text(json.dumps(line) + "\n")
    adopted(restored)
    restored.scout.token.refresh_from_db()
    assert restored.scout.token.revoked_at is not None


def test_the_adoption_is_told_by_the_log(restored: Team) -> None:
    adopted(restored)
    told = Entry.objects.filter(action=Action.LOG_ADOPTED).order_by("seq")
    assert [entry.account for entry in told] == ["console", "dana", "erin"]
    newest = Checkpoint.objects.order_by("-size").first()
    assert newest and "\nadopted " in newest.note


# The pages.


def signed_in(cast: Team, name: str) -> Client:
    client = Client()
    client.force_login(getattr(cast, name).user)
    return client


def test_a_banner_on_every_page_says_what_was_found(restored: Team) -> None:
    for name, address in (("alice", "/"), ("dana", "/audit/"), ("dana", "/people/"), ("alice", "/account/")):
        text = signed_in(restored, name).get(address).content.decode()
        assert "Deciding is stopped" in text, address
        assert "witness file vouches for" in text, address


def test_no_banner_where_log_and_file_agree(cast: Team) -> None:
    assert "Deciding is stopped" not in signed_in(cast, "alice").get("/").content.decode()


def test_two_managers_confirm_on_the_audit_trail(restored: Team) -> None:
    page = signed_in(restored, "dana").get("/audit/").content.decode()
    assert "Adopt the log as it is" not in page
    number = opened()
    for name in ("dana", "erin"):
        client = signed_in(restored, name)
        page = client.get("/audit/").content.decode()
        assert "Adopt the log as it is" in page
        assert REASON in page
        assert client.post("/audit/adopt/", {"adoption": number}).status_code == 302
    page = signed_in(restored, "erin").get("/audit/").content.decode()
    assert "Adopt the log as it is" not in page
    assert "Deciding is stopped" not in page


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 30, "0"])
def test_a_form_that_names_no_adoption_is_refused(restored: Team, number: str) -> None:
    assert signed_in(restored, "dana").post("/audit/adopt/", {"adoption": number}).status_code == 422


def test_a_reviewer_cannot_confirm_by_the_page(restored: Team) -> None:
    number = opened()
    assert signed_in(restored, "alice").post("/audit/adopt/", {"adoption": number}).status_code == 403


def test_the_trail_asks_once_what_disagrees_and_says_it_above_and_in_the_page(
    restored: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dispute.Dispute | None] = []
    monkeypatch.setattr(dispute, "found", lambda found=dispute.found: asked.append(found()) or asked[-1])
    shown = browser(restored.dana).get("/audit/").content.decode()
    assert "its end was cut off" in shown
    assert "The operator has to look at this first" in shown
    assert len(asked) == 1
