"""Where the shapes of a chart stand: figures in, whole numbers of SVG units out. At most 320 by 150.

Each part has a `style` that CSS and the hatchings draw; what it means is said in words beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any, NamedTuple

WIDTH, HEIGHT = 320, 150
TOP, BOTTOM = 12, 128  # of what is drawn over a time axis
LEFT, RIGHT = 40, 252
LABEL = 112  # where bars begin
ROW = 30
NUMBER = 36  # room for the number at the end of a bar
LEAST = 3  # what is there is seen
DROP = 4  # from the middle of a text to its foot
APART = 14  # a line of text

Part = tuple[str, int]  # style and size


class Box(NamedTuple):
    """Where a bar is drawn: from `left` on, in a row that is `height` high."""

    left: int
    top: int
    height: int


def bars(rows: Sequence[tuple[str, Sequence[Part]]], label: int = LABEL) -> dict[str, Any]:
    """Return a bar for each (label, parts), its parts side by side and its total at the end.

    `label` is how much room the labels have.
    """
    longest = max((sum(size for _, size in parts) for _, parts in rows), default=0) or 1
    height = min(ROW, HEIGHT // max(len(rows), 1))
    return {
        "kind": "bars",
        "width": WIDTH,
        "height": height * len(rows),
        "rows": [
            {"label": name, **_bar(parts, Box(label, place * height, height), longest)}
            for place, (name, parts) in enumerate(rows)
        ],
    }


def columns(labels: Sequence[str], stacks: Sequence[Sequence[Part]]) -> dict[str, Any]:
    """Return a column for each stretch of time, its parts from the bottom up and its total on top."""
    highest = max((sum(size for _, size in parts) for parts in stacks), default=0) or 1
    pitch = (WIDTH - LEFT) / max(len(stacks), 1)
    return {
        "kind": "columns",
        "width": WIDTH,
        "height": HEIGHT,
        "labels": _labels(labels, [round(LEFT + pitch * (place + 0.5)) for place in range(len(labels))]),
        "base": BOTTOM,
        "left": LEFT,
        "columns": [
            _column(parts, round(LEFT + pitch * place + pitch / 6), round(pitch * 2 / 3), highest)
            for place, parts in enumerate(stacks)
        ],
    }


def lines(
    labels: Sequence[str],
    series: Sequence[tuple[str, str, Sequence[timedelta | None]]],
    write: Callable[[timedelta], str],
) -> dict[str, Any]:
    """Return a line for each (style, name, values); where a stretch has no value the line is broken.

    `write` says a length in words.
    """
    longest = max((value for _, _, values in series for value in values if value), default=timedelta(0))
    tick = _tick(longest)
    pitch = (RIGHT - LEFT) / max(len(labels) - 1, 1)
    places = [round(LEFT + pitch * place) for place in range(len(labels))]
    return {
        "kind": "lines",
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": RIGHT,
        "grid": [_grid(tick * number, tick * 2, write) for number in range(3)],
        "labels": _labels(labels, places),
        "lines": _named([_line(style, name, places, values, tick * 2) for style, name, values in series]),
    }


def _bar(parts: Sequence[Part], box: Box, longest: int) -> dict[str, Any]:
    scale = (WIDTH - box.left - NUMBER) / longest
    drawn, x = [], box.left
    for style, size in parts:
        if size:
            width = max(round(size * scale), LEAST)
            drawn.append({"x": x, "width": width - 1, "style": style})
            x += width
    return {
        "y": box.top + 4,
        "height": box.height - 8,
        "middle": box.top + box.height // 2 + DROP,
        "parts": drawn,
        "total": sum(size for _, size in parts),
        "end": x + 6,
    }


def _column(parts: Sequence[Part], x: int, width: int, highest: int) -> dict[str, Any]:
    scale, drawn, y = (BOTTOM - TOP - 14) / highest, [], BOTTOM
    for style, size in parts:
        if size:
            height = max(round(size * scale), LEAST)
            y -= height
            drawn.append({"y": y, "height": height - 1, "style": style})
    total = sum(size for _, size in parts)
    return {"x": x, "width": width, "middle": x + width // 2, "parts": drawn, "total": total, "top": y - 4}


def _line(
    style: str, name: str, places: Sequence[int], values: Sequence[timedelta | None], top: timedelta
) -> dict[str, Any]:
    points = [
        (x, None if value is None else _height(value, top)) for x, value in zip(places, values, strict=True)
    ]
    known = [{"x": x, "y": y} for x, y in points if y is not None]
    return {"style": style, "name": name, "paths": list(_paths(points)), "marks": known}


def _named(drawn: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put each line's name at its end, below the name above it where they would meet."""
    floor = 0
    for line in sorted(drawn, key=lambda line: line["marks"][-1]["y"] if line["marks"] else 0):
        if line["marks"]:
            last = line["marks"][-1]
            floor = max(last["y"] + DROP, floor)
            line["end"] = {"x": last["x"] + 8, "y": floor}
            floor += APART
    return drawn


def _grid(at: timedelta, top: timedelta, write: Callable[[timedelta], str]) -> dict[str, Any]:
    y = _height(at, top)
    return {"y": y, "label_y": y + DROP, "label": write(at) if at else "0"}


def _paths(points: Iterable[tuple[int, int | None]]) -> Iterable[str]:
    """The stretches of a line that have a value, as the `points` of a polyline."""
    for is_known, run in groupby(points, key=lambda point: point[1] is not None):
        if is_known:
            yield " ".join(f"{x},{y}" for x, y in run)


def _labels(labels: Sequence[str], places: Sequence[int]) -> list[dict[str, Any]]:
    """Every label there is room for, the first among them."""
    step = -(-len(labels) // 7)
    return [{"x": x, "text": text} for x, text in zip(places, labels, strict=True)][::step]


def _height(value: timedelta, top: timedelta) -> int:
    return BOTTOM - round((BOTTOM - TOP) * (value / top))


def _tick(longest: timedelta) -> timedelta:
    """The smallest round length of which two reach `longest`."""
    return next((tick for tick in _TICKS if tick * 2 >= longest), _TICKS[-1] * (longest // _TICKS[-1] + 1))


_MINUTES = (1, 2, 5, 10, 20, 30)
_HOURS = (1, 2, 3, 6, 12)
_DAYS = (1, 2, 5, 10, 20, 50, 100)
_TICKS = [
    *(timedelta(minutes=number) for number in _MINUTES),
    *(timedelta(hours=number) for number in _HOURS),
    *(timedelta(days=number) for number in _DAYS),
]
