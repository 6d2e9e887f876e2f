"""What an agent is told about each hit, and what it is never given."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.recall import Standing, Verdict, judge

NOW = datetime(2026, 12, 1, tzinfo=UTC)
DAY, TICK = timedelta(days=1), timedelta(microseconds=1)
GOOD = Standing(
    content="The staging port is 7443.",
    trust="trusted",
    lifecycle="active",
    has_provenance=True,
    confidence=0.9,
    valid_from=NOW - DAY,
    valid_to=NOW + DAY,
    expires_at=NOW + DAY,
    rule="sha256:1",
    rule_now="sha256:1",
)

DEGRADED = {
    "expired": {"expires_at": NOW},
    "no_provenance": {"has_provenance": False},
    "stale_policy": {"rule_now": "sha256:2"},
    "low_confidence": {"confidence": 0.49},
    "disputed": {"disputed": True},
    "not_valid_at": {"valid_to": NOW},
}
WITHHELD = {
    "quarantined": {"trust": "quarantined"},
    "inactive": {"lifecycle": "retracted"},
    "malformed": {"content": " \n"},
    "source_withdrawn": {"source_withdrawn": True},
}


def verdict(**changes):
    return judge(replace(GOOD, **changes), now=NOW)


def test_a_record_in_good_standing_is_admitted_as_current():
    assert verdict() == Verdict("admit", ("current",))


@pytest.mark.parametrize("reason", DEGRADED)
def test_a_doubtful_record_is_degraded_with_its_reason(reason):
    assert verdict(**DEGRADED[reason]) == Verdict("degrade", (reason,))


@pytest.mark.parametrize("reason", WITHHELD)
def test_a_record_that_has_gone_is_withheld_with_its_reason(reason):
    assert verdict(**WITHHELD[reason]) == Verdict("withhold", (reason,))


def test_all_reasons_are_given_in_a_fixed_order():
    doubts = {name: value for changes in reversed(DEGRADED.values()) for name, value in changes.items()}
    losses = {name: value for changes in reversed(WITHHELD.values()) for name, value in changes.items()}
    assert verdict(**doubts).reasons == tuple(DEGRADED)
    assert verdict(**losses).reasons == tuple(WITHHELD)


def test_a_withheld_record_says_nothing_else_about_itself():
    assert verdict(lifecycle="erased", disputed=True, confidence=0.1) == Verdict("withhold", ("inactive",))


def test_a_record_expires_at_its_moment_and_not_before():
    assert verdict(expires_at=NOW).reasons == ("expired",)
    assert verdict(expires_at=NOW + TICK).reasons == ("current",)


def test_confidence_of_one_half_is_enough_and_none_is_no_doubt():
    assert verdict(confidence=0.5).decision == "admit"
    assert verdict(confidence=None).decision == "admit"
    assert verdict(confidence=0.0).reasons == ("low_confidence",)


def test_validity_is_judged_as_of_the_moment_asked_about():
    past = replace(GOOD, valid_from=NOW - 3 * DAY, valid_to=NOW - DAY)
    assert judge(past, now=NOW).reasons == ("not_valid_at",)
    assert judge(past, now=NOW, as_of=NOW - 2 * DAY).reasons == ("current",)
    assert judge(past, now=NOW, as_of=NOW - DAY).reasons == ("not_valid_at",)
    assert judge(past, now=NOW, as_of=NOW - 3 * DAY).reasons == ("current",)


def test_expiry_is_judged_at_the_moment_of_the_read_whatever_world_is_asked_about():
    assert judge(replace(GOOD, expires_at=NOW), now=NOW, as_of=NOW - TICK).reasons == ("expired",)


def test_an_unknown_rule_is_not_a_stale_one():
    assert verdict(rule=None).decision == "admit"
    assert verdict(rule_now=None).decision == "admit"


@pytest.mark.parametrize("confidence", [float("nan"), -0.1, 1.1, float("inf")])
def test_a_confidence_that_is_no_probability_is_malformed(confidence):
    assert verdict(confidence=confidence) == Verdict("withhold", ("malformed",))


def test_a_validity_without_a_moment_is_malformed():
    assert verdict(valid_from=NOW, valid_to=NOW) == Verdict("withhold", ("malformed",))


@pytest.mark.parametrize("word", ["", "Trusted", "unknown"])
def test_a_tier_or_lifecycle_that_nobody_knows_is_never_given(word):
    assert verdict(trust=word).reasons == ("quarantined",)
    assert verdict(lifecycle=word).reasons == ("inactive",)
