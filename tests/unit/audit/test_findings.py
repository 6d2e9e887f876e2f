"""A report says ok of a whole log without fault or doubt, and of nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from review.audit.findings import KEPT, Fault, Findings, Kind, Outcome, Report

WHOLE: dict[str, Any] = {
    "first": 0,
    "stop": 10,
    "size": 10,
    "faults": (),
    "fault_count": 0,
    "doubts": (),
    "states": 0,
    "states_agreeing": 0,
    "checkpoint": 10,
    "finished": datetime(2026, 11, 30, tzinfo=UTC),
}
GONE = Fault(Kind.MISSING, 7, "Entry 7 is missing.")


def test_a_whole_log_without_fault_or_doubt_is_ok() -> None:
    assert Report(**WHOLE).ok


@pytest.mark.parametrize(
    "part", [{"first": 1}, {"stop": 9}, {"stop": 0}, {"stop": 0, "size": 0}, {"doubts": ("No key.",)}]
)
def test_a_part_or_a_doubt_cannot_be_judged(part: dict[str, Any]) -> None:
    assert Report(**{**WHOLE, **part}).outcome is Outcome.CANNOT_JUDGE


def test_a_fault_is_a_fault_also_in_a_part_and_in_doubt() -> None:
    found = {"faults": (GONE,), "fault_count": 1, "stop": 9, "doubts": ("No key.",)}
    assert Report(**{**WHOLE, **found}).outcome is Outcome.FAULT


def test_the_first_bad_entry_is_the_lowest_that_is_edited_or_missing() -> None:
    faults = (
        Fault(Kind.CHECKPOINT, None, ""),
        GONE,
        Fault(Kind.EDITED, 4, ""),
        Fault(Kind.STATE, 1, ""),
    )
    assert Report(**{**WHOLE, "faults": faults, "fault_count": 4}).first_bad == 4


def test_faults_are_all_counted_and_some_are_kept() -> None:
    findings = Findings()
    for seq in range(KEPT + 50):
        findings.fault(Kind.EDITED, seq, "")
    assert (findings.count, len(findings.faults)) == (KEPT + 50, KEPT)


def test_two_faults_of_one_entry_are_one() -> None:
    findings = Findings()
    for kind in (Kind.EDITED, Kind.EDITED, Kind.MISSING):
        findings.fault(kind, 3, "")
    assert findings.count == 2
