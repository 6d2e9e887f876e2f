"""Print the table: `python -m tests.bench [NAME...]`, which is what `./run bench` calls."""

from __future__ import annotations

import sys

from tests.bench import bodies, differences, faults, server  # noqa: F401  importing a module registers its rows
from tests.bench.rounds import ROUNDS, rows


def main(names: list[str]) -> int:
    """Measure the named rows, all without names; return 1 where one falls short of what it must be."""
    if unknown := [name for name in names if name not in rows()]:
        sys.exit(f"There is no benchmark {', '.join(unknown)}. There are: {', '.join(rows())}.")
    print(f"Ratios, median of {ROUNDS} rounds, variants taking turns.\n")
    fell_short = False
    for name in names or rows():
        row = rows()[name]
        measured = row.measure()
        fell_short |= row.must is not None and measured > row.must
        bound = "" if row.must is None else f"at most {row.must:g}"
        print(f"{measured:10.4f}  {bound:<14}{row.verdict(measured):<12}{row.what} ({name})", flush=True)
    return int(fell_short)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
