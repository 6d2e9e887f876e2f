"""Print the table: `python -m tests.bench [NAME...]`, which is what `./run bench` calls."""

from __future__ import annotations

import sys
import traceback

# Importing a module registers its rows.
from tests.bench import (  # noqa: F401
    bodies,
    differences,
    faults,
    growth,
    hostile,
    keyboard,
    log,
    memory,
    quality,
    queue,
    server,
    starts,
)
from tests.bench.rounds import ROUNDS, Row, rows


def main(names: list[str]) -> int:
    """Measure the named rows, all without names; return 1 where one falls short of what it must be."""
    if unknown := [name for name in names if name not in rows()]:
        sys.exit(f"There is no benchmark {', '.join(unknown)}. There are: {', '.join(rows())}.")
    print(f"Ratios from one run, the median of {ROUNDS} rounds where a row does not say otherwise.\n")
    print("| measured | must | aim | what | name | in words |")
    print("|---:|---:|---:|---|---|---|", flush=True)
    measured = {row: _measured(row) for row in (rows()[name] for name in names or rows())}
    print("\n" + "\n".join(_out_of_bounds(measured)))
    return int(any(value is None or row.breaks(value) for row, value in measured.items()))


def _measured(row: Row) -> float | None:
    """Measure `row` and print its line; a failure is a line too, and the rows after it still run."""
    try:
        value = row.measure()
    except Exception:
        traceback.print_exc()
        value = None
    figures = " | ".join(_figure(number) for number in (value, row.must, row.aim))
    print(f"| {figures} | {row.what} | {row.name} | {_verdict(row, value)} |", flush=True)
    return value


def _figure(number: float | None) -> str:
    return "" if number is None else f"{number:.4g}"


def _verdict(row: Row, value: float | None) -> str:
    return "could not be measured" if value is None else row.verdict(value)


def _out_of_bounds(measured: dict[Row, float | None]) -> list[str]:
    """Return a sentence for every row that is not where it must or should be, the worse first."""
    verdicts = {row: _verdict(row, value) for row, value in measured.items()}
    outside = [row for row in measured if verdicts[row].partition(";")[0] not in ("holds", "no bound")]
    if not outside:
        return ["Every row measured is within its bounds."]
    worst_first = sorted(outside, key=lambda row: verdicts[row].startswith("holds"))
    return [f"{row.what} ({row.name}): {verdicts[row]}." for row in worst_first]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
