"""What comparing costs, for the worst that an agent can send."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from huqan_site.lib.canonical_json import JSON, canonical
from review.domain.diff import compare
from tests.bench.rounds import ratio, row

SIZE = 120_000  # characters a side; with its frame under the reader's limits


def shapes() -> dict[str, tuple[str, str]]:
    """Return pairs of canonical texts that are dear to compare: long words, many rows, shifted lists, deep nests."""
    words = [f"w{number % 977}" for number in range(SIZE // 6)]
    items = [f"item {number}" for number in range(9_000)]
    return {
        "two long texts with a word in three changed": (
            canonical({"t": " ".join(words)}),
            canonical({"t": " ".join(word + "x" * (place % 3 == 0) for place, word in enumerate(words))}),
        ),
        "a long list, shifted by one": (canonical({"l": items}), canonical({"l": ["new", *items]})),
        "words of one letter, every other one changed": (
            canonical({"t": "a b " * (SIZE // 4)}),
            canonical({"t": "a c " * (SIZE // 4)}),
        ),
        "as many members as are read, all changed": (
            canonical({f"key{number}": number for number in range(9_000)}),
            canonical({f"key{number}": str(number) for number in range(9_000)}),
        ),
        "a nest as deep as is read, with long lists at its end": (_nest(items), _nest(items[1:])),
        "a long list, turned round": (canonical({"l": items}), canonical({"l": items[::-1]})),
        "as many objects as moves are looked for, turned round": _turned_round(
            [{"name": f"file {number} {'x' * 550}", "size": number} for number in range(200)]
        ),
        "as long texts as moves are looked for, turned round": _turned_round(
            [f"{number} {'x' * 580}" for number in range(200)]
        ),
    }


def _turned_round(items: list[JSON]) -> tuple[str, str]:
    return canonical({"l": items}), canonical({"l": items[::-1]})


def _nest(items: list[str]) -> str:
    value: JSON = items
    for _ in range(30):
        value = {"n": value}
    return canonical(value)


@row("diff of the worst 256 KiB shape against json.loads of both", must=10)
def diff_worst() -> float:
    return max(_share(old, new) for old, new in shapes().values())


def _share(old: str, new: str) -> float:
    both: Callable[[], object] = partial(_read_both, old, new)
    return ratio(partial(compare, old, new), both, times=3)


def _read_both(old: str, new: str) -> None:
    json.loads(old), json.loads(new)
