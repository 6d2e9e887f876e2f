"""Verification looks at the policy too: every version has its entry, its approval, and the text that was approved."""

from __future__ import annotations

import pytest
from django.utils import timezone

from review import replay
from review.models import PolicyVersion, Proposal
from tests.db.audit.acts import guards_down
from tests.support import factories
from tests.support.policy_acts import changed

pytestmark = pytest.mark.django_db


def faults() -> list[str]:
    return [sentence for sentence in replay.policies() if sentence]


def test_a_policy_that_nobody_touched_agrees_with_the_log(cast: factories.Team) -> None:
    changed(cast, "crm.*", risk="high", approvals=2)
    assert faults() == []
    assert len(list(replay.policies())) == 3


def test_a_document_that_was_rewritten_is_told(cast: factories.Team) -> None:
    changed(cast, "crm.*", risk="high", approvals=2)
    with guards_down():
        PolicyVersion.objects.filter(version=2).update(document='{"rules":[]}')
    assert faults() == ["Version 2 of a policy is not the one that the log tells of."]


def test_a_version_that_was_slipped_in_is_told(cast: factories.Team) -> None:
    PolicyVersion.objects.create(
        workspace=cast.acme, version=2, document='{"rules":[]}', created_at=timezone.now()
    )
    assert faults() == ["Version 2 of a policy has no entry."]


def test_a_version_that_is_gone_is_told(cast: factories.Team) -> None:
    changed(cast, "crm.*", risk="high", approvals=2)
    with guards_down():
        PolicyVersion.objects.filter(version=2).delete()
    assert faults() == ["Version 2 of a policy is gone; the log knows it."]


def test_a_version_whose_change_was_not_approved_is_told(cast: factories.Team) -> None:
    change = changed(cast, "crm.*", risk="high", approvals=2)
    Proposal.objects.filter(pk=change.pk).update(status="rejected")
    assert faults() == ["Version 2 of a policy was not approved."]


def test_a_version_that_is_said_to_come_from_elsewhere_is_told(cast: factories.Team) -> None:
    changed(cast, "crm.*", risk="high", approvals=2)
    with guards_down():
        PolicyVersion.objects.filter(version=2).update(proposal=None)
    assert faults() == ["Version 2 of a policy came by another proposal than the log tells."]


def test_no_version_is_rewritten_or_removed(cast: factories.Team) -> None:
    from django.db import DatabaseError, transaction

    rows = PolicyVersion.objects.filter(workspace=cast.acme)
    for change in (lambda: rows.update(document="{}"), lambda: rows.delete()):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    assert rows.get().version == 1
