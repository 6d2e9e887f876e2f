"""The colours can be read by everybody, and no page needs more than our own files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CSS = (ROOT / "huqan_site/static/huqan.css").read_text()
SCRIPT = (ROOT / "huqan_site/static/huqan.js").read_text()
PAGES = sorted((ROOT / "templates").rglob("*.html"))

COLOURS = {
    name: values for name, *values in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", CSS)
}
GROUNDS = ("page", "surface", "sunken", "band")
TINTS = ("accent-tint", "high-tint", "medium-tint")
DIFF = ("added-row", "removed-row")
WORDS = ("added-word", "removed-word")

TEXT = [
    *(("ink", ground) for ground in (*GROUNDS, *TINTS, *DIFF, *WORDS)),
    *(("ink-2", ground) for ground in (*GROUNDS, *TINTS)),
    *(("ink-3", ground) for ground in ("page", "surface", *DIFF)),
    *(("accent", ground) for ground in (*GROUNDS, *TINTS)),
    *(("high", ground) for ground in ("page", "surface", "accent-tint", "high-tint", "medium-tint")),
    *(("medium", ground) for ground in ("page", "surface", "accent-tint", "medium-tint")),
    *(("low", ground) for ground in ("page", "surface", "accent-tint")),
    *((change, ground) for change in ("added", "removed") for ground in ("surface", f"{change}-row")),
    ("typed", "surface"),
    ("typed", "typed-tint"),
    ("on-accent", "accent"),
]
EDGES = [("control", ground) for ground in ("page", "surface")]


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT)
def test_every_text_colour_can_be_read_on_every_ground_it_stands_on(text, ground, scheme):
    assert contrast(COLOURS[text][scheme], COLOURS[ground][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("edge", "ground"), EDGES)
def test_the_edge_of_what_can_be_used_is_seen(edge, ground, scheme):
    assert contrast(COLOURS[edge][scheme], COLOURS[ground][scheme]) >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "templates")))
def test_no_page_carries_a_style_or_a_script_of_its_own_or_switches_escaping_off(page):
    source = re.sub(r"{% comment %}.*?{% endcomment %}|{#.*?#}", "", page.read_text(), flags=re.DOTALL)
    written = re.sub(r"{%.*?%}", "", source)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|data:|<script(?![^>]*\bsrc=)", written)
    assert not re.search(r"\|\s*safe\b|autoescape", source)


def test_our_script_is_short_and_evaluates_nothing():
    assert len(SCRIPT.splitlines()) < 200
    assert not re.search(r"\beval\b|new Function|innerHTML|insertAdjacentHTML|document\.write", SCRIPT)


def test_the_style_is_one_file_that_fetches_nothing():
    assert len(CSS.splitlines()) < 900
    assert "url(" not in CSS
    assert "@import" not in CSS
