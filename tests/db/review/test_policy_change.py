"""A policy changes by a proposal of one manager that another approves, and by nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review.access.models import Membership
from review.audit.models import Entry
from review.domain import refusals
from review.models import PolicyVersion, Proposal, Revision
from review.queries.policies import in_force, resolved
from review.queries.policy_changes import history
from review.services.propose import Draft, propose
from tests.support import factories
from tests.support.policy_acts import WHY, changed, proposed, with_rule
from tests.support.review_acts import vote

pytestmark = pytest.mark.django_db


@pytest.fixture
def change(cast: factories.Team) -> Proposal:
    return proposed(cast.dana, cast.acme, stricter(cast))


def stricter(cast: factories.Team) -> dict[str, Any]:
    return with_rule(cast.acme, "payments.*", risk="high", approvals=2)


def refused_at(caught: pytest.ExceptionInfo[refusals.Invalid]) -> list[str]:
    return [error.pointer for error in caught.value.errors]


def entries(action: str) -> list[dict[str, Any]]:
    return [json.loads(entry.canonical) for entry in Entry.objects.filter(action=action).order_by("seq")]


def test_it_waits_for_another_manager_and_until_then_the_old_policy_runs(
    cast: factories.Team, change: Proposal
) -> None:
    assert (change.status, change.kind, change.agent, change.principal) == (
        "pending",
        "policy_change",
        None,
        cast.dana.person.id,
    )
    assert resolved(cast.acme.id, "payments.refund").approvals == 1
    revision = Revision.objects.get(proposal=change)
    assert json.loads(revision.arguments) == {"policy": stricter(cast), "replaces": 1}
    assert (revision.author_person, revision.token, revision.rationale) == (cast.dana.person, None, WHY)


def test_another_managers_approval_puts_it_into_force_at_once(cast: factories.Team, change: Proposal) -> None:
    vote(cast.erin, change)
    change.refresh_from_db()
    assert (change.status, change.outcome) == ("executed", {"result": "succeeded", "version": 2})
    assert resolved(cast.acme.id, "payments.refund").approvals == 2
    assert in_force(cast.globex.id).version == 1
    version = PolicyVersion.objects.get(workspace=cast.acme, version=2)
    assert (version.proposal, version.activated_by) == (change, cast.erin.person)
    entry = entries("policy.activated")[-1]
    assert entry["before"]["version"] == 1 and entry["after"]["version"] == 2
    assert entry["actor"]["person"] == str(cast.erin.person.id)


def test_who_proposed_it_cannot_approve_it(cast: factories.Team, change: Proposal) -> None:
    with pytest.raises(refusals.SelfApproval):
        vote(cast.dana, change)
    assert in_force(cast.acme.id).version == 1


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_a_reviewer_does_not_decide_it(cast: factories.Team, change: Proposal, verdict: str) -> None:
    with pytest.raises(refusals.NotEligible):
        vote(cast.alice, change, verdict)


@pytest.mark.parametrize("who", ["mallory", "nina"])
def test_for_another_workspace_it_does_not_exist(cast: factories.Team, change: Proposal, who: str) -> None:
    with pytest.raises(refusals.NotFound):
        vote(getattr(cast, who), change)


def test_a_manager_whose_role_is_newer_can_reject_it_and_not_approve_it(
    cast: factories.Team, change: Proposal
) -> None:
    Membership.objects.filter(person=cast.erin.person).update(since=change.submitted_at)
    with pytest.raises(refusals.RoleTooNew):
        vote(cast.erin, change)
    vote(cast.erin, change, "reject")
    change.refresh_from_db()
    assert change.status == "rejected"
    assert in_force(cast.acme.id).version == 1


def test_a_manager_whom_its_author_appointed_does_not_count(cast: factories.Team, change: Proposal) -> None:
    Membership.objects.filter(person=cast.erin.person).update(granted_by=cast.dana.person)
    with pytest.raises(refusals.NotEligible):
        vote(cast.erin, change)


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_a_reviewer_cannot_propose_one(cast: factories.Team, who: str) -> None:
    from review.access.refusals import NotManager

    with pytest.raises(NotManager):
        proposed(getattr(cast, who), cast.acme, stricter(cast))
    assert entries("proposal.refused")[-1]["after"]["code"] == "not_manager"


def test_a_manager_of_elsewhere_meets_nothing(cast: factories.Team) -> None:
    with pytest.raises(refusals.NotFound):
        proposed(cast.mallory, cast.acme, stricter(cast))


@pytest.mark.parametrize("tool", ["policy.change", "Policy.Change"])
def test_no_agent_starts_one(cast: factories.Team, tool: str) -> None:
    with pytest.raises(refusals.Blocked):
        propose(Draft(tool, {"policy": stricter(cast), "replaces": 1}), by=cast.scout)


def test_where_there_is_no_other_manager_it_says_so_at_once(cast: factories.Team) -> None:
    Membership.objects.filter(person=cast.erin.person).delete()
    with pytest.raises(refusals.Unsatisfiable) as refused:
        proposed(cast.dana, cast.acme, stricter(cast))
    assert refused.value.extra["eligible"] == 0
    assert not Proposal.objects.exists()


def test_a_reason_is_needed(cast: factories.Team) -> None:
    with pytest.raises(refusals.ReasonRequired):
        proposed(cast.dana, cast.acme, stricter(cast), reason="  ")


# One at a time


def test_what_was_made_for_a_version_that_no_longer_runs_cannot_be_approved(
    cast: factories.Team, change: Proposal
) -> None:
    overtaken = proposed(cast.dana, cast.acme, with_rule(cast.acme, "mail.send", risk="high", approvals=1))
    vote(cast.erin, change)
    with pytest.raises(refusals.PolicyChanged) as refused:
        vote(cast.erin, overtaken)
    assert "Propose it anew" in refused.value.detail
    assert resolved(cast.acme.id, "payments.refund").approvals == 2
    vote(cast.erin, overtaken, "reject")
    overtaken.refresh_from_db()
    assert overtaken.status == "rejected"


def test_a_change_that_was_compared_with_another_version_is_not_taken(
    cast: factories.Team, change: Proposal
) -> None:
    vote(cast.erin, change)
    with pytest.raises(refusals.PolicyChanged):
        proposed(cast.dana, cast.acme, {"rules": []}, replaces=1)
    proposed(cast.dana, cast.acme, {"rules": []}, replaces=2)


# What is not taken


@pytest.mark.parametrize(
    ("rule", "pointer"),
    [
        ({"aprovals": 2}, "/policy/rules/0/aprovals"),
        ({"route": "allow", "risk": "high"}, "/policy/rules/0/route"),
        ({"groups": [{"name": "securty", "approvals": 1}]}, "/policy/rules/0/groups/0/name"),
        ({"approvals": 4}, "/policy/rules/0/approvals"),
        ({"groups": [{"name": "security", "approvals": 2}]}, "/policy/rules/0/groups/0/approvals"),
        ({"schema": {"$ref": "https://schemas.example/x"}}, "/policy/rules/0/schema/$ref"),
    ],
)
def test_what_could_not_stand_or_be_met_is_pointed_at(
    cast: factories.Team, rule: dict[str, Any], pointer: str
) -> None:
    Membership.objects.filter(person=cast.carol.person).update(groups=["security"])
    with pytest.raises(refusals.Invalid) as refused:
        proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.update", **rule))
    assert refused_at(refused) == [pointer]


def test_a_group_that_somebody_is_in_is_taken(cast: factories.Team) -> None:
    Membership.objects.filter(person=cast.carol.person).update(groups=["security"])
    groups = [{"name": "security", "approvals": 1}]
    assert proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.update", groups=groups))


def test_the_policy_that_runs_is_no_change(cast: factories.Team) -> None:
    with pytest.raises(refusals.Invalid) as refused:
        proposed(cast.dana, cast.acme, dict(in_force(cast.acme.id).document))
    assert refused.value.errors[0].code == "unchanged"


def test_what_is_refused_is_recorded_without_its_text(cast: factories.Team) -> None:
    with pytest.raises(refusals.Invalid):
        proposed(cast.dana, cast.acme, {"secret-word": 1})
    (entry,) = entries("proposal.refused")
    assert entry["after"]["code"] == "invalid" and entry["workspace"] == str(cast.acme.id)
    assert "secret-word" not in json.dumps(entry)


# What is told


def test_the_history_says_who_wrote_and_who_approved_each_version(cast: factories.Team) -> None:
    change = changed(cast, "payments.*", risk="high", approvals=2)
    newest, first = history(cast.acme.id)
    assert (newest.number, newest.written_by, newest.approved_by, newest.proposal) == (
        2,
        "dana",
        ["erin"],
        change.id,
    )
    assert (first.number, first.written_by, first.approved_by) == (1, "", [])
