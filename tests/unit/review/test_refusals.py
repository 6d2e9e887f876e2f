"""Every refusal of the contract exists, says why in whole sentences, and says what to do next."""

import inspect
import re

import pytest

from huqan_site.lib.problems import Refusal
from review.domain import refusals

KINDS = [
    kind
    for _, kind in inspect.getmembers(refusals, inspect.isclass)
    if issubclass(kind, Refusal) and hasattr(kind, "code")
]
CONTRACT = {
    400: {"bad_cursor"},
    403: {"blocked", "self_approval", "not_eligible", "role_too_new", "step_up_required"},
    404: {"not_found"},
    409: {
        *("tombstoned", "inactive", "recently_rejected", "expired_content", "stale_revision"),
        *("already_decided", "not_approved", "expired", "permit_spent", "arguments_drifted"),
        *("not_running", "already_reported", "stale_binding", "policy_changed", "same_person"),
    },
    422: {
        *("invalid", "key_reused", "unsatisfiable", "not_delegated", "no_provenance", "bad_permit"),
        *("bad_verdict", "reason_required", "confirm_mismatch"),
        "not_together",  # ours: what a page of several answers
    },
    429: {"too_many_pending"},
}


def test_every_code_of_the_contract_has_one_refusal_with_its_status():
    codes = [(kind.status, kind.code) for kind in KINDS]
    assert len(codes) == len(set(codes))
    assert set(codes) == {(status, code) for status, listed in CONTRACT.items() for code in listed}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_a_refusal_is_said_in_whole_sentences(kind):
    for text in filter(None, (kind.detail, kind.advice)):
        assert re.fullmatch(r"[A-Z`“].*[.]", text), text
        assert not re.search(r"\b(please|oops|sorry|successfully|are you sure)\b", text, re.IGNORECASE)
    assert not kind.title.endswith(".")


@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS if issubclass(kind, refusals.DecisionDeclined)],
    ids=lambda kind: kind.code,
)
def test_a_person_whose_decision_is_refused_is_told_what_to_do(kind):
    assert kind.advice
    assert "not recorded" not in kind.detail.casefold(), "the page says that itself"


def test_what_may_pass_later_says_when():
    assert refusals.TooManyPending().retry_after > 0
    assert refusals.TooManyPending(retry_after=7).retry_after == 7
