"""A change of the policy that waits, or was sent back, is written otherwise by whoever proposed it, and nobody else."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from review.access.models import Membership
from review.audit.models import Entry
from review.domain import refusals
from review.models import Proposal, Revision
from review.queries.cases import case_of, rebound
from review.queries.policies import in_force
from tests.support import factories
from tests.support.policy_acts import changed, proposed, revised, with_rule
from tests.support.review_acts import at, call, vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def returned(cast: factories.Team) -> Proposal:
    """Dana asks for less than erin wants, and erin sends it back."""
    change = proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    return vote(cast.erin, change, "request_changes", reason="Two people, please.").proposal


def stricter(cast: factories.Team) -> dict[str, Any]:
    return with_rule(cast.acme, "crm.*", risk="high", approvals=2)


def entries(action: str) -> list[dict[str, Any]]:
    return [json.loads(entry.canonical) for entry in Entry.objects.filter(action=action).order_by("seq")]


def test_it_waits_again_with_the_new_text_and_another_manager_puts_it_into_force(
    cast: factories.Team, returned: Proposal
) -> None:
    wanted = stricter(cast)
    change = revised(cast.dana, returned, wanted, reason="As erin says.")
    assert (change.status, change.revision, change.reason, change.fields) == ("pending", 2, None, [])
    assert change.submitted_at > returned.submitted_at
    revision = Revision.objects.get(proposal=change, number=2)
    assert json.loads(revision.arguments) == {"policy": wanted, "replaces": 1}
    assert (revision.author_person, revision.rationale) == (cast.dana.person, "As erin says.")
    vote(cast.erin, change)
    assert in_force(cast.acme.id).document == wanted


def test_its_binding_covers_the_new_text(cast: factories.Team, returned: Proposal) -> None:
    change = revised(cast.dana, returned, stricter(cast))
    revision = Revision.objects.get(proposal=change, number=2)
    assert change.binding == revision.binding == rebound(change, revision).digest() != returned.binding


def test_the_log_tells_who_wrote_it_and_who_may_not_approve_it(
    cast: factories.Team, returned: Proposal
) -> None:
    change = revised(cast.dana, returned, stricter(cast))
    (entry,) = entries("proposal.revised")
    assert entry["actor"]["person"] == str(cast.dana.person.id)
    assert (entry["before"]["status"], entry["after"]["status"]) == ("changes_requested", "pending")
    assert (entry["binding"], entry["object"]["revision"]) == (change.binding, 2)
    assert str(cast.dana.person.id) in entry["conflict_set"] and "rationale" in entry["private"]


def test_who_wrote_it_still_cannot_approve_it(cast: factories.Team, returned: Proposal) -> None:
    change = revised(cast.dana, returned, stricter(cast))
    with pytest.raises(refusals.SelfApproval):
        vote(cast.dana, change)


def test_an_approval_of_the_earlier_text_does_not_count_for_the_later_one(cast: factories.Team) -> None:
    for name in ("gina", "hugo", "ines"):
        factories.person(name, cast.acme, ["manager"])
    changed(cast, "policy.change", risk="high", approvals=2)
    change = proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    vote(cast.erin, change)
    change.refresh_from_db()
    assert change.approvals_given == 1
    change = revised(cast.dana, change, stricter(cast))
    assert (change.status, change.approvals_given) == ("pending", 0)
    assert case_of(change, change.submitted_at).votes[0].binding != change.binding


def test_what_was_compared_with_a_version_that_no_longer_runs_is_written_for_the_one_that_does(
    cast: factories.Team, returned: Proposal
) -> None:
    changed(cast, "mail.*", risk="high", approvals=2)
    with pytest.raises(refusals.PolicyChanged):
        revised(cast.dana, returned, stricter(cast), replaces=1)
    vote(cast.erin, revised(cast.dana, returned, stricter(cast)))
    assert in_force(cast.acme.id).version == 3


@pytest.mark.parametrize("who", ["erin", "alice"])
def test_nobody_else_of_the_workspace_writes_it(cast: factories.Team, returned: Proposal, who: str) -> None:
    with pytest.raises(refusals.NotEligible):
        revised(getattr(cast, who), returned, stricter(cast))
    assert entries("proposal.refused")[-1]["after"]["code"] == "not_eligible"
    returned.refresh_from_db()
    assert returned.revision == 1


def test_elsewhere_there_is_no_such_change(cast: factories.Team, returned: Proposal) -> None:
    with pytest.raises(refusals.NotFound):
        revised(cast.mallory, returned, stricter(cast))


def test_what_an_agent_proposed_is_not_written_by_this_door(cast: factories.Team) -> None:
    with pytest.raises(refusals.NotEligible):
        revised(cast.dana, call(cast.scout), stricter(cast))


def test_who_is_no_manager_any_more_writes_no_revision(cast: factories.Team, returned: Proposal) -> None:
    Membership.objects.filter(person=cast.dana.person).update(role="reviewer")
    with pytest.raises(refusals.NotEligible):
        revised(cast.dana, returned, stricter(cast))


@pytest.mark.parametrize(
    ("document", "changes", "refusal"),
    [
        ({"rules": [{"tool": "x", "aprovals": 2}]}, {}, refusals.Invalid),
        ({"rules": []}, {"compared": "0" * 64}, refusals.StaleBinding),
        ({"rules": []}, {"reason": " "}, refusals.ReasonRequired),
        ({"rules": []}, {"revision": 2}, refusals.StaleRevision),
    ],
)
def test_what_could_not_be_proposed_is_no_revision_either(
    cast: factories.Team,
    returned: Proposal,
    document: dict[str, Any],
    changes: dict[str, Any],
    refusal: type[Exception],
) -> None:
    with pytest.raises(refusal):
        revised(cast.dana, returned, document, **changes)
    returned.refresh_from_db()
    assert (returned.status, returned.revision) == ("changes_requested", 1)


def test_a_form_that_is_sent_twice_makes_one_revision(cast: factories.Team, returned: Proposal) -> None:
    revised(cast.dana, returned, stricter(cast))
    again = revised(cast.dana, returned, stricter(cast), revision=1)
    assert (again.revision, returned.revisions.count()) == (2, 2)


def test_what_was_said_in_an_earlier_revision_is_proposed_as_one_of_its_own(
    cast: factories.Team, returned: Proposal
) -> None:
    revised(cast.dana, returned, stricter(cast))
    second = proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low"))
    assert second.id != returned.id


def test_what_ran_out_of_time_is_not_written_otherwise(cast: factories.Team, returned: Proposal) -> None:
    assert returned.expires_at
    with at(returned.expires_at), pytest.raises(refusals.Expired):
        revised(cast.dana, returned, stricter(cast))
    returned.refresh_from_db()
    assert returned.status == "expired"


def test_its_time_runs_from_the_revision_on(cast: factories.Team, returned: Proposal) -> None:
    with at(returned.created_at + timedelta(days=3)):
        change = revised(cast.dana, returned, stricter(cast))
    assert returned.expires_at and change.expires_at
    assert change.expires_at - returned.expires_at == timedelta(days=3)


def test_where_there_is_no_other_manager_any_more_it_says_so(
    cast: factories.Team, returned: Proposal
) -> None:
    Membership.objects.filter(person=cast.erin.person).delete()
    with pytest.raises(refusals.Unsatisfiable):
        revised(cast.dana, returned, stricter(cast))
