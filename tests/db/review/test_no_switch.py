"""No setting and no environment variable turns review off: what the policy has people decide waits for people."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings

from huqan_site.lib.problems import Refusal
from review.domain.status import Status
from review.models import Proposal
from tests.support import factories
from tests.support.policy_acts import proposed, with_rule
from tests.support.review_acts import call

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]
OURS = sorted(name for name in dir(settings) if name.startswith("HUQAN_"))
SWITCHES = ("DEBUG", "PRODUCTION", "TESTING", "USE_TZ", "AUTHENTICATION_BACKENDS", "INTERNAL_IPS")
OFF: tuple[Any, ...] = (False, None, 0, "off", {})
WAITS = {Status.PENDING, Status.QUARANTINED}


def attempts(cast: factories.Team) -> list[Any]:
    return [
        lambda: call(cast.scout),
        lambda: call(cast.scout, "crm.update", {"id": 1}),
        lambda: call(cast.scout, "memory.write", {"content": "The port is 7443.", "untrusted": True}),
        lambda: proposed(cast.dana, cast.acme, with_rule(cast.acme, "crm.*", risk="low")),
    ]


@pytest.mark.parametrize("name", [*OURS, *SWITCHES])
def test_no_value_of_a_setting_lets_anything_through_unreviewed(name: str) -> None:
    cast = factories.team()
    for value in OFF:
        with override_settings(**{name: value}):
            for attempt in attempts(cast):
                try:
                    attempt()
                except (Refusal, TypeError, ValueError, AttributeError, ImportError, LookupError):
                    continue  # a broken setting may break the console; it must not open it
    assert set(Proposal.objects.values_list("status", flat=True)) <= WAITS


def test_with_the_settings_as_they_are_all_of_it_waits() -> None:
    cast = factories.team()
    for attempt in attempts(cast):
        attempt()
    assert Proposal.objects.count() == 4
    assert set(Proposal.objects.values_list("status", flat=True)) == WAITS


def test_the_environment_is_read_for_settings_only() -> None:
    """So that trying every setting tries every variable: review and memory read none themselves."""
    reads = re.compile(r"os\.environ|os\.getenv|environ\[|\benv\(")
    found = [
        str(path.relative_to(ROOT))
        for app in ("review", "memory")
        for path in (ROOT / app).rglob("*.py")
        if reads.search(path.read_text())
    ]
    assert not found
