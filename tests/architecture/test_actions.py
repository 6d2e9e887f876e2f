"""The list of audit actions is closed: each has a producer in the product, and a test that speaks of it."""

from __future__ import annotations

import re
from functools import cache

import pytest

from review.audit.actions import Action
from tests.support import tracked

#: What a later release will produce; a line goes when its producer comes.
AWAITED = {
    Action.FACT_LEARNED,
    Action.FACT_REMOVED,
}


@cache
def code(*folders: str) -> str:
    return "".join(
        text
        for name, text in tracked.texts()
        if name.endswith(".py") and name.startswith(folders) and name != "review/audit/actions.py"
    )


@pytest.mark.parametrize("action", [action for action in Action if action not in AWAITED], ids=str)
def test_an_action_has_a_producer_and_a_test(action: Action) -> None:
    assert re.search(rf"\bAction\.{action.name}\b", code("review/", "memory/", "huqan_site/"))
    assert re.search(rf"\bAction\.{action.name}\b|\b{re.escape(action)}\b", code("tests/"))


def test_nothing_else_is_ever_recorded() -> None:
    named = set(re.findall(r"\bAction\.([A-Z_]{3,})\b", code("review/", "memory/", "huqan_site/")))
    assert named <= {action.name for action in Action}
