"""Tables that people take with them: CSV that a spreadsheet opens without running anything."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_line(cells: Sequence[object]) -> str:
    """Return a line of CSV; a cell that a spreadsheet would take for a formula gets an apostrophe in front.

    None is an empty cell; numbers stand as they are.
    """
    line = io.StringIO()
    csv.writer(line).writerow([_cell(cell) for cell in cells])
    return line.getvalue()


def _cell(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return f"'{text}" if text.startswith(FORMULA) and not isinstance(cell, int | float) else text
